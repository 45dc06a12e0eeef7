/** What a commit leaves on the disk: that power-loss durability flushes it before the answer, and that every state in between opens. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { checkStore } from "../../src/control-plane/store-check.js";
import { openStore } from "../../src/store/store.js";
import { storeFile } from "../../src/store/store-file.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { serve } from "../support/process.js";
import { openIngest } from "./ingest.js";
import { makeOwner } from "./owner.js";

const skip = spawnSync("strace", ["-V"]).status === 0 ? false : "needs strace";
const flushCalls = "fdatasync,fsync,msync";

/** For each of five answers, how many flushes had ended before it was written. */
async function flushesBeforeAnswers(t: Test): Promise<number[]> {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir, { flags: ["--durability", "power-loss", "--scoring-threads", "1"] });
  const client = new Client(server.port, 1);
  t.teardown(() => client.close());
  const trace = join(dataDir, "trace");
  const tracing = ["-f", "-s", "24", "-o", trace, "-p", String(server.child.pid)];
  const calls = ["-e", `trace=${flushCalls},sendto,write,writev`];
  const tracer = spawn("strace", [...tracing, ...calls], { stdio: ["ignore", "ignore", "pipe"] });
  t.teardown(() => tracer.kill());
  await once(tracer.stderr, "data");
  for (let index = 0; index < 5; index++) {
    t.equal((await client.send(owner.siteKey, batch(`power${index}00`))).status, 202);
  }
  tracer.kill("SIGINT");
  await once(tracer, "exit");
  const before: number[] = [];
  let flushes = 0;
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    if (/(fdatasync|fsync|msync)(\(.*| resumed>.*)= 0$/.test(line)) flushes++;
    if (line.includes('"HTTP/1.1 202')) before.push(flushes);
  }
  return before;
}

t.test("with power-loss durability every answer comes after the flush of its commit", { skip }, async (t) => {
  const before = await flushesBeforeAnswers(t);
  t.equal(before.length, 5, "every answer was seen");
  for (const [index, flushes] of before.entries())
    t.ok(flushes > index, `answer ${index + 1} after ${flushes} flushes`);
});

t.test("the file as it is after any commit opens, is sound and holds exactly what was committed by then", async (t) => {
  const { store, take } = await openIngest(t);
  const { path } = store.root as unknown as { path: string };
  const copies = join(dirname(path), "copies");
  for (let commit = 1; commit <= 25; commit++) {
    take({ body: batch(`commit${String(commit).padStart(2, "0")}`, 7), nowMs: 1_790_000_000_000 + commit });
    const dir = join(copies, String(commit));
    mkdirSync(dir, { recursive: true });
    copyFileSync(path, storeFile(dir));
  }
  for (let commit = 1; commit <= 25; commit++) {
    const copy = openStore(join(copies, String(commit)));
    t.equal(copy.sessions.getKeysCount({}), commit);
    t.equal(checkStore(copy).faultCount, 0);
    await copy.close();
  }
});
