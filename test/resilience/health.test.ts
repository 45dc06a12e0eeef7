/** Health, readiness and the admin address over the life of the real process: start, drain, stop, rolling restart. */

import { once } from "node:events";
import { createServer } from "node:net";
import t from "tap";
import { newReadinessBoard, ProcessReadiness } from "../../src/http/readiness.js";
import { openStore } from "../../src/store/open-store.js";
import { freePort } from "../support/free-port.js";
import { serve, verdictd } from "../support/process.js";
import { waitUntil } from "../support/wait-until.js";

const flags = ["--drain-seconds", "3600", "--http-threads", "2", "--scoring-threads", "2"];
const server = await serve(t, t.testdir(), { flags });

t.test("a server that listens is alive and ready", async (t) => {
  const ready = await server.admin("/readyz");
  t.same(await ready.json(), { status: "ready", store: true, workers: true, draining: false });
  t.equal(ready.status, 200);
  t.same(await (await server.admin("/healthz")).json(), { status: "ok" });
  for (const path of ["/healthz", "/readyz"]) {
    t.equal((await fetch(`http://127.0.0.1:${server.port}${path}`)).status, 200, `${path} for clients`);
  }
  t.equal((await server.admin("/healthz", { method: "HEAD" })).status, 200);

  server.child.kill("SIGHUP");
  await server.logged("nothing to reload: TLS is off");
  t.equal((await server.admin("/readyz")).status, 200, "SIGHUP without TLS changes nothing");
});

t.test("readiness is one thing at both addresses", async (t) => {
  const store = openStore(server.dataDir);
  const version = store.meta.get("schemaVersion");
  const statuses = async () => [
    (await server.admin("/readyz")).status,
    (await fetch(`http://127.0.0.1:${server.port}/readyz`)).status,
  ];
  try {
    store.meta.removeSync("schemaVersion");
    t.same(await statuses(), [503, 503], "without a store that can be read");
    t.match(await (await server.admin("/readyz")).json(), { store: false, workers: true, draining: false });
  } finally {
    store.meta.putSync("schemaVersion", version!);
    await store.close();
  }
  // The other thread shows itself twice a second.
  t.same(await waitUntil(statuses, (all) => !all.includes(503)), [200, 200]);
});

t.test("a thread that has not shown itself, or says that it stops, counts for all of them", async (t) => {
  const board = newReadinessBoard(2);
  let own = { store: true, workers: true, draining: false };
  const [one, two] = [0, 1].map((number) => new ProcessReadiness(board, number, () => own)) as [
    ProcessReadiness,
    ProcessReadiness,
  ];
  t.same(one.all(), { store: false, workers: false, draining: false });
  two.show();
  t.same(one.all(), own);
  own = { store: true, workers: false, draining: true };
  two.show();
  own = { store: true, workers: true, draining: false };
  t.same(one.all(), { store: true, workers: false, draining: true });
});

t.test("while it drains it is alive, not ready, and still answers", async (t) => {
  server.child.kill("SIGTERM");
  await server.logged("stopping");
  const ready = await server.admin("/readyz");
  t.equal(ready.status, 503);
  t.same(await ready.json(), { status: "not ready", store: true, workers: true, draining: true });
  t.equal((await server.admin("/healthz")).status, 200);
  t.equal((await server.metricsOnce(({ sum }) => sum("verdictd_ready") === 0)).sum("verdictd_ready"), 0);
  t.equal((await fetch(`http://127.0.0.1:${server.port}/v1/account`)).status, 401, "requests are still taken");
  t.equal((await fetch(`http://127.0.0.1:${server.port}/readyz`)).status, 503, "clients' side says so too");
});

t.test("a process that finds the admin address taken takes it over when it is free", async (t) => {
  const folder = t.testdir({ one: {}, two: {} });
  const first = await serve(t, `${folder}/one`, { flags: [] });
  const flags = ["--admin-port", String(first.adminPort)];
  const second = await serve(t, `${folder}/two`, { flags });
  await second.logged("the admin address is in use; retrying until it is free");
  t.equal((await fetch(`http://127.0.0.1:${second.port}/readyz`)).status, 200, "it serves meanwhile");
  t.equal(await first.end("SIGTERM"), 0);
  await second.logged("admin listening");
  t.equal(second.adminPort, first.adminPort);
  t.equal((await second.admin("/readyz")).status, 200);
  t.equal(await second.end("SIGTERM"), 0);
});

t.test("it ends while it still waits for the admin address", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.close());
  const { port } = other.address() as { port: number };
  const server = await serve(t, t.testdir(), { flags: ["--admin-port", String(port)] });
  t.equal(await server.end("SIGTERM"), 0);
});

t.test("an admin address that is not ours stops the start", async (t) => {
  const { code, stderr } = await verdictd([
    "serve",
    "--port",
    "0",
    "--admin-host",
    "192.0.2.1",
    "--data-dir",
    t.testdir(),
  ]);
  t.equal(code, 1);
  t.match(stderr, /can't listen on the admin address 192\.0\.2\.1:9464/);
});

t.test("a port is shared by servers of one store, and refused to those of another", async (t) => {
  const folder = t.testdir();
  const port = await freePort();
  const first = await serve(t, `${folder}/one`, { port });
  const { code, stderr } = await verdictd([
    "serve",
    "--port",
    String(port),
    "--admin-port",
    "0",
    "--data-dir",
    `${folder}/two`,
  ]);
  t.equal(code, 1);
  t.match(stderr, /can't listen on 127\.0\.0\.1:\d+: another program uses it, or a verdictd that serves another store/);
  const next = await serve(t, `${folder}/one`, { port });
  t.equal(next.port, port, "as in a rolling restart");
  t.equal(await first.end("SIGTERM"), 0);
  t.equal((await fetch(`${next.address}/readyz`)).status, 200);
  // What is left of a server that was killed is no server.
  await next.end("SIGKILL");
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.close());
  const refused = await verdictd(["serve", "--port", String(port), "--admin-port", "0", "--data-dir", `${folder}/one`]);
  t.match(refused, { code: 1, stderr: /can't listen/ });
});
