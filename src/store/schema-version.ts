/**
 * Upgrades a store to the schema of this build when it is opened, after copying it, and refuses a store of a newer version.
 */
import { chmodSync, closeSync, constants, copyFileSync, fsyncSync, openSync, renameSync } from "node:fs";
import { StoreError } from "./failures.js";
import type { Store } from "./store.js";

/** Brings a store from schema `to - 1` to `to`. */
export interface Upgrade {
  readonly to: number;
  /** Runs inside a write transaction together with the other steps: a thrown error undoes all of them. */
  readonly apply: (store: Store) => void;
}

/** The schema that a build reads and writes. */
export interface Schema {
  readonly version: number;
  /** Ordered by `to`, without a gap up to `version`. */
  readonly upgrades: readonly Upgrade[];
}

/** If several processes open an older store at once, one upgrades it and the others wait. `file` is the store's, which is copied before. */
export function upgradeTo(store: Store, schema: Schema, file: string): void {
  const { root, meta } = store;
  if (meta.get("schemaVersion") === schema.version) return;
  root.transactionSync(() => {
    const found = meta.get("schemaVersion");
    if (found === schema.version) return;
    if (found !== undefined) {
      const steps = stepsFrom(found, schema);
      copyStore(file, `schema-${found}`);
      for (const { apply } of steps) apply(store);
    }
    meta.putSync("schemaVersion", schema.version);
  });
}

/** Throws a `StoreError` if opening the store would change what an older version has written. */
export function refuseOlder({ meta }: Store, { version }: Schema): void {
  const found = meta.get("schemaVersion");
  if (found === undefined || found >= version) return;
  throw new StoreError(
    `the store is of an older verdictd (schema ${found}, this one reads ${version}), and only serve upgrades it: start the new serve first, or use the older version`,
  );
}

function stepsFrom(found: number, { version, upgrades }: Schema): Schema["upgrades"] {
  if (found > version) {
    throw new StoreError(
      `the store was written by a newer verdictd (schema ${found}, this one reads ${version}): run that version or newer`,
    );
  }
  const steps = upgrades.filter(({ to }) => to > found);
  if (steps.length !== version - found || steps.some(({ to }, index) => to !== found + 1 + index))
    throw new StoreError(
      `the store is of schema ${found}, from which this version has no way to ${version}: open it with an earlier version first`,
    );
  return steps;
}

/** Call inside a write transaction before its first write: nobody else can write then, so the file is consistent. */
function copyStore(file: string, suffix: string): void {
  const partial = `${file}.partial`;
  copyFileSync(file, partial, constants.COPYFILE_FICLONE);
  // A copy has the rights of what it was made from, which an earlier version may have left wider.
  chmodSync(partial, 0o600);
  const descriptor = openSync(partial, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(partial, `${file}.${suffix}`);
}
