/**
 * All tables of the store. A new table is a row of a file in `tables/`: it is opened, expires, is erased, checked, mirrored and described from there. Tables of
 * the control plane hold msgpackr records under ordered keys (numbers, strings, arrays of them); the tables that ingest and verdict reads touch have binary
 * keys and packed values. Keys are built in `keys.ts`, of a cluster's rows in `cluster-store/keys.ts`.
 *
 * Numbers in binary keys are big-endian, so that order by key is order by number; a token starts with its time of creation, so that sessions lie in the order
 * of their first contact: new ones share pages, old ones are a prefix. The rows that every session adds to `idempotency` and `sightings` are kept small, since
 * they lie in no order and leave a third of their pages empty.
 */
import type { Environment } from "./environment.js";
import type { StoredTable } from "./table.js";
import { accountTables } from "./tables/accounts.js";
import { countTables } from "./tables/counts.js";
import { sessionTables } from "./tables/sessions.js";
import { settingTables } from "./tables/settings.js";

/** The row of each table. In this order they are checked: counts before the sessions that are compared with them. */
export const tables = { ...settingTables, ...accountTables, ...countTables, ...sessionTables } as const;

type AllTables = typeof tables;

/**
 * A table as code names it, and as answers do (`erased`, `check --json`): so `repeats`, request ids that were seen, and `trails`, timelines, keep their
 * names. `name` in its row is its name in LMDB.
 */
export type TableName = keyof AllTables;

/** Tables with rows of sessions. */
export type SessionTable = { [T in TableName]: AllTables[T]["ofSession"] extends null ? never : T }[TableName];

/** Those that name sessions beside something else. */
export type NamingTable = {
  [T in SessionTable]: AllTables[T]["ofSession"] extends { readonly naming: unknown } ? T : never;
}[SessionTable];

/** Those with rows of a session's own beside its record. */
export type BesideTable = Exclude<SessionTable, NamingTable | "sessions">;

/** What an operator is shown of them. */
export type ShownRows = {
  readonly [T in BesideTable]: AllTables[T]["ofSession"] extends { readonly shown: (rows: never) => infer R }
    ? R
    : never;
};

/** Tables whose rows are configuration, which each node of a cluster mirrors. */
type MirroredTable = {
  [T in TableName]: AllTables[T]["onCluster"] extends "configuration" ? T : never;
}[TableName];

/** Tables whose rows are in a cluster alone, where there is one. */
export type ClusterTable = { [T in TableName]: AllTables[T]["onCluster"] extends "rows" ? T : never }[TableName];

/** Tables that a sweep removes rows of. */
export type SweptTable = {
  [T in TableName]: AllTables[T]["expiry"] extends string ? never : T;
}[TableName];

type Opened<F> = F extends { readonly opened?: infer D } ? Exclude<D, undefined> : never;

/** Rows of configuration are written by `putSync` and `removeSync` alone, which `mirrored-tables.ts` observes: others don't compile. */
type Observed = { readonly [M in "put" | "remove" | "clearSync" | "clearAsync" | "dropSync" | "drop"]: never };

/** The environment with its tables open. */
export type Tables = { readonly root: Environment } & {
  readonly [T in TableName]: Opened<AllTables[T]["form"]> & (T extends MirroredTable | "audit" ? Observed : unknown);
};

/** The rows of all tables, alike. */
export const tableRows: Readonly<Record<TableName, StoredTable<Tables>>> = tables;

/** All tables, in their order. */
export const tableNames = Object.keys(tables) as TableName[];

/** Those of sessions, in their order. */
export const sessionTableNames = tableNames.filter((name): name is SessionTable => tableRows[name].ofSession !== null);

/** Those of sessions beside their record, in their order. */
export const besideNames = sessionTableNames.filter((name): name is BesideTable => {
  const rows = tableRows[name].ofSession;
  return rows !== null && "own" in rows && rows.shown !== null;
});

/** What an operator is shown of a session, by the rows that it has in each table beside its record. */
export function shownOf(rows: Readonly<Record<BesideTable, readonly unknown[]>>): ShownRows {
  return ofBeside((name) => tables[name].ofSession.shown(rows[name] as readonly never[])) as ShownRows;
}

/** A record of something of each table of `besideNames`. */
export function ofBeside<V>(of: (table: BesideTable) => V): Record<BesideTable, V> {
  return Object.fromEntries(besideNames.map((table) => [table, of(table)])) as Record<BesideTable, V>;
}

/** The mirrored ones, in their order. */
export const mirroredNames = tableNames.filter(
  (name): name is MirroredTable => tableRows[name].onCluster === "configuration",
);

/** Opens all tables of an environment; makes those that are missing. */
export function openTables(root: Environment): Tables {
  const opened = tableNames.map((table) => {
    const { name, form } = tableRows[table];
    return [table, root.openDB({ name, ...form })];
  });
  return { root, ...Object.fromEntries(opened) } as Tables;
}
