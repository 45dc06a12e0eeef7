// The table of nonces: bounded, shared by threads, and atomic.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import t from "tap";
import { Nonces, type NonceUse, newNonceTable } from "../../../src/bots/signed/nonces.js";
import { limits } from "../../../src/limits.js";

const nowMs = Date.UTC(2026, 10, 22);
const use = (nonce: string, more: Partial<NonceUse> = {}): NonceUse => ({
  projectId: 1,
  agentUrl: "https://agent.example",
  thumbprint: "k",
  nonce,
  ip: "203.0.113.7",
  path: "/",
  nowMs,
  expiresAtMs: nowMs + 60_000,
  ...more,
});

t.test("a nonce is of its project, agent and key, and may come again when its signature has expired", async (t) => {
  const nonces = new Nonces();
  t.ok(nonces.use(use("a")));
  t.notOk(nonces.use(use("a", { ip: "203.0.113.8" })));
  t.ok(nonces.use(use("a", { projectId: 2 })));
  t.ok(nonces.use(use("a", { agentUrl: "https://b.example" })));
  t.ok(nonces.use(use("a", { thumbprint: "l" })));
  t.notOk(nonces.use(use("a", { nowMs: nowMs + 60_000 })));
  t.ok(nonces.use(use("a", { nowMs: nowMs + 60_001, expiresAtMs: nowMs + 120_000 })));
});

t.test("a full table forgets, and says so; half full it forgets nothing", async (t) => {
  let forgotten = 0;
  const nonces = new Nonces(newNonceTable(), () => forgotten++);
  const fill = limits.noncesMax / 4;
  for (let index = 0; index < fill; index++) nonces.use(use(`${index}`));
  t.ok(forgotten < fill / 1000, `${forgotten} forgotten of ${fill}`);
  t.notOk(nonces.use(use(`${fill - 1}`, { path: "/other" })), "the latest is remembered");
  for (let index = fill; index < 2 * limits.noncesMax; index++) nonces.use(use(`${index}`));
  t.ok(forgotten >= limits.noncesMax, `${forgotten} forgotten`);
  t.notOk(nonces.use(use(`${2 * limits.noncesMax - 1}`, { path: "/other" })), "the latest is remembered");
});

t.test("of threads that use one nonce at the same time for different requests one alone is first", async (t) => {
  const table = newNonceTable();
  const code = `
    const { workerData, parentPort } = require("node:worker_threads");
    import(workerData.module).then(({ Nonces }) => {
      const nonces = new Nonces(workerData.table);
      parentPort.postMessage("ready");
      parentPort.once("message", () => {
        const firsts = [];
        for (let index = 0; index < 20000; index++) {
          if (nonces.use({ ...workerData.use, nonce: String(index), ip: workerData.ip })) firsts.push(index);
        }
        parentPort.postMessage(firsts);
      });
    });`;
  const module = new URL("../../../src/bots/signed/nonces.js", import.meta.url).href;
  const workers = ["a", "b"].map(
    (ip) => new Worker(code, { eval: true, workerData: { module, table, use: use(""), ip } }),
  );
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const results = Promise.all(workers.map((worker) => once(worker, "message")));
  for (const worker of workers) worker.postMessage("go");
  const [[first], [second]] = (await results) as [[number[]], [number[]]];
  t.equal(first.length + second.length, 20_000);
  t.equal(new Set([...first, ...second]).size, 20_000);
  for (const worker of workers) await worker.terminate();
});
