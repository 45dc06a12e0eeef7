/** An older store is brought to the schema of a newer program, with a copy first; a newer store is refused. */

import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { StoreError } from "../../src/store/failures.js";
import { openStore, schemaVersion } from "../../src/store/open-store.js";
import type { Schema } from "../../src/store/schema-version.js";
import type { Store } from "../../src/store/store.js";
import { storeFile } from "../../src/store/store-file.js";
import { currentSchema } from "../../src/store/upgrades.js";

/** The next program: counts two steps further, each leaving a mark that says what it found. */
const newer: Schema = {
  version: schemaVersion + 2,
  upgrades: [
    ...currentSchema.upgrades,
    { to: schemaVersion + 1, apply: (store) => store.meta.putSync("first", store.meta.get("mark")! + 1) },
    { to: schemaVersion + 2, apply: (store) => store.meta.putSync("second", store.meta.get("first")! + 1) },
  ],
};

async function olderStore(dir: string): Promise<void> {
  const store = openStore(dir);
  store.meta.putSync("mark", 40);
  await store.close();
}

const marks = ({ meta }: Store) => ["schemaVersion", "mark", "first", "second"].map((name) => meta.get(name));
const copyOf = (dir: string) => `${storeFile(dir)}.schema-${schemaVersion}`;

t.test("every step is run once, in order, and the copy made before is a store of the older program", async (t) => {
  const dir = t.testdir();
  await olderStore(dir);
  for (const time of ["first", "second"]) {
    const store = openStore(dir, newer);
    t.same(marks(store), [newer.version, 40, 41, 42], `${time} opening`);
    await store.close();
  }
  const restored = join(dir, "restored");
  mkdirSync(restored);
  copyFileSync(copyOf(dir), storeFile(restored));
  const old = openStore(restored);
  t.same(marks(old), [schemaVersion, 40, undefined, undefined]);
  await old.close();
});

t.test("an older program refuses the upgraded store and changes nothing", async (t) => {
  const dir = t.testdir();
  await olderStore(dir);
  await openStore(dir, newer).close();
  t.throws(() => openStore(dir), {
    name: "StoreError",
    message: new RegExp(`written by a newer verdictd \\(schema ${newer.version}, this one reads ${schemaVersion}\\)`),
  });
  const store = openStore(dir, newer);
  t.same(marks(store), [newer.version, 40, 41, 42]);
  await store.close();
});

t.test("a step that fails leaves the store as it was", async (t) => {
  const dir = t.testdir();
  await olderStore(dir);
  const fail = (): never => {
    throw new Error("no way");
  };
  const failing = { ...newer, upgrades: [...newer.upgrades.slice(0, -1), { to: newer.version, apply: fail }] };
  t.throws(() => openStore(dir, failing), /no way/);
  const store = openStore(dir);
  t.same(marks(store), [schemaVersion, 40, undefined, undefined]);
  await store.close();
});

t.test("a missing step is refused, and a new store needs none", async (t) => {
  const dir = t.testdir();
  await olderStore(join(dir, "old"));
  t.throws(
    () =>
      openStore(join(dir, "old"), { ...newer, upgrades: newer.upgrades.filter(({ to }) => to !== schemaVersion + 1) }),
    StoreError,
  );
  t.notOk(existsSync(copyOf(join(dir, "old"))), "no copy is made for nothing");
  const made = openStore(join(dir, "new"), newer);
  t.same(marks(made), [newer.version, undefined, undefined, undefined]);
  t.notOk(existsSync(copyOf(join(dir, "new"))));
  await made.close();
});
