/** What a control group gives a process, as the files of both versions tell it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { memoryBound, usableCores } from "../../src/config/machine.js";
import { memoryOf, threadsFor } from "../../src/config/memory.js";

function files(t: Test, membership: string, texts: Readonly<Record<string, string>>) {
  const root = t.testdir({ membership });
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { membership: join(root, "membership"), root };
}

t.test("a quota of processors counts, of the group or of one above, in both versions", async (t) => {
  const one = files(t, "0::/pod/app\n", { "pod/cpu.max": "250000 100000\n", "pod/app/cpu.max": "max 100000\n" });
  t.equal(usableCores(one, 64), 2);
  t.equal(usableCores(one, 1), 1, "fewer processors than the quota");
  const small = files(t, "0::/\n", { "cpu.max": "20000 100000\n" });
  t.equal(usableCores(small, 64), 1, "less than one");
  const old = files(t, "5:cpu,cpuacct:/app\n3:memory:/app\n", {
    "cpu,cpuacct/app/cpu.cfs_quota_us": "300000\n",
    "cpu,cpuacct/app/cpu.cfs_period_us": "100000\n",
    "cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
    "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
  });
  t.equal(usableCores(old, 64), 3);
  t.equal(usableCores({ membership: "/nowhere/at/all", root: "/nowhere" }, 6), 6, "no control groups");
});

t.test("a bound of memory counts, the lowest of those above each other", async (t) => {
  const mib = 1024 * 1024;
  const one = files(t, "0::/a/b\n", { "a/memory.max": `${512 * mib}\n`, "a/b/memory.max": "max\n" });
  t.equal(memoryBound(one), 512 * mib);
  const old = files(t, "3:memory:/a\n", {
    "memory/a/memory.limit_in_bytes": `${256 * mib}\n`,
    "memory/memory.limit_in_bytes": "9223372036854771712\n",
  });
  t.equal(memoryBound(old), 256 * mib);
  t.equal(memoryBound(files(t, "0::/\n", { "memory.max": "max\n" })), null);
});

t.test("the memory of a server with the most threads that are a default", async (t) => {
  const config = { httpThreads: 4, scoringThreads: 2, verdictCacheMb: 64, queueMb: 64 };
  const { mib, sum } = memoryOf(config);
  t.equal(mib, 704);
  t.equal(sum, "64 + 4 HTTP threads * (32 + 64 of cache) + 2 scoring threads * 96 + 64 of queue");
});

t.test("threads by default: of the cores, as far as memory is enough for them", async (t) => {
  const caches = { verdictCacheMb: 64, queueMb: 64 };
  const gib = 2 ** 30;
  for (const [cores, bytes, httpThreads, scoringThreads] of [
    [64, null, 4, 2],
    [64, 2 * gib, 4, 2],
    [64, gib, 3, 2],
    [64, gib / 2, 1, 1],
    [64, gib / 8, 1, 1],
    [4, gib / 2, 1, 1],
    [2, 2 * gib, 1, 1],
    [1, null, 1, 1],
  ] as const) {
    const threads = threadsFor(cores, bytes, caches);
    t.strictSame(threads, { httpThreads, scoringThreads }, `${cores} cores, ${bytes} bytes`);
    const { mib } = memoryOf({ ...threads, ...caches });
    if (bytes !== null && bytes >= gib / 2)
      t.ok(1.5 * mib * 2 ** 20 <= bytes, `${mib} MiB, and half as much for the store`);
  }
});
