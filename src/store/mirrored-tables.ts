/**
 * The tables of a node's LMDB that mirror the configuration. This records what a change writes into them, and writes the cluster's rows. Any other write
 * into them is a bug, and throws. It puts functions of its own in place of the two that write, in this thread and on a node alone. To write by a function
 * of ours instead would change some sixty calls in `src` and as many in tests, which the compiler already holds to these two (`Observed` in `tables.ts`).
 */
import { asBinary, type Database } from "lmdb";
import type { AuditEntry } from "../contract/configuration/audit.js";
import { type ConfigKey, type ConfigRow, configField, parseConfigField } from "./config-rows.js";
import type { Store } from "./store.js";
import { mirroredNames, tableRows, tables } from "./tables.js";

type OpenMirrored = Database<unknown, ConfigKey>;

/** What a mirror holds, by which another build's is known. */
export const mirroredTableNames = mirroredNames.map((name) => tables[name].name).join(" ");

const rowsByName = new Map(mirroredNames.map((name) => [tables[name].name as string, tableRows[name]]));

/** Whether a row of a table, by its name in LMDB, is configuration. */
function isConfiguration(table: string, key: unknown): boolean {
  return rowsByName.get(table)?.isConfiguration?.(key) ?? true;
}

/** Returns the whole configuration of a store in the cluster's form. Reads one snapshot. */
export function configurationOf(store: Store): ConfigRow[] {
  store.root.resetReadTxn();
  return mirroredNames.flatMap((name) => {
    const table = store[name] as unknown as OpenMirrored;
    const keys = [...table.getKeys({})].filter((key) => isConfiguration(tables[name].name, key));
    return keys.map((key) => ({ field: configField(tables[name].name, key), value: table.getBinary(key) ?? null }));
  });
}

/** An entry of the log of changes that a change wrote. */
interface LoggedEntry {
  readonly accountId: number;
  readonly id: number;
  readonly entry: AuditEntry;
}

/** The result of a change. */
export interface RecordedChange<T> {
  readonly result: T;
  readonly rows: readonly ConfigRow[];
  /** For the log of the cluster: the mirror keeps none. */
  readonly logged: readonly LoggedEntry[];
}

/** One per thread that changes the configuration. It knows only the writes that it observed. */
export class MirroredTables {
  readonly #store: Store;
  readonly #audit: Store["audit"];
  readonly #tables = new Map<string, OpenMirrored>();
  #written: Map<string, { readonly table: string; readonly key: ConfigKey }> | null = null;
  #isLoading = false;

  /** Starts to observe the tables of this store in this thread. */
  constructor(store: Store) {
    this.#store = store;
    this.#audit = store.audit;
    this.#watch(tables.audit.name, store.audit as unknown as OpenMirrored);
    for (const name of mirroredNames) {
      const table = store[name] as unknown as OpenMirrored;
      this.#tables.set(tables[name].name, table);
      this.#watch(tables[name].name, table);
    }
  }

  /** Runs `change` and returns its effect on the tables. Call inside a write transaction. */
  record<T>(change: () => T): RecordedChange<T> {
    const written = new Map<string, { table: string; key: ConfigKey }>();
    this.#written = written;
    try {
      const result = change();
      const rows: ConfigRow[] = [];
      const logged: LoggedEntry[] = [];
      for (const [field, { table, key }] of written) {
        if (table === tables.audit.name) logged.push(this.#loggedEntry(key as [number, number]));
        else rows.push({ field, value: this.#tables.get(table)!.getBinary(key) ?? null });
      }
      return { result, rows, logged };
    } finally {
      this.#written = null;
    }
  }

  #loggedEntry(key: [number, number]): LoggedEntry {
    return { accountId: key[0], id: key[1], entry: this.#audit.get(key)! };
  }

  /** Puts and removes rows. Call inside a write transaction. */
  load(rows: readonly ConfigRow[]): void {
    this.#isLoading = true;
    try {
      for (const { field, value } of rows) {
        const { table: name, key } = parseConfigField(field);
        const table = this.#tables.get(name);
        // A row of a newer node. A build that knows the table reads everything again.
        if (table === undefined) continue;
        const follow = rowsByName.get(name)?.follow;
        const before = follow === undefined ? undefined : table.get(key);
        if (value === null) table.removeSync(key);
        else table.putSync(key, asBinary(value));
        follow?.(this.#store, before as never, table.get(key) as never);
      }
    } finally {
      this.#isLoading = false;
    }
  }

  /** Replaces all rows with these; equal rows are not written. Call inside a write transaction. */
  replace(rows: readonly ConfigRow[]): void {
    const wanted = new Map(rows.map((row) => [row.field, row]));
    const removed: ConfigRow[] = [];
    for (const [name, table] of this.#tables) {
      for (const key of table.getKeys({})) {
        if (!isConfiguration(name, key)) continue;
        const field = configField(name, key);
        const value = wanted.get(field)?.value;
        if (value === undefined || value === null) removed.push({ field, value: null });
        else if (table.getBinary(key)?.equals(value)) wanted.delete(field);
      }
    }
    this.load([...removed, ...wanted.values()]);
  }

  /** Observes the ways in which a table of the control plane is written. */
  #watch(name: string, table: OpenMirrored): void {
    const track = (key: ConfigKey): void => {
      if (this.#isLoading || !isConfiguration(name, key)) return;
      if (this.#written === null) throw new Error(`${configField(name, key)} is written outside of a change`);
      this.#written.set(configField(name, key), { table: name, key });
    };
    const { putSync, removeSync } = table;
    table.putSync = (key: ConfigKey, ...value: unknown[]) => {
      track(key);
      return (putSync as (...given: unknown[]) => boolean).call(table, key, ...value);
    };
    table.removeSync = (key: ConfigKey) => {
      track(key);
      return (removeSync as (given: ConfigKey) => boolean).call(table, key);
    };
  }
}
