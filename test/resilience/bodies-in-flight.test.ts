/** Bodies that never end: what is held of them is bounded in all, those that are given up get an answer of the contract, and others are served. */
import t from "tap";
import { limits } from "../../src/limits.js";
import { batch } from "../support/batches.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";
import { residentBytes } from "./idle-connections.js";

const mebibyte = 2 ** 20;
/** Garbage not collected yet: V8 lets 64 MiB of buffers gather before it looks. What is attacked with here is 200 MB. */
const growthMargin = 112 * mebibyte;
const bodyBytes = 250_000;

t.test("bodies on their way", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const key = { "X-Service-Site-Key": tenant.siteKey };
  const whole = JSON.stringify(batch("inflight"));
  const open = async (head: string): Promise<RawClient> => {
    const client = await RawClient.open(server.port);
    t.teardown(() => client.leave());
    client.write(head);
    return client;
  };
  const beginning = "{".padEnd(bodyBytes - 1000);
  /** The first of a body of 250 KB in two pieces. */
  const begin = async (headers: Record<string, string>, path = "/v1/events"): Promise<RawClient> => {
    const client = await open(
      rawRequest("POST", path, { ...headers, "Content-Length": String(bodyBytes) }) + beginning.slice(0, 100_000),
    );
    await new Promise((resolve) => setImmediate(resolve));
    client.write(beginning.slice(100_000));
    return client;
  };
  for (let index = 0; index < 20; index++) {
    await server.ask("POST", "/v1/events", { headers: key, body: batch(`warm${index}-0`) });
  }

  await t.test("without a key cost little, and the oldest are shed", async (t) => {
    const before = residentBytes(server.child.pid!);
    const clients: RawClient[] = [];
    for (let index = 0; index < 800; index++) clients.push(await begin({}));
    const shed = await clients[0]!.answer();
    t.same([shed?.status, shed?.body], [204, ""], "never 429");
    t.equal(shed?.headers.get("access-control-allow-origin"), "*");
    const growth = residentBytes(server.child.pid!) - before;
    t.ok(growth < limits.anonymousBodiesBytesMax + growthMargin, `${Math.round(growth / mebibyte)} MiB`);
    const text = JSON.stringify({ ...batch("nokey000"), site_key: tenant.siteKey });
    const quick = await open(rawRequest("POST", "/v1/events", {}, text).slice(0, -10));
    t.equal((await server.ask("GET", "/healthz")).status, 200);
    quick.write(text.slice(-10));
    t.equal((await quick.answer())?.status, 202, "one that is quick is taken all the same");
    const metrics = await server.metrics();
    t.ok(metrics.sum("verdictd_ingest_batches_total", { result: "shed" }) > 0, "and counted as shed");
    for (const client of clients) client.leave();
  });

  await t.test("with a key have a bound too, and others are not given up for them", async (t) => {
    const before = residentBytes(server.child.pid!);
    const slow = await open(
      rawRequest("POST", "/v1/events", {}, JSON.stringify({ ...batch("slow0000"), site_key: tenant.siteKey })).slice(
        0,
        -1,
      ),
    );
    const clients: RawClient[] = [];
    for (let index = 0; index < 800; index++) clients.push(await begin(key));
    t.equal((await clients[0]!.answer())?.status, 204);
    const growth = residentBytes(server.child.pid!) - before;
    t.ok(growth < limits.bodiesBytesMax + growthMargin, `${Math.round(growth / mebibyte)} MiB`);
    slow.write("}");
    t.equal((await slow.answer())?.status, 202, "a slow one of the others is still there");
    const token = { Authorization: `Bearer ${tenant.token}` };
    const rule = JSON.stringify({ name: "r", expression: "score < 5", action: "log" });
    const control = await open(rawRequest("POST", `/v1/projects/${tenant.projectId}/rules`, token, rule).slice(0, -5));
    for (let index = 0; index < 300; index++) clients.push(await begin(key));
    const crowded = await control.answer();
    t.same([crowded?.status, JSON.parse(crowded?.body ?? "{}").error], [503, "Service unavailable"], "a clear error");
    for (const client of clients) client.leave();
  });

  await t.test("of one byte a chunk cost what they hold", async (t) => {
    const before = residentBytes(server.child.pid!);
    const clients: RawClient[] = [];
    const chunks = "1\r\n{\r\n".repeat(100_000);
    for (let index = 0; index < 8; index++) {
      clients.push(
        await open(`${rawRequest("POST", "/v1/events", { ...key, "Transfer-Encoding": "chunked" })}${chunks}`),
      );
    }
    t.equal((await server.ask("POST", "/v1/events", { headers: key, body: whole })).status, 202);
    const growth = residentBytes(server.child.pid!) - before;
    t.ok(growth < 64 * mebibyte, `${Math.round(growth / mebibyte)} MiB`);
    for (const client of clients) client.leave();
  });

  await t.test("that announce more than may come are refused before any of it is held", async (t) => {
    const client = await open(rawRequest("POST", "/v1/events", { ...key, "Content-Length": "999999999999" }));
    t.equal((await client.answer())?.status, 422);
    t.equal((await server.ask("POST", "/v1/events", { headers: key, body: batch("lastone0") })).status, 202);
  });
});
