/** Erasure and the sweep beside a loaded server, and what power-loss durability waits for. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { decodeSessionToken } from "../../src/contract/session-token.js";
import { sweep } from "../../src/store/expiry.js";
import { openStore } from "../../src/store/store.js";
import { batch } from "../support/batches.js";
import { makeOwner } from "./owner.js";
import { Client, serve, verdictd } from "./process.js";

t.test("erased under load, a session is gone from every table, and the others stay", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir);
  const client = new Client(server.port);
  t.teardown(() => client.close());
  const token: string = (await client.send(owner.siteKey, batch("erase000", 100), "erase")).json.session_token;
  for (let index = 1; index <= 3; index++) await client.send(owner.siteKey, batch(`erase00${index}`, 100, token));
  let isDone = false;
  const kept: string[] = [];
  const load = (async () => {
    for (let index = 0; !isDone; index++) {
      kept.push((await client.send(owner.siteKey, batch(`beside${index}`, 2))).json.session_token);
    }
  })();
  const { code, stderr } = await verdictd("session", "delete", token, "--json", "--data-dir", dataDir);
  const store = openStore(dataDir);
  await sweep(store, { sessionMs: 1e12, blockMs: 1e12, trafficMs: 1e12 }, Date.now());
  isDone = true;
  await load;
  t.same([code, stderr], [0, ""]);
  const bytes = decodeSessionToken(token)!;
  const holding: string[] = [];
  for (const name of ["sessions", "repeats", "idempotency"] as const) {
    for (const { key, value } of store[name].getRange({})) {
      if (key.includes(bytes) || value.includes(bytes)) holding.push(name);
    }
  }
  t.same(holding, []);
  for (const each of kept) t.ok([...store.sessions.getKeys({})].some((key) => key.includes(decodeSessionToken(each)!)));
  await store.close();
  const verdict = await client.ask("GET", `/v1/sessions/${token}/verdict?path=/new`, {
    authorization: `Bearer ${owner.privateKey}`,
  });
  t.equal(verdict.json.verdict, "not_computed");
});

t.test(
  "with power-loss durability an answer comes after the flush of its commit",
  { skip: spawnSync("strace", ["-V"]).status === 0 ? false : "needs strace" },
  async (t) => {
    const dataDir = t.testdir();
    const owner = await makeOwner(dataDir);
    const server = await serve(t, dataDir, { flags: ["--durability", "power-loss", "--scoring-threads", "1"] });
    const client = new Client(server.port, 1);
    t.teardown(() => client.close());
    await client.send(owner.siteKey, batch("warmup00"));
    const trace = join(dataDir, "trace");
    const tracer = spawn(
      "strace",
      [
        "-f",
        "-tt",
        "-e",
        "trace=fdatasync,fsync,msync,sync_file_range,sendto,write,writev,send",
        "-s",
        "24",
        "-o",
        trace,
        "-p",
        String(server.child.pid),
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    t.teardown(() => tracer.kill());
    await once(tracer.stderr, "data");
    for (let index = 0; index < 5; index++)
      t.equal((await client.send(owner.siteKey, batch(`power${index}00`))).status, 202);
    tracer.kill("SIGINT");
    await once(tracer, "exit");
    let flushes = 0;
    let answered = 0;
    for (const line of readFileSync(trace, "utf8").split("\n")) {
      if (/(fdatasync|fsync|msync)(\(.*| resumed>.*)= 0$/.test(line)) flushes++;
      if (line.includes('"HTTP/1.1 202')) {
        answered++;
        t.ok(flushes >= answered, `answer ${answered} after ${flushes} flushes`);
      }
    }
    t.equal(answered, 5, "every answer was seen");
  },
);
