/** Traffic from life: visits as browsers made them and reads as the client makes them, as a server gets them. */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import t, { type Test } from "tap";
import { tokenPlaceholder } from "../../bench/load/batches.js";
import { arrivalJob, type LoadJob } from "../../bench/load/job.js";
import { runRawLoad } from "../../bench/load/raw-load.js";
import type { TrafficSpec } from "../../bench/load/traffic-spec.js";
import { judgedRequest, verdictRead } from "../../bench/traffic/client-request.js";
import { batchesPerSecond, readVisits } from "../../bench/traffic/visits.js";
import { contextHeaders } from "../../src/client/context-headers.js";
import type { IngestBatch } from "../../src/contract/events/events.js";
import { Refusal } from "../../src/errors.js";
import { batchOf, readBody } from "../../src/ingest/decode-batch.js";
import { UsualBatch } from "../../src/ingest/usual-batch.js";
import { listening } from "../support/listening.js";

interface Seen {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A server that keeps what it is asked; answers batches with a new token for each first contact. */
async function openServer(t: Test) {
  const seen: Seen[] = [];
  let sessions = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      seen.push({ request, body });
      const given = /"session_token":"(sess_[\w-]+)"/.exec(body)?.[1];
      const session_token = given ?? `sess_${String(sessions++).padStart(28, "0")}`;
      const answer = JSON.stringify({ session_token });
      response.writeHead(request.method === "POST" ? 202 : 200, { "Content-Length": answer.length }).end(answer);
    });
  });
  return { url: `http://${await listening(t, server)}`, seen };
}

const siteKey = `pk_${"s".repeat(43)}`;
const privateKey = `sk_${"p".repeat(43)}`;

function jobOf(url: string, traffic: TrafficSpec, requestsMax: number): LoadJob {
  const crowd: Extract<TrafficSpec, { kind: "visits" }> = { kind: "visits", crowd: "", visitors: requestsMax, siteKey };
  return { ...arrivalJob(url, crowd, 4), traffic, statuses: [200, 202] };
}

t.test("recorded visits are whole, of two browsers, and hold no key and no session", async (t) => {
  const visits = readVisits();
  t.same([...new Set(visits.map(({ browser }) => browser))].sort(), ["chromium", "firefox"]);
  for (const { pastime, browser, seconds, batches } of visits) {
    const name = `${browser} ${pastime}`;
    t.ok(seconds >= 30 && batches.length >= 5, name);
    t.match(batches[0]?.body, /"session_token":null/, `${name} begins with a first contact`);
    for (const { body } of batches) {
      const read = readBody(Buffer.from(body));
      t.ok(read instanceof UsualBatch, `${name}: a batch that is read in one pass`);
      t.notOk(batchOf(read) instanceof Refusal, `${name}: a batch that verdictd takes`);
      const tokens = body.match(/sess_[\w-]+/g) ?? [];
      t.ok(tokens.every((token) => token === tokenPlaceholder));
      t.notMatch(body, /site_key|pk_/, `${name}: the site key is in a header`);
    }
  }
  const rate = batchesPerSecond(visits);
  t.ok(rate > 0.1 && rate < 1, `${rate} batches a second`);
});

t.test("visitors come, then send the batches of their visits in order, each batch with ids of its own", async (t) => {
  const { url, seen } = await openServer(t);
  const crowd: Extract<TrafficSpec, { kind: "visits" }> = { kind: "visits", crowd: url, visitors: 12, siteKey };
  await runRawLoad(arrivalJob(url, crowd, 4));
  t.equal(seen.length, 12);
  t.ok(
    seen.every(({ body }) => body.includes('"session_token":null')),
    "first contacts",
  );
  await runRawLoad(jobOf(url, crowd, 480));
  t.equal(seen.length, 492);
  const batches = seen.map(({ body }) => JSON.parse(body) as IngestBatch);
  const ids = batches.flatMap(({ events }) => events.map(({ request_id }) => request_id));
  t.equal(new Set(ids).size, ids.length);
  t.equal(new Set(seen.map(({ request }) => request.headers["idempotency-key"])).size, seen.length);
  t.ok(batches.every(({ site_key }) => site_key === undefined));
  t.ok(seen.every(({ request }) => request.headers["x-service-site-key"] === siteKey));
  const visits = readVisits().map(({ batches }) => batches.map(({ body }) => (JSON.parse(body) as IngestBatch).events));
  const shape = (events: IngestBatch["events"]) => events.map(({ type }) => type).join();
  const later = batches.slice(12);
  for (const token of new Set(later.map(({ session_token }) => session_token))) {
    if (token === null) continue;
    const shapes = later.filter(({ session_token }) => session_token === token).map(({ events }) => shape(events));
    const isOneVisit = visits.some((visit) => {
      const all = visit.map(shape);
      return all.some((_, from) => shapes.every((each, index) => each === all[from + index]));
    });
    t.ok(isOneVisit, `${token}: batches of one visit, one after another`);
  }
  t.ok(
    later.some(({ session_token }) => session_token === null),
    "others come in the place of those who went",
  );
});

t.test("a read is the client's own, with a context for each session", async (t) => {
  const { url, seen } = await openServer(t);
  const file = `${t.testdir()}/tokens`;
  const tokens = ["a", "b", "c"].map((letter) => `sess_${letter.repeat(28)}`);
  writeFileSync(file, `${tokens.join("\n")}\n`);
  const request = await verdictRead(privateKey);
  const reads: TrafficSpec = { kind: "verdict", request, tokens: { file, from: 0, count: 3 }, pages: 2 };
  await runRawLoad({ ...jobOf(url, reads, 12), connections: 1 });
  t.same(
    seen.map(({ request }) => request.url),
    Array.from({ length: 12 }, (_, index) => `/v1/sessions/${tokens[index % 3]}/verdict`),
  );
  const contexts = seen.map(({ request: { headers } }) => ({
    path: String(headers["x-service-request-path"]),
    ip: String(headers["x-service-client-ip"]),
    userAgent: String(headers["x-service-client-ua"]),
  }));
  t.same(contexts.slice(0, 3), contexts.slice(6, 9), "the same pages again after two rounds");
  t.not(contexts[0]?.path, contexts[3]?.path, "another page in the second round");
  t.equal(new Set(contexts.map(({ ip }) => ip)).size, 3);
  for (const [index, { request }] of seen.entries()) {
    const { path, ip, userAgent } = contexts[index]!;
    const own = contextHeaders({ path, method: "GET", host: "shop.example", ip, userAgent });
    for (const [name, value] of Object.entries(own)) t.equal(request.headers[name.toLowerCase()], value, name);
    t.equal(request.headers.authorization, `Bearer ${privateKey}`);
    t.equal(Object.keys(request.headers).length, 8, "and Host and Connection, as `node:http` adds them");
  }
});

t.test("a question about a request holds the visitor's headers, and the session where there is one", async (t) => {
  const { url, seen } = await openServer(t);
  const questions: TrafficSpec = {
    kind: "request",
    request: await judgedRequest(privateKey, false),
    tokens: null,
    pages: 1,
  };
  await runRawLoad(jobOf(url, questions, 20));
  const bodies = seen.map(({ body }) => JSON.parse(body));
  t.ok(bodies.every(({ session_token }) => session_token === null));
  t.equal(new Set(bodies.map(({ request }) => request.ip)).size, 20);
  t.equal(bodies[0].request.headers["sec-fetch-mode"][0], "navigate");
  for (const name of ["user-agent", "referer", "sec-ch-ua"]) {
    const values = new Set(bodies.map(({ request }) => request.headers[name][0]));
    t.ok(values.size >= 8, `${name}: ${values.size} values, as of visitors' browsers`);
  }
  for (const { request } of bodies) {
    const version = /Chrome\/(\d+)/.exec(request.headers["user-agent"][0])![1];
    t.match(request.headers["sec-ch-ua"][0], `"Chromium";v="${version}"`);
    t.match(request.headers.referer[0], /^https:\/\/shop\.example\/the-page-before\/[1-9]\d{3}$/);
  }
});
