/** What earlier versions unpacked is removed, but for the last two and those that still run. */
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { removeOldCaches } from "../../scripts/package/bootstrap/old-caches.js";

const uid = process.getuid!();
const name = (version: number) => `0.${version}.0-${String(version).padStart(16, "0")}`;

/** A cache of versions 0 to 5, each last started later than the one before. */
function cacheOfSix(t: Test): string {
  const cache = t.testdir({ cache: {}, processes: { self: {} } });
  for (let version = 0; version < 6; version++) {
    const folder = join(cache, "cache", name(version));
    mkdirSync(join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "dist/one.js"), "");
    utimesSync(folder, version, version);
  }
  return cache;
}

t.test("the two that were started last stay beside the present one; what is no cache is not touched", async (t) => {
  const dir = cacheOfSix(t);
  const cache = join(dir, "cache");
  writeFileSync(join(cache, "notes"), "");
  mkdirSync(join(cache, "0.0.0-not-a-hash"));
  removeOldCaches(join(cache, name(0)), uid, join(dir, "processes"));
  t.same(readdirSync(cache).sort(), [name(0), "0.0.0-not-a-hash", name(4), name(5), "notes"]);
});

t.test("a version that a process runs stays, also when the cache was named by another path", async (t) => {
  const dir = cacheOfSix(t);
  const cache = join(dir, "cache");
  mkdirSync(join(dir, "processes/17"));
  writeFileSync(join(dir, "processes/17/maps"), `7f0-7f1 r-xp 0 fe:00 1 ${cache}/${name(1)}/node_modules/a.node\n`);
  symlinkSync(cache, join(dir, "link"));
  removeOldCaches(join(dir, "link", name(5)), uid, join(dir, "processes"));
  t.same(readdirSync(cache).sort(), [name(1), name(3), name(4), name(5)]);
});

t.test("nothing is removed where processes can't be listed, and folders of others stay", async (t) => {
  const dir = cacheOfSix(t);
  const cache = join(dir, "cache");
  removeOldCaches(join(cache, name(5)), uid, join(dir, "no-processes"));
  t.equal(readdirSync(cache).length, 6);
  removeOldCaches(join(cache, name(5)), uid + 1, join(dir, "processes"));
  t.equal(readdirSync(cache).length, 6);
});
