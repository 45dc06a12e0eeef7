/**
 * The tables of a node's LMDB that mirror the configuration. This records what a change writes into them, and writes the cluster's rows. Any other write
 * into them is a bug, and throws.
 */
import { asBinary, type Database } from "lmdb";
import type { AuditEntry } from "../contract/audit.js";
import { followAccountRow } from "./account-rows.js";
import { type ConfigKey, type ConfigRow, configField, parseConfigField } from "./config-rows.js";
import type { Store } from "./store.js";
import { mirroredNames, tableRows, tables } from "./tables.js";

type OpenMirrored = Database<unknown, ConfigKey>;

/** What a mirror holds, by which another build's is known. */
export const mirroredTableNames = mirroredNames.map((name) => tables[name].name).join(" ");

const filtered = new Map(mirroredNames.map((name) => [tables[name].name as string, tableRows[name].isConfiguration]));

/** Whether a row of a table, by its name in LMDB, is configuration. */
function isConfiguration(table: string, key: unknown): boolean {
  return filtered.get(table)?.(key) ?? true;
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

/** The id of a row that is written only to see whether writes are observed; it is never committed. */
const probeId = 0xffff_fffe;

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
    this.#probe(store);
  }

  /** Throws if writes are not observed, because lmdb-js works otherwise than it did: changes would be answered and reach no other node. */
  #probe({ root, accounts }: Store): void {
    const undone = new Error("undone");
    let seen = 0;
    try {
      root.transactionSync(() => {
        const { rows, logged } = this.record(() => {
          (accounts as unknown as OpenMirrored).putSync(probeId, {});
          this.#audit.putSync([probeId, probeId], {} as AuditEntry);
        });
        seen = rows.length + logged.length;
        const { rows: removed } = this.record(() => (accounts as unknown as OpenMirrored).removeSync(probeId));
        seen += removed.length;
        throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    if (seen === 3) return;
    throw new Error("lmdb no longer calls put and remove: changes of the configuration would not reach the cluster");
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
        const indexed = name === tables.tokens.name ? "token" : name === tables.projects.name ? "project" : null;
        const before = indexed === null ? undefined : table.get(key);
        if (value === null) table.removeSync(key);
        else table.putSync(key, asBinary(value));
        if (indexed !== null) followAccountRow(this.#store, indexed, before as never, table.get(key) as never);
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

  /** `putSync` and `removeSync` of lmdb-js go through these. */
  #watch(name: string, table: OpenMirrored): void {
    const { put, remove } = table;
    const track = (key: ConfigKey): void => {
      if (this.#isLoading || !isConfiguration(name, key)) return;
      if (this.#written === null) throw new Error(`${configField(name, key)} is written outside of a change`);
      this.#written.set(configField(name, key), { table: name, key });
    };
    table.put = (key: ConfigKey, ...rest: unknown[]) => {
      track(key);
      return (put as (...given: unknown[]) => Promise<boolean>).call(table, key, ...rest);
    };
    table.remove = (key: ConfigKey, ...rest: unknown[]) => {
      track(key);
      return (remove as (...given: unknown[]) => Promise<boolean>).call(table, key, ...rest);
    };
  }
}
