/** What commands do with a store of an older version, which a server may use: they refuse it and change nothing. */
import { readdirSync } from "node:fs";
import t from "tap";
import { openStore, openStoreAsIs, schemaVersion } from "../../src/store/open-store.js";
import { command } from "../support/process.js";

t.test("a store of an older version is upgraded by a server only", async (t) => {
  const dir = t.testdir();
  const store = openStore(dir);
  store.root.transactionSync(() => store.meta.putSync("schemaVersion", schemaVersion - 1));
  await store.close();
  const files = readdirSync(dir);
  const text = new RegExp(
    `older verdictd \\(schema ${schemaVersion - 1}, this one reads ${schemaVersion}\\), and only serve upgrades`,
  );
  t.throws(() => openStoreAsIs(dir), { name: "StoreError", message: text });
  for (const words of [["check"], ["stats"], ["account", "list"]]) {
    const { code, stdout, stderr } = await command([...words, "--data-dir", dir]);
    t.match({ code, stdout }, { code: 1, stdout: "" }, words.join(" "));
    t.match(stderr, text);
    t.equal(stderr.trim().split("\n").length, 1, "one line");
  }
  t.same(readdirSync(dir), files, "no copy was made");
});

t.test("a new store is made, and a current one opened", async (t) => {
  const dir = t.testdir();
  await openStoreAsIs(dir).close();
  const again = openStoreAsIs(dir);
  t.equal(again.meta.get("schemaVersion"), schemaVersion);
  await again.close();
});
