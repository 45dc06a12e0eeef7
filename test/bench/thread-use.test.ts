/** What a server's threads are busy with, by the profiles that Node.js writes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { moment, partOf, partTimes, threadUses } from "../../bench/servers/thread-use.js";

t.test("a function belongs to a folder of the program, to a package, or to Node.js", async (t) => {
  t.equal(partOf("read", "file:///app/dist/src/http/framing.js"), "src/http");
  t.equal(partOf("run", "file:///app/dist/workers/scoring.js"), "workers");
  t.equal(partOf("get", "file:///app/node_modules/lmdb/read.js"), "lmdb");
  t.equal(partOf("get", "file:///app/node_modules/@scope/name/read.js"), "@scope/name");
  t.equal(partOf("emit", "node:events"), "Node.js and native calls");
  t.equal(partOf("(garbage collector)", ""), "garbage collection");
  t.equal(partOf("(idle)", ""), null);
});

t.test("samples count by part, as far as they are of the span", async (t) => {
  const node = (id: number, functionName: string, url: string) => ({ id, callFrame: { functionName, url } });
  const profile = {
    nodes: [
      node(1, "(idle)", ""),
      node(2, "a", "file:///dist/src/http/a.js"),
      node(3, "b", "file:///dist/src/rules/b.js"),
    ],
    startTime: 1000,
    samples: [2, 1, 2, 3, 3],
    timeDeltas: [10, 10, 10, 10, 100],
  };
  t.same(
    [...partTimes(profile, 1015, 1100)],
    [
      ["src/http", 10],
      ["src/rules", 10],
    ],
  );
  t.same(
    [...partTimes(profile, 0, 2000)],
    [
      ["src/http", 20],
      ["src/rules", 110],
    ],
  );
});

t.test("a process that was busy with one part is found to be", async (t) => {
  const folder = t.testdir();
  const profiles = join(folder, "profiles");
  const source = join(folder, "dist/src/http");
  mkdirSync(profiles);
  mkdirSync(source, { recursive: true });
  // Busy until it is told to end: in steps, so that it hears of it.
  const text =
    "let x = 0; const spin = () => { for (let i = 0; i < 1e6; i++) x += Math.sqrt(i); setImmediate(spin); }; spin();";
  writeFileSync(join(source, "busy.cjs"), `${text} process.on("message", () => process.exit()); process.send("up");`);
  const child = spawn(process.execPath, ["--cpu-prof", "--cpu-prof-dir", profiles, join(source, "busy.cjs")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await once(child, "message");
  const from = moment(child.pid!);
  let to = from;
  // Processor time and not a clock's: others may be at work.
  while ((to.times.get(child.pid!) ?? 0) - (from.times.get(child.pid!) ?? 0) < 200e6) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    to = moment(child.pid!);
  }
  child.send("end");
  await once(child, "exit");
  const [busiest] = threadUses(profiles, child.pid!, { from, to });
  t.equal(busiest?.thread, "HTTP thread");
  t.equal(busiest?.parts[0]?.[0], "src/http");
  t.ok(busiest!.parts[0]![1] > 0.5, String(busiest!.parts[0]![1]));
});
