/** Where the executable unpacks itself: two starts at once, damage, a folder that was named, a read-only root, old versions. */
import { mkdirSync, readdirSync, statSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { BareRoot, cannotRun } from "../package/bare-root.js";

const skip = cannotRun();

t.test("two first starts at once share one cache; damage to it is repaired", { skip }, async (t) => {
  const root = new BareRoot(t);
  const [one, two] = await Promise.all([root.run("--version"), root.run("--version")]);
  t.same([one.code, one.stderr, two.code, two.stderr], [0, "", 0, ""]);
  const caches = join(root.path, "home/operator/.cache/verdictd");
  const [name, ...others] = readdirSync(caches);
  t.same(others, [], "there is one folder");
  t.equal(statSync(join(caches, name!)).mode & 0o777, 0o700);
  t.ok(readdirSync(join(caches, name!, "compiled")).length > 0, "what was compiled is kept for the next start");
  const program = join(caches, name!, "dist/program/verdictd.js");
  const { size } = statSync(program);
  truncateSync(program, Math.floor(size / 2));
  const after = await root.run("--version");
  t.same([after.code, after.stderr, statSync(program).size], [0, "", size]);
});

t.test("two servers started at once on an empty cache and one store both serve", { skip }, async (t) => {
  const root = new BareRoot(t);
  const servers = await Promise.all([root.serve(), root.serve()]);
  for (const { address } of servers) t.equal((await fetch(`${address}/readyz`)).status, 200);
  for (const server of servers) t.equal(await server.stop(), 0);
});

t.test("the cache goes where --cache-dir says, and nowhere else", { skip }, async (t) => {
  const root = new BareRoot(t);
  const done = await root.run("--version", "--cache-dir", "/data/cache");
  t.same([done.code, done.stderr], [0, ""]);
  t.same(readdirSync(join(root.path, "home/operator")), []);
  const missing = await root.run("--version", "--cache-dir");
  t.same([missing.code, missing.stderr], [2, "--cache-dir: a value is missing\n"]);
  const impossible = await root.run("--version", "--cache-dir", "/verdictd/below-a-file");
  t.equal(impossible.code, 1);
  t.match(impossible.stderr, /^verdictd: no folder to unpack into \(.*\): name a writable one with --cache-dir\n$/);
});

t.test("a read-only root is enough with a writable cache folder and store", { skip }, async (t) => {
  const root = new BareRoot(t, { isReadOnly: true });
  const refused = await root.run("--version");
  t.equal(refused.code, 1);
  t.match(refused.stderr, /^verdictd: no folder to unpack into \(.*\): name a writable one with --cache-dir\n$/);
  const serving = await root.serve("--cache-dir", "/data/cache", "--data-dir", "/data/store");
  t.equal((await fetch(`${serving.address}/readyz`)).status, 200);
  t.equal(await serving.stop(), 0);
  t.same(readdirSync(join(root.path, "data")).sort(), ["cache", "store"]);
});

t.test("of what earlier versions unpacked, the last two are kept", { skip }, async (t) => {
  const root = new BareRoot(t);
  const caches = join(root.path, "data/cache");
  for (let version = 0; version < 5; version++) {
    const folder = join(caches, `0.0.${version}-${"0".repeat(16)}`);
    mkdirSync(folder, { recursive: true });
    utimesSync(folder, version, version);
  }
  // The empty root has no list of processes unless it is given one.
  mkdirSync(join(root.path, "proc"));
  const done = await root.run("--version", "--cache-dir", "/data/cache");
  t.same([done.code, done.stderr], [0, ""]);
  const left = readdirSync(caches).filter((name) => name.startsWith("0.0."));
  t.same(left.sort(), [`0.0.3-${"0".repeat(16)}`, `0.0.4-${"0".repeat(16)}`]);
});
