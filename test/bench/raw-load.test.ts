/** The bench's own load generator, where figures depend on how much it sends. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import t, { type Test } from "tap";
import type { LoadJob } from "../../bench/load/job.js";
import { runRawLoad } from "../../bench/load/raw-load.js";
import { listening } from "../support/listening.js";

/** A server that answers each request by its number; the job that asks it, and how many it has seen. */
async function serverOf(t: Test, statusOf: (request: number) => number | null) {
  let seen = 0;
  const server = createServer((request, response) => {
    const status = statusOf(++seen);
    request.resume();
    if (status === null) request.socket.destroy();
    else response.writeHead(status, { "content-length": 0 }).end();
  });
  const job: LoadJob = {
    url: `http://${await listening(t, server)}`,
    traffic: { kind: "ingest", siteKey: "pk_bench", tokens: null, sizes: [1] },
    tool: "raw",
    connections: 16,
    pipelining: 1,
    warmUpMs: 0,
    durationMs: 0,
    rate: 0,
    statuses: [202],
    contains: "",
    requestsMax: 100,
  };
  return { job, seen: () => seen };
}

t.test("a load of so many requests sends as many and waits for all of them", async (t) => {
  const { job, seen } = await serverOf(t, () => 202);
  for (const [requestsMax, connections] of [
    [100, 16],
    [5, 16],
    [32, 1],
  ] as const) {
    const before = seen();
    const { requests, errors } = await runRawLoad({ ...job, requestsMax, connections });
    t.same([requests, seen() - before, errors], [requestsMax, requestsMax, 0], `${requestsMax} on ${connections}`);
  }
});

t.test("challenges are asked for by session, and refused ones are counted apart", async (t) => {
  const file = `${t.testdir()}/tokens`;
  const tokens = ["a", "b", "c"].map((letter) => `sess_${letter.repeat(28)}`);
  writeFileSync(file, `${tokens.join("\n")}\n`);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      const { session_token } = JSON.parse(body);
      if (request.method === "POST" && request.headers["x-service-site-key"] === "pk_bench") asked.push(session_token);
      response.writeHead(session_token === tokens[1] ? 503 : 200, { "content-length": 0 }).end();
    });
  });
  const { requests, shed, errors } = await runRawLoad({
    url: `http://${await listening(t, server)}`,
    traffic: { kind: "challenge", siteKey: "pk_bench", tokens: { file, from: 0, count: 3 } },
    tool: "raw",
    connections: 1,
    pipelining: 1,
    warmUpMs: 0,
    durationMs: 0,
    rate: 0,
    statuses: [200, 503],
    contains: "",
    requestsMax: 6,
  });
  t.same([requests, shed, errors], [6, 2, 0]);
  t.same(asked, [...tokens, ...tokens]);
});

t.test("a connection that the server closes ends the load with an error", async (t) => {
  const { job } = await serverOf(t, (request) => (request === 50 ? null : 202));
  const { requests, errors, firstError } = await runRawLoad(job);
  t.ok(requests < 100);
  t.ok(errors > 0, firstError);
});

t.test("an answer of another status is counted, and is an error", async (t) => {
  const { job } = await serverOf(t, (request) => (request === 7 ? 500 : 202));
  const { requests, errors, firstError } = await runRawLoad(job);
  t.same([requests, errors], [100, 1]);
  t.match(firstError, /^status 500/);
});
