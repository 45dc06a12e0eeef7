/** The native parts are loaded on this Node: without one of them the program would fail, or be slow without a word. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import { isNativeAccelerationEnabled, pack, unpack } from "msgpackr";
import t from "tap";
import { App, isNewerRelease } from "../../src/http/uws.js";

const loaded = (): string[] => {
  const { sharedObjects } = process.report!.getReport() as unknown as { sharedObjects: string[] };
  return sharedObjects;
};

t.test("uWebSockets.js, lmdb and msgpackr run their native parts", async (t) => {
  const app = App();
  app.close();
  const store = open<string, string>({ path: `${t.testdir()}/store` });
  await store.put("a", "b");
  t.equal(store.get("a"), "b");
  await store.close();
  t.same(unpack(pack({ a: ["b"] })), { a: ["b"] });
  t.equal(isNativeAccelerationEnabled, true);
  const files = loaded();
  for (const part of [/\/uws_linux_\w+\.node$/, /\/@lmdb\/lmdb-[^/]+\/.*\.node$/, /\/@msgpackr-extract\/.*\.node$/])
    t.ok(
      files.some((file) => part.test(file)),
      `${part} is among the loaded files`,
    );
});

t.test("the newer uWebSockets.js is loaded where glibc has what it wants, and the older nowhere else", async (t) => {
  const { header } = process.report!.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const [, minor = "0"] = (header.glibcVersionRuntime ?? "2.0").split(".");
  t.equal(isNewerRelease, Number(minor) >= 38, `glibc ${header.glibcVersionRuntime}`);
  const files = loaded().filter((file) => file.includes("/uws_linux_"));
  t.match(files, [isNewerRelease ? /uWebSockets\.js-next/ : /uWebSockets\.js\/dist/], "one of them only");
});

t.test("the documentation names each native part with its hash", async (t) => {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
  const text = readFileSync(join(root, "src/docs/operations.md"), "utf8");
  const folders: Record<string, string> = {
    "uws-pack": "uWebSockets.js/dist/bin",
    "@btc-vision/uwebsockets.js": "uWebSockets.js-next",
    "@lmdb/lmdb-linux-x64": "@lmdb/lmdb-linux-x64",
    "@msgpackr-extract/msgpackr-extract-linux-x64": "@msgpackr-extract/msgpackr-extract-linux-x64",
  };
  const rows = [...text.matchAll(/^\| (\S+) ([0-9.]+) +\| `(\S+\.node)` +\| `([0-9a-f]{64})` +\|$/gm)];
  t.same(new Set(rows.map(([, name]) => name)), new Set(Object.keys(folders)));
  for (const [, name, version, file, hash] of rows) {
    const folder = join(root, "node_modules", folders[name!]!);
    // Parts of another machine's are not installed.
    if (!existsSync(folder)) continue;
    t.equal(
      createHash("sha256")
        .update(readFileSync(join(folder, file!)))
        .digest("hex"),
      hash,
      `${name} ${file}`,
    );
    const manifest = join(folder, name === "uws-pack" ? "../../package.json" : "package.json");
    t.equal(JSON.parse(readFileSync(manifest, "utf8")).version, version);
  }
});

t.test("verdictd's own msgpackr and that of lmdb share one native part", async (t) => {
  const fromLmdb = createRequire(createRequire(import.meta.url).resolve("lmdb"))(
    "msgpackr",
  ) as typeof import("msgpackr");
  t.equal(fromLmdb.isNativeAccelerationEnabled, true);
});
