/**
 * Walks every row of every table and reports faults: rows that can't be decoded, references that lead nowhere, impossible counters. It reads one
 * snapshot, so changes by a running server are no faults. It repairs nothing.
 */

import type { Transaction } from "lmdb";
import { hourMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import type { IntegrityChecks, IntegrityWalk, RowKey } from "./integrity-checks.js";
import { monthOf } from "./keys.js";
import { schemaVersion } from "./open-store.js";
import { sessionCountKey } from "./session-count.js";
import type { Store } from "./store.js";
import { rowsOf } from "./store-size.js";
import { type TableName, tableNames, tableRows } from "./tables.js";

/** One fault. */
export interface IntegrityFault {
  readonly table: string;
  /** The row's key as text: numbers and strings unchanged, binary keys in hex. */
  readonly key: string;
  readonly fault: string;
}

/** The result of a walk; a sound store has `faultCount` 0. */
export interface IntegrityReport {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly faultCount: number;
  /** The first `limits.integrityFaultsMax` of them. */
  readonly faults: readonly IntegrityFault[];
}

/** A table in the form that the walk needs: any key, any value. */
interface AnyTable {
  getStats(): object;
  getKeys(options: object): Iterable<RowKey>;
  get(key: RowKey, options: { transaction: Transaction }): unknown;
}

/** Called from time to time with the number of rows read, and of all rows. */
export type Progress = (done: number, total: number) => void;

/** Rows between two reports of progress: some milliseconds. */
const rowsPerReport = 2000;

function tableOf(store: Store, table: string): AnyTable {
  return (store as unknown as Readonly<Record<string, AnyTable>>)[table]!;
}

/** Checks the store. Holds a snapshot and the thread for its time: about 5 µs a session. */
export function checkIntegrity(
  store: Store,
  checks: IntegrityChecks,
  onProgress: Progress = () => {},
): IntegrityReport {
  store.root.resetReadTxn();
  const transaction = store.root.useReadTransaction();
  try {
    // The number may change until the snapshot; that does not matter for a progress bar.
    const total = tableNames.reduce((sum, table) => sum + rowsOf(tableOf(store, table)), 0);
    const walk = new Walk(store, transaction, checks, (done) => onProgress(done, total));
    for (const table of tableNames) walk.table(table);
    walk.counters();
    onProgress(total, total);
    return walk.report();
  } finally {
    transaction.done();
  }
}

interface TrafficSum {
  fromHour: number;
  events: number;
}

/** One walk over a store. It reads a snapshot, and collects faults and the sums to compare with the counters. */
class Walk implements IntegrityWalk {
  readonly checks: IntegrityChecks;
  readonly schemaVersion = schemaVersion;
  readonly #store: Store;
  readonly #transaction: Transaction;
  readonly #rows: Record<string, number> = {};
  readonly #faults: IntegrityFault[] = [];
  readonly #onRows: (done: number) => void;
  /** Events by "account/month". */
  readonly #usage = new Map<string, number>();
  readonly #traffic = new Map<number, TrafficSum>();
  readonly #trafficOfMonth = new Map<string, number>();
  readonly #sessions = new Map<number, number>();
  /** Events of a project's sessions that began in hours with stored traffic. */
  readonly #sessionEvents = new Map<number, number>();
  #read = 0;
  #faultCount = 0;

  constructor(store: Store, transaction: Transaction, checks: IntegrityChecks, onRows: (done: number) => void) {
    this.#store = store;
    this.#transaction = transaction;
    this.checks = checks;
    this.#onRows = onRows;
  }

  /** Reads every row of a table and checks it. */
  table(table: TableName): void {
    const check = tableRows[table].check as (walk: IntegrityWalk, value: unknown, key: unknown) => string | null;
    let rows = 0;
    for (const key of tableOf(this.#store, table).getKeys({ transaction: this.#transaction })) {
      rows++;
      if (++this.#read % rowsPerReport === 0) this.#onRows(this.#read);
      try {
        const fault = check(this, this.get(table, key), key);
        if (fault !== null) this.#fault(table, key, fault);
      } catch (error) {
        this.#fault(table, key, `can't be read: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.#rows[tableRows[table].name] = rows;
  }

  get(table: string, key: RowKey): unknown {
    return tableOf(this.#store, table).get(key, { transaction: this.#transaction });
  }

  /** A field of the record at `key`; undefined when there is none. */
  field(table: string, key: RowKey, name: string): unknown {
    const value = this.get(table, key);
    return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  }

  missing(table: string, id: number): string | null {
    return this.get(table, id) === undefined ? `names ${table} ${id}, which is missing` : null;
  }

  countUsage(accountId: number, month: string, events: number): void {
    this.#usage.set(`${accountId}/${month}`, events);
  }

  countTraffic(projectId: number, hour: number, events: number): void {
    const sum = this.#traffic.get(projectId) ?? { fromHour: hour, events: 0 };
    this.#traffic.set(projectId, { fromHour: Math.min(sum.fromHour, hour), events: sum.events + events });
    const month = `${String(this.field("projects", projectId, "accountId"))}/${monthOf(hour * hourMs)}`;
    this.#trafficOfMonth.set(month, (this.#trafficOfMonth.get(month) ?? 0) + events);
  }

  /** Call after the traffic table: only sessions that began in its hours can be compared with it. */
  countSession(projectId: number, firstSeenMs: number, events: number): void {
    this.#sessions.set(projectId, (this.#sessions.get(projectId) ?? 0) + 1);
    const from = this.#traffic.get(projectId)?.fromHour ?? Number.POSITIVE_INFINITY;
    const isCounted = firstSeenMs >= from * hourMs;
    if (isCounted) this.#sessionEvents.set(projectId, (this.#sessionEvents.get(projectId) ?? 0) + events);
  }

  /** Every event of a session was counted in an hour, every event of an hour in its month; rows expire, so less may be left. */
  counters(): void {
    for (const key of tableOf(this.#store, "projects").getKeys({ transaction: this.#transaction })) {
      const counted = this.get("meta", sessionCountKey(Number(key)));
      const stored = this.#sessions.get(Number(key)) ?? 0;
      if (counted !== undefined && counted !== stored)
        this.#fault("meta", sessionCountKey(Number(key)), `says ${String(counted)} sessions, there are ${stored}`);
    }
    for (const [projectId, events] of this.#sessionEvents) {
      const counted = this.#traffic.get(projectId)?.events ?? 0;
      if (events > counted)
        this.#fault("traffic", projectId, `sessions hold ${events} events, ${counted} were counted`);
    }
    for (const [month, events] of this.#trafficOfMonth) {
      const counted = this.#usage.get(month);
      if (counted !== undefined && events > counted) {
        this.#fault("usage", month, `projects counted ${events} events, the account only ${counted}`);
      }
    }
  }

  report(): IntegrityReport {
    return { rows: this.#rows, faultCount: this.#faultCount, faults: this.#faults };
  }

  #fault(table: TableName, key: RowKey, fault: string): void {
    this.#faultCount++;
    if (this.#faults.length >= limits.integrityFaultsMax) return;
    this.#faults.push({ table: tableRows[table].name, key: keyText(key), fault });
  }
}

function keyText(key: RowKey): string {
  return Buffer.isBuffer(key) ? key.toString("hex") : Array.isArray(key) ? key.join("/") : String(key);
}
