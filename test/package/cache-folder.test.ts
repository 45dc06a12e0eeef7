/** The folder that the executable unpacks into: private, whole, and repaired when it is not. */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readCacheFlag } from "../../scripts/package/bootstrap/cache-flag.js";
import { type Archive, CacheFailure, cacheFolders, unpack } from "../../scripts/package/bootstrap/cache-folder.js";

const uid = process.getuid!();
const contents = { "a/b/one.js": "one", "empty.txt": "", "two.js": "two of them" };

function archive(): Archive & { unpacked: number } {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const files = Object.entries(contents).map(([path, text]) => ({ path, bytes: text.length, sha256: sha256(text) }));
  return {
    unpacked: 0,
    manifest: JSON.stringify({ version: "1.2.3", files }),
    contents() {
      this.unpacked++;
      return Buffer.from(Object.values(contents).join(""));
    },
  };
}

const found = (folder: string) =>
  Object.fromEntries(Object.keys(contents).map((path) => [path, readFileSync(join(folder, path), "utf8")]));

t.test(
  "every file is there with its contents, in a folder of this user only; a second start unpacks nothing",
  async (t) => {
    const packed = archive();
    const { folder, hasWritten } = unpack(packed, [join(t.testdir(), "cache")], uid);
    t.ok(hasWritten);
    t.match(folder, /\/cache\/1\.2\.3-[0-9a-f]{16}$/);
    t.same(found(folder), contents);
    t.equal(statSync(folder).mode & 0o777, 0o700);
    t.same(unpack(packed, [join(t.testdirName, "cache")], uid), { folder, hasWritten: false });
    t.equal(packed.unpacked, 1);
  },
);

t.test("whatever was damaged is as packed after the next start", async (t) => {
  const cache = t.testdir();
  const { folder } = unpack(archive(), [cache], uid);
  const one = join(folder, "a/b/one.js");
  const damages: Record<string, () => void> = {
    "a byte changed": () => writeFileSync(one, "onf"),
    "a file cut short": () => writeFileSync(one, ""),
    "a file gone": () => rmSync(one),
    "a folder gone": () => rmSync(join(folder, "a"), { recursive: true }),
    "a file in place of a folder": () => {
      rmSync(join(folder, "a"), { recursive: true });
      writeFileSync(join(folder, "a"), "");
    },
    "a folder in place of a file": () => {
      rmSync(one);
      mkdirSync(one);
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    damage();
    t.same(unpack(archive(), [cache], uid), { folder, hasWritten: true }, name);
    t.same(found(folder), contents, name);
    t.same(readdirSync(join(folder, "a/b")), ["one.js"], `${name}: nothing is left over`);
  }
});

t.test("a folder that others can read is not used, the next one is", async (t) => {
  const dir = t.testdir({ second: {} });
  const name = unpack(archive(), [join(dir, "first")], uid).folder.slice(-22);
  chmodSync(join(dir, "first", name), 0o755);
  t.equal(unpack(archive(), [join(dir, "first"), join(dir, "second")], uid).folder, join(dir, "second", name));
  t.throws(() => unpack(archive(), [join(dir, "first")], uid), CacheFailure);
});

t.test("a folder whose parent everybody can write in is not used", async (t) => {
  const dir = t.testdir();
  chmodSync(dir, 0o777);
  t.throws(() => unpack(archive(), [dir], uid), { name: "CacheFailure", message: /others can write in/ });
});

t.test(
  "the folder that was asked for is the only one; else the user's cache comes before a temporary one",
  async (t) => {
    const env = { XDG_CACHE_HOME: "/xdg", HOME: "/home/a" };
    t.same(cacheFolders("/asked", env, 7, "/tmp"), ["/asked"]);
    t.same(cacheFolders(undefined, env, 7, "/tmp"), ["/xdg/verdictd", "/tmp/verdictd-7"]);
    t.same(cacheFolders(undefined, { HOME: "/home/a" }, 7, "/tmp"), ["/home/a/.cache/verdictd", "/tmp/verdictd-7"]);
    t.same(cacheFolders(undefined, { XDG_CACHE_HOME: "relative" }, 7, "/tmp"), ["/tmp/verdictd-7"]);
  },
);

t.test("--cache-dir is taken out of the command line, wherever it stands", async (t) => {
  const env = { VERDICTD_CACHE_DIR: "/env" };
  t.same(readCacheFlag(["stats", "--json"], env), { folder: "/env", rest: ["stats", "--json"] });
  t.same(readCacheFlag(["--cache-dir", "/a", "stats"], env), { folder: "/a", rest: ["stats"] });
  t.same(readCacheFlag(["stats", "--cache-dir=/a", "--json"], {}), { folder: "/a", rest: ["stats", "--json"] });
  t.same(readCacheFlag(["x", "--", "--cache-dir", "/a"], {}), {
    folder: undefined,
    rest: ["x", "--", "--cache-dir", "/a"],
  });
  for (const args of [["--cache-dir"], ["--cache-dir="], ["--cache-dir", "--json"]])
    t.equal(readCacheFlag(args, {}), null);
});
