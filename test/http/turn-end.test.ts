/** Judged requests that come at once: their answers are given together, each to its own connection; and who pipelines is answered all the same. */
import t from "tap";
import { TurnEnd } from "../../src/http/turn-end.js";
import { limits } from "../../src/limits.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";

const server = await startServer(t);
const { privateKey, projectId, token } = await firstTenant(server);
await server.ask("PUT", `/v1/projects/${projectId}/request-scoring`, {
  token,
  body: { enabled: true },
});

const headers = [["User-Agent", "curl/8.5.0"]] as const;
const toJudge = (path: string): string =>
  rawRequest(
    "POST",
    "/v1/verdict",
    { Authorization: `Bearer ${privateKey}`, "Content-Type": "application/json" },
    JSON.stringify({ request: { method: "GET", host: "shop.example", path, ip: "203.0.113.9", headers } }),
  );
const byForwardAuth = (path: string): string =>
  rawRequest("GET", "/v1/forward-auth", {
    "X-Service-Private-Key": privateKey,
    "X-Forwarded-Method": "GET",
    "X-Forwarded-Uri": path,
    "X-Forwarded-Host": "shop.example",
    "X-Forwarded-For": "203.0.113.9",
    "User-Agent": "curl/8.5.0",
  });
const blocked = 403;
const rule = { name: "closed", expression: 'path starts_with "/closed"', action: "block", is_active: true };
await server.ask("POST", `/v1/projects/${projectId}/rules`, { token, body: rule });

const open = (count: number): Promise<RawClient[]> =>
  Promise.all(Array.from({ length: count }, () => RawClient.open(server.port)));

/** All of it is there when the server wakes up. */
async function inOneTurn(write: () => void): Promise<void> {
  server.child.kill("SIGSTOP");
  write();
  await new Promise((resolve) => setTimeout(resolve, 50));
  server.child.kill("SIGCONT");
}

t.test("answers wait where a turn has many requests, and none where requests are pipelined", async (t) => {
  const many = limits.answersAtOnce + 1;
  const turnEnd = new TurnEnd();
  t.notOk(turnEnd.isOpen(many - 1, 100), "few");
  t.ok(turnEnd.isOpen(many, many), "one on each connection");
  const given: number[] = [];
  turnEnd.add(() => given.push(1));
  turnEnd.add(() => given.push(2));
  await Promise.resolve();
  t.strictSame(given, [], "not yet");
  await new Promise(setImmediate);
  t.strictSame(given, [1, 2]);
  t.notOk(turnEnd.isOpen(many, many - 1), "more requests than connections");
  t.notOk(turnEnd.isOpen(many, 100), "nor the next ones");
});

t.test("many in one turn are answered, each on its own connection", async (t) => {
  const count = 10 * limits.answersAtOnce;
  const clients = await open(2 * count);
  await inOneTurn(() => {
    for (const [index, client] of clients.entries()) {
      const path = index % 3 === 0 ? "/closed" : "/open";
      void client.write(index < count ? toJudge(path) : byForwardAuth(path));
    }
  });
  for (const [index, client] of clients.entries()) {
    const answer = await client.answer();
    const isBlocked = index % 3 === 0;
    if (index < count) t.equal(JSON.parse(answer?.body ?? "{}").action, isBlocked ? "block" : "allow", `${index}`);
    else t.equal(answer?.status, isBlocked ? blocked : 204, `${index}`);
  }
  // Each connection serves on.
  for (const client of clients) void client.write(toJudge("/open"));
  for (const client of clients) t.equal((await client.answer())?.status, 200);
  for (const client of clients) client.leave();
});

t.test("a client that leaves with its answer ready costs the others nothing", async (t) => {
  const clients = await open(20);
  await inOneTurn(() => {
    for (const client of clients) void client.write(toJudge("/open"));
    for (const client of clients.slice(10)) client.leave();
  });
  for (const client of clients.slice(0, 10)) t.equal((await client.answer())?.status, 200);
  for (const client of clients) client.leave();
});

t.test(
  "pipelined questions are answered in order; where others are connected, a client loses one connection at most",
  async (t) => {
    for (const others of [0, 3 * limits.answersAtOnce]) {
      const idle = await open(others);
      let lost = 0;
      for (let tries = 0; tries < 3; tries++) {
        const [client] = await open(1);
        const paths = Array.from({ length: 2 * limits.answersAtOnce + 2 }, (_, at) =>
          at % 3 === 0 ? "/closed" : "/open",
        );
        await inOneTurn(() => void client!.write(paths.map(toJudge).join("")));
        for (const [index, path] of paths.entries()) {
          const answer = await client!.answer();
          if (answer === null) {
            lost++;
            break;
          }
          t.equal(JSON.parse(answer.body).action, path === "/closed" ? "block" : "allow", `${others}: ${index}`);
        }
        client!.leave();
      }
      t.ok(lost <= (others === 0 ? 0 : 1), `${lost} lost with ${others} others`);
      for (const client of idle) client.leave();
    }
  },
);
