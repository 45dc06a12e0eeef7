/** Judged requests that come at once: their answers are given together, each to its own connection; and who pipelines is answered all the same. */
import t, { type Test } from "tap";
import { TickEnd } from "../../src/http/tick-end.js";
import { limits } from "../../src/limits.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";

const many = limits.answersAtOnce + 1;

const headers = [["User-Agent", "curl/8.5.0"]] as const;
const toJudge = (privateKey: string, path: string): string =>
  rawRequest(
    "POST",
    "/v1/verdict",
    { Authorization: `Bearer ${privateKey}`, "Content-Type": "application/json" },
    JSON.stringify({ request: { method: "GET", host: "shop.example", path, ip: "203.0.113.9", headers } }),
  );
const byForwardAuth = (privateKey: string, path: string): string =>
  rawRequest("GET", "/v1/forward-auth", {
    "X-Service-Private-Key": privateKey,
    "X-Forwarded-Method": "GET",
    "X-Forwarded-Uri": path,
    "X-Forwarded-Host": "shop.example",
    "X-Forwarded-For": "203.0.113.9",
    "User-Agent": "curl/8.5.0",
  });

/** A server that judges requests and blocks what is below `/closed`; `inOneTick` has all that is written there when it wakes up. */
async function startJudge(t: Test) {
  const server = await startServer(t);
  const { privateKey, projectId, token } = await firstTenant(server);
  const project = `/v1/projects/${projectId}`;
  await server.ask("PUT", `${project}/request-scoring`, { token, body: { enabled: true } });
  const rule = { name: "closed", expression: 'path starts_with "/closed"', action: "block", is_active: true };
  await server.ask("POST", `${project}/rules`, { token, body: rule });
  return {
    privateKey,
    open: (count: number) => Promise.all(Array.from({ length: count }, () => RawClient.open(server.port))),
    inOneTick: async (writes: () => Promise<void>[]) => {
      server.child.kill("SIGSTOP");
      try {
        await Promise.all(writes());
      } finally {
        server.child.kill("SIGCONT");
      }
    },
  };
}

const pathOf = (index: number) => (index % 3 === 0 ? "/closed" : "/open");
const actionOf = (index: number) => (index % 3 === 0 ? "block" : "allow");

t.test("answers wait after many busy ticks, and none where requests are pipelined", async (t) => {
  const tickEnd = new TickEnd();
  let tick = 0;
  const takes = (count: number, connections: number) => {
    tick++;
    let last = false;
    for (let each = 0; each < count; each++) last = tickEnd.takes(tick, connections);
    return last;
  };
  const busyTicks = (count: number) => {
    for (let each = 0; each < count; each++) takes(many, many);
  };
  busyTicks(limits.plainTicksMin - 1);
  t.notOk(takes(many, many), "not sure yet");
  t.ok(takes(many, many), "one on each connection");
  t.notOk(takes(many - 1, many), "a tick with few");
  t.ok(tickEnd.takes(tick, 1), "connections that close with their answers are no sign");
  const given: number[] = [];
  tickEnd.add(() => given.push(1));
  tickEnd.add(() => given.push(2));
  await Promise.resolve();
  t.strictSame(given, [], "not yet");
  await new Promise(setImmediate);
  t.strictSame(given, [1, 2]);
  t.notOk(takes(many, many - 1), "more answers than connections");
  busyTicks(limits.plainTicksMin - 1);
  t.notOk(takes(many, 100), "nor soon after");
  t.ok(takes(many, 100));
  tickEnd.startAnew();
  t.notOk(takes(many, 100), "a connection that ended with its answer ready");
});

t.test("many in one tick are answered, each on its own connection", async (t) => {
  const judge = await startJudge(t);
  const { privateKey, open, inOneTick } = judge;
  const busy = await keepBusy(judge);
  const count = 10 * limits.answersAtOnce;
  const clients = await open(2 * count);
  await inOneTick(() =>
    clients.map((client, index) => client.write((index < count ? toJudge : byForwardAuth)(privateKey, pathOf(index)))),
  );
  for (const [index, client] of clients.entries()) {
    const answer = await client.answer();
    if (index < count) t.equal(JSON.parse(answer?.body ?? "{}").action, actionOf(index), `${index}`);
    else t.equal(answer?.status, actionOf(index) === "block" ? 403 : 204, `${index}`);
  }
  // Each connection serves on.
  for (const client of clients) void client.write(toJudge(privateKey, "/open"));
  for (const client of clients) t.equal((await client.answer())?.status, 200);
  for (const client of [...clients, ...busy]) client.leave();
});

/** Answers to as many pipelined questions as a tick answers at once and as many more, in order; null: the connection was lost. */
async function pipelined({ privateKey, open, inOneTick }: Awaited<ReturnType<typeof startJudge>>) {
  const [client] = await open(1);
  const count = 2 * many;
  const questions = Array.from({ length: count }, (_, index) => toJudge(privateKey, pathOf(index)));
  await inOneTick(() => [client!.write(questions.join(""))]);
  const actions: string[] = [];
  for (let each = 0; each < count; each++) {
    const answer = await client!.answer();
    if (answer === null) return null;
    actions.push(JSON.parse(answer.body).action);
  }
  client!.leave();
  return actions;
}
/** Until answers wait for the end of their tick. */
async function keepBusy({ privateKey, open }: Awaited<ReturnType<typeof startJudge>>) {
  const clients = await open(8 * many);
  for (let each = 0; each < 3 * limits.plainTicksMin; each++) {
    for (const client of clients) void client.write(toJudge(privateKey, "/open"));
    for (const client of clients) if ((await client.answer())?.status !== 200) throw new Error("no answer");
  }
  return clients;
}

const inOrder = Array.from({ length: 2 * many }, (_, index) => actionOf(index));

t.test("pipelined questions on the only connection are answered in order", async (t) => {
  const judge = await startJudge(t);
  for (let each = 0; each < 2; each++) t.strictSame(await pipelined(judge), inOrder);
});

t.test("on a busy server, who pipelines for the first time loses a connection, and no other", async (t) => {
  const judge = await startJudge(t);
  const others = await keepBusy(judge);
  t.equal(await pipelined(judge), null, "an answer waited for the end of its tick");
  for (let each = 0; each < 3; each++) t.strictSame(await pipelined(judge), inOrder);
  for (const client of others) void client.write(toJudge(judge.privateKey, "/open"));
  for (const client of others) t.equal((await client.answer())?.status, 200);
  for (const client of others) client.leave();
});
