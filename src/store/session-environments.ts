/**
 * Opens the environments beside the main one, where a store was made with some. How many there are is written in the main one when the
 * store is made and never changes: the token of a session says which holds it, by their number.
 */
import { randomInt } from "node:crypto";
import { statSync } from "node:fs";
import { Environment } from "./environment.js";
import { bringTo } from "./schema-version.js";
import { openSessionTables, type SessionTables } from "./session-store.js";
import { StoreError } from "./store-error.js";
import { sessionsFile } from "./store-file.js";
import type { Schema } from "./upgrades.js";

/**
 * Rows of the table `meta`: how many environments there are, in all of them (absent in the main one: no others); which of them this is;
 * and a number that all of one store have, so that no file of another store is taken for one of this.
 */
const rows = { count: "sessionStores", place: "sessionStore", storeId: "storeId" } as const;

/** How many environments hold sessions, the main one included. */
export function countOf({ meta }: SessionTables): number {
  return meta.get(rows.count) ?? 1;
}

/** Makes the environments beside the main one of a new store. Call inside the transaction that makes the main one, which comes after. */
export function makeOthers(main: SessionTables, dataDir: string, count: number, schema: Schema): void {
  if (count === 1) return;
  const storeId = randomInt(1, 2 ** 47);
  for (let place = 1; place < count; place++) {
    const part = openSessionTables(new Environment(sessionsFile(dataDir, place)));
    // What a start that was cut short has left may be used; sessions can't be of this store.
    if (part.sessions.getKeysCount({ limit: 1 }) > 0) {
      void part.root.close();
      throw new StoreError(`${sessionsFile(dataDir, place)} holds sessions of another store`);
    }
    part.root.transactionSync(() => {
      part.meta.putSync(rows.count, count);
      part.meta.putSync(rows.place, place);
      part.meta.putSync(rows.storeId, storeId);
      part.meta.putSync("schemaVersion", schema.version);
    });
    void part.root.close();
  }
  main.meta.putSync(rows.storeId, storeId);
  main.meta.putSync(rows.count, count);
}

/** The environments beside the main one, brought to this schema. Throws a `StoreError` for one that is missing or of another store. */
export function openOthers(main: SessionTables, dataDir: string, schema: Schema): SessionTables[] {
  const parts: SessionTables[] = [];
  try {
    for (let place = 1; place < countOf(main); place++) {
      const file = sessionsFile(dataDir, place);
      if (statSync(file, { throwIfNoEntry: false }) === undefined) {
        throw new StoreError(`${file}, which holds a part of the sessions, is missing: restore a backup`);
      }
      const part = openSessionTables(new Environment(file));
      parts.push(part);
      const isOurs = part.meta.get(rows.storeId) === main.meta.get(rows.storeId) && part.meta.get(rows.place) === place;
      if (!isOurs) throw new StoreError(`${file} is not of this store: restore a backup, all of its files together`);
      bringTo(part, { schema, file, apply: ({ applyToSessions }) => applyToSessions?.(part), make: () => {} });
    }
    return parts;
  } catch (error) {
    for (const { root } of parts) void root.close();
    throw error;
  }
}
