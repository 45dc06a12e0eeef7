/**
 * The executable does all of verdictd on a host that has nothing: run in an empty root, as an ordinary user. Continuous
 * integration runs this file too, after making the executable.
 */

import { readFileSync, statSync } from "node:fs";
import t from "tap";
import { schemaVersion } from "../../src/store/open-store.js";
import { BareRoot, cannotRun, executable } from "../package/bare-root.js";
import { firstProject, firstSession } from "../package/first-session.js";
import { freePort } from "../support/free-port.js";

const skip = cannotRun();

t.test("the file is small and says what it is and what it carries", { skip }, async (t) => {
  t.ok(statSync(executable).size < 140e6, `it is under 140 MB: ${statSync(executable).size} bytes`);
  const root = new BareRoot(t);
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const { commit } = JSON.parse(readFileSync(new URL("../../build.json", import.meta.url), "utf8"));
  const told = await root.run("--version");
  t.same([told.code, told.stderr], [0, ""]);
  const [first, second, third, fourth, ...natives] = told.stdout.trimEnd().split("\n");
  t.same(
    [first, second, third],
    [`verdictd ${version}`, `commit ${commit ?? "unknown"}`, `store schema ${schemaVersion}`],
  );
  t.match(fourth, /^node 22\.\d+\.\d+ \(ABI 127, linux-(x64|arm64)\)$/);
  t.same(
    natives.map((line) => line.split(" ")[0]),
    ["lmdb", "msgpackr-extract", "uWebSockets.js", "uWebSockets.js-next"],
  );
  const licenses = await root.run("licenses");
  t.same([licenses.code, licenses.stderr], [0, ""]);
  for (const words of [
    "Node.js is licensed for use",
    "OpenLDAP Public License",
    "LZ4 Library",
    "uWebSockets",
    "preact",
  ])
    t.match(licenses.stdout, words);
});

t.test("one file serves, keeps its data over a restart and backs it up", { skip }, async (t) => {
  const root = new BareRoot(t);
  const unpacking = await root.serve();
  t.comment(`from start to listening, unpacking included: ${Math.round(unpacking.startMs)} ms`);
  t.equal((await fetch(`${unpacking.address}/readyz`)).status, 200);
  const mapped = readFileSync(`/proc/${unpacking.pid}/maps`, "utf8");
  for (const part of ["/uws_linux_", "/@lmdb/lmdb-linux-", "/@msgpackr-extract/msgpackr-extract-linux-"])
    t.ok(mapped.includes(part), `the native part ${part} is loaded`);
  t.equal(await unpacking.stop(), 0);

  const project = await firstProject(root);
  const first = await root.serve("--http-threads", "2", "--port", String(await freePort()));
  const session = await firstSession(project, first);
  t.equal(session.accepted, 2);
  const before = await session.verdict(first.address);
  t.ok(before.score > 0 && before.score < 30, `declared automation has a bot's score: ${before.score}`);
  const sdk = await fetch(`${first.address}/sdk.js`);
  t.same(await sdk.text(), readFileSync(new URL("../../sdk/sdk.js", import.meta.url), "utf8"), "it serves the SDK");
  for (const path of ["/console", "/docs"]) t.equal((await fetch(first.address + path)).status, 200, path);
  t.equal(await first.stop(), 0);

  const second = await root.serve();
  t.comment(`from start to listening, unpacked before: ${Math.round(second.startMs)} ms`);
  t.same(await session.verdict(second.address), before, "the verdict outlives a restart");
  const backup = await root.run("backup", "/backups/one");
  t.same([backup.code, backup.stderr], [0, ""], "a backup is made while it serves");
  t.equal(await second.stop(), 0);

  const restored = await root.serve("--data-dir", "/backups/one");
  t.same(await session.verdict(restored.address), before, "a server on the backup gives the same verdict");
  t.equal(await restored.stop(), 0);
});
