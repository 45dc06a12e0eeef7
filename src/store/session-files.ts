/**
 * Stores that earlier versions split over several files (`sessions-1.mdb`, `sessions-2.mdb`, … beside the main one): their rows are merged
 * into the main file when the store is opened. A bounded number of rows a transaction, which also says how far it came: a merge that was
 * cut short goes on where it ended, and several processes that open the store take turns. The further files are read, then renamed.
 */
import { renameSync, rmSync, statSync } from "node:fs";
import type { Database } from "lmdb";
import type { Traffic } from "../contract/entities.js";
import { packCrossSessionCount, unpackCrossSessionCount } from "./cross-session-count.js";
import { Environment } from "./environment.js";
import { nameContact } from "./naming-rows.js";
import { type Schema, upgradeTo } from "./schema-version.js";
import { SessionCount } from "./session-count.js";
import { openSessionTables, type SessionTables } from "./session-tables.js";
import { StoreError } from "./store-error.js";
import { sessionsFile } from "./store-file.js";

/** The last schema whose stores may have several files. */
const splitSchema = 4;

/**
 * Rows of the table `meta`: of how many files the store is, in all of them (absent in the main one: of itself alone); which of them this
 * is; a number that all files of one store have; how far the merge came, in the main one.
 */
const splitMetaKeys = {
  count: "sessionStores",
  file: "sessionStore",
  storeId: "storeId",
  merged: "sessionFilesMerged",
} as const;

const rowsAtOnce = 1000;

interface Row<K, V> {
  readonly key: K;
  readonly value: V;
}

/** Merges rows of a further file into the main one. Call inside a write transaction. */
type Merge<K, V> = (main: SessionTables, rows: readonly Row<K, V>[]) => void;

function copied(table: "repeats" | "solvedChallenges" | "trails"): Merge<Buffer, never> {
  return (main, rows) => {
    const target = main[table] as Database<never, Buffer>;
    for (const { key, value } of rows) target.putSync(key, value);
  };
}

const copySessions: Merge<Buffer, Buffer> = (main, rows) => {
  const counts = new Map<number, SessionCount>();
  for (const { key } of rows) {
    const projectId = key.readUInt32BE(0);
    const count = counts.get(projectId) ?? new SessionCount(main, projectId);
    counts.set(projectId, count);
    count.add(1);
  }
  for (const { key, value } of rows) main.sessions.putSync(key, value);
  for (const count of counts.values()) count.save();
};

/** Their sessions have no keys in their records: they are of before schema 7. */
const copyContacts: Merge<Buffer, Buffer> = (main, rows) => {
  for (const { key, value } of rows) {
    main.idempotency.putSync(key, value);
    nameContact(main, key, value);
  }
};

const addUsage: Merge<[number, string], number> = ({ usage }, rows) => {
  for (const { key, value } of rows) usage.putSync(key, (usage.get(key) ?? 0) + value);
};

const addTraffic: Merge<[number, number], Traffic> = ({ traffic }, rows) => {
  for (const { key, value } of rows) {
    const before = traffic.get(key);
    // All else was counted in the main file only.
    const { events, sessions } = value;
    const sum = before && { ...before, events: before.events + events, sessions: before.sessions + sessions };
    traffic.putSync(key, sum ?? value);
  }
};

const addCounts: Merge<Buffer, Buffer> = ({ crossSessionCounts }, rows) => {
  for (const { key, value } of rows) {
    const before = crossSessionCounts.getBinary(key);
    const count =
      (unpackCrossSessionCount(value) ?? 0) + (before === undefined ? 0 : (unpackCrossSessionCount(before) ?? 0));
    crossSessionCounts.putSync(key, packCrossSessionCount(count));
  }
};

/**
 * How the tables of schema 4 are merged, in this order; later tables were never in several files. `meta` is not merged, because session counts follow the
 * sessions. The path-reuse index is not merged either and starts empty, because the position of a hash depended on the number of files.
 */
const merges = {
  sessions: copySessions,
  repeats: copied("repeats"),
  idempotency: copyContacts,
  trails: copied("trails"),
  solvedChallenges: copied("solvedChallenges"),
  crossSessionCounts: addCounts,
  usage: addUsage,
  traffic: addTraffic,
} as const satisfies Partial<Record<keyof SessionTables, unknown>>;

const tables = Object.keys(merges) as (keyof typeof merges)[];

/** How far a merge came: all of the files and tables before these, and the rows up to this key. */
interface Merged {
  readonly file: number;
  readonly table: number;
  readonly upTo: unknown;
}

/** Throws a `StoreError` when a file that is still to be merged is missing. Reads only. */
export function checkSessionFiles({ meta }: SessionTables, dataDir: string): void {
  for (let file = 1; file < (meta.get(splitMetaKeys.count) ?? 1); file++) presentFile(dataDir, file);
}

/** Whether a store has further files, or a merge of them was interrupted. */
export function isSplit({ meta }: SessionTables): boolean {
  return meta.get(splitMetaKeys.count) !== undefined;
}

/** Merges the further files of a store, if it has any. `schema` is this build's. Throws a `StoreError` for a file that is missing or another store's. */
export function mergeSessionFiles(main: SessionTables, dataDir: string, schema: Schema): void {
  if (!isSplit(main)) return;
  const files = new Map<number, SessionTables>();
  try {
    while (!main.root.transactionSync(() => mergeSome(main, dataDir, schema, files)));
  } finally {
    for (const { root } of files.values()) void root.close();
  }
}

/** Merges some more rows; true when nothing is left. Call inside a write transaction: nobody else opens or renames a file meanwhile. */
function mergeSome(main: SessionTables, dataDir: string, schema: Schema, files: Map<number, SessionTables>): boolean {
  const count = main.meta.get(splitMetaKeys.count);
  if (count === undefined) return true;
  const progress = main.meta as unknown as Database<Merged, string>;
  const merged = progress.get(splitMetaKeys.merged) ?? { file: 1, table: 0, upTo: null };
  if (merged.file >= count) {
    retire(main, dataDir, count);
    return true;
  }
  if (files.size === 0) {
    for (let file = merged.file; file < count; file++) files.set(file, openFile(main, dataDir, file, schema));
    main.pathReuse.clearSync();
  }
  const table = tables[merged.table]!;
  const from = files.get(merged.file)![table] as unknown as Database<unknown, Buffer>;
  const start = merged.upTo as Buffer | null;
  const range = { limit: rowsAtOnce, ...(start !== null && { start, exclusiveStart: true }) };
  const rows = [...from.getRange(range)];
  (merges[table] as Merge<Buffer, unknown>)(main, rows);
  progress.putSync(splitMetaKeys.merged, after(merged, rows));
  return false;
}

function after({ file, table }: Merged, rows: readonly Row<unknown, unknown>[]): Merged {
  if (rows.length === rowsAtOnce) return { file, table, upTo: rows.at(-1)!.key };
  return table + 1 < tables.length ? { file, table: table + 1, upTo: null } : { file: file + 1, table: 0, upTo: null };
}

function presentFile(dataDir: string, file: number): string {
  const path = sessionsFile(dataDir, file);
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  throw new StoreError(`${path}, which holds a part of the sessions, is missing: restore a backup`);
}

function openFile(main: SessionTables, dataDir: string, file: number, schema: Schema): SessionTables {
  const path = presentFile(dataDir, file);
  const opened = openSessionTables(new Environment(path));
  const { meta } = opened;
  if (
    meta.get(splitMetaKeys.storeId) !== main.meta.get(splitMetaKeys.storeId) ||
    meta.get(splitMetaKeys.file) !== file
  ) {
    void opened.root.close();
    throw new StoreError(`${path} is not of this store: restore a backup, all of its files together`);
  }
  const split = { version: splitSchema, upgrades: schema.upgrades.filter(({ to }) => to <= splitSchema) };
  upgradeTo(opened, { schema: split, file: path, apply: ({ applyToSessions }) => applyToSessions?.(opened) });
  return opened;
}

/** Renames the merged files as copies before an upgrade are named. */
function retire({ meta }: SessionTables, dataDir: string, count: number): void {
  for (let file = 1; file < count; file++) {
    const path = sessionsFile(dataDir, file);
    // Gone already when this was cut short between the renaming and the commit.
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) renameSync(path, `${path}.schema-${splitSchema}`);
    rmSync(`${path}-lock`, { force: true });
  }
  for (const key of [splitMetaKeys.count, splitMetaKeys.storeId, splitMetaKeys.merged]) meta.removeSync(key);
}
