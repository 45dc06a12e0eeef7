/** The native parts are loaded on this Node: without one of them the program would fail, or be slow without a word. */

import { App } from "uWebSockets.js";
import { createRequire } from "node:module";
import { open } from "lmdb";
import { isNativeAccelerationEnabled, pack, unpack } from "msgpackr";
import t from "tap";

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

t.test("verdictd's own msgpackr and that of lmdb share one native part", async (t) => {
  const fromLmdb = createRequire(createRequire(import.meta.url).resolve("lmdb"))(
    "msgpackr",
  ) as typeof import("msgpackr");
  t.equal(fromLmdb.isNativeAccelerationEnabled, true);
});
