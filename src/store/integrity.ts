/**
 * Walks every row of every table and says what is wrong: rows that can't be decoded, references that lead nowhere, counters
 * that can't be. Reads one snapshot of each environment, so changes made meanwhile by a server are no faults. It repairs nothing.
 */
import type { Transaction } from "lmdb";
import { limits } from "../limits.js";
import { rowChecks } from "./integrity-rows.js";
import { monthOf, type SignedAgentKey, sessionTableNames, tableNames } from "./keys.js";
import { sessionCountKey } from "./session-count.js";
import type { SessionStore } from "./session-store.js";
import type { Store } from "./store.js";

/** One thing that is wrong. */
export interface IntegrityFault {
  readonly table: string;
  /** The row's key as text: numbers and strings as they are, binary keys in hex. */
  readonly key: string;
  readonly fault: string;
}

export interface IntegrityReport {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly faultCount: number;
  /** The first `limits.integrityFaultsMax` of them. */
  readonly faults: readonly IntegrityFault[];
}

/** What other modules know of stored values; each says what is wrong, or null. */
export interface IntegrityChecks {
  /** Under what the tables of tokens and keys hold a secret. */
  readonly hashSecret: (secret: string) => string;
  readonly ruleSource: (source: string) => string | null;
  readonly features: (packed: Buffer) => string | null;
  readonly verifiedBots: (catalogue: unknown) => string | null;
  readonly declaredBots: (catalogue: unknown) => string | null;
  readonly ipList: (record: unknown) => string | null;
  readonly signedAgents: (value: unknown, key: SignedAgentKey) => string | null;
}

export type TableName = keyof typeof tableNames;
type Key = string | number | (string | number)[] | Buffer;

/** A table as the walk needs it: any key, any value. */
interface AnyTable {
  getStats(): object;
  getKeys(options: object): Iterable<Key>;
  get(key: Key, options: { transaction: Transaction }): unknown;
}

/** Told now and then how many of how many rows were read. */
export type Progress = (done: number, total: number) => void;

/** Rows between two reports of progress: some milliseconds. */
const rowsPerReport = 2000;

const inEveryPart: readonly TableName[] = sessionTableNames;

/** Tables of an environment, in the order of `tableNames`. */
function tablesOf({ place }: SessionStore): readonly TableName[] {
  const all = Object.keys(tableNames) as TableName[];
  return place === 0 ? all : all.filter((table) => inEveryPart.includes(table));
}

function entryCount(part: SessionStore, table: TableName): number {
  return (tableOf(part, table).getStats() as { entryCount: number }).entryCount;
}

/** `table` has to be one of `tablesOf(part)`. */
function tableOf(part: SessionStore, table: TableName): AnyTable {
  return (part as unknown as Record<TableName, AnyTable>)[table];
}

/**
 * Checks the store. Holds one snapshot of each environment and the thread for its time: about 5 µs a session. The main one's is the
 * latest: whatever the others name is in it.
 */
export function checkIntegrity(
  store: Store,
  checks: IntegrityChecks,
  onProgress: Progress = () => {},
): IntegrityReport {
  const parts = [...store.sessionStores].reverse().map((part): Part => {
    part.root.resetReadTxn();
    return { store: part, transaction: part.root.useReadTransaction(), sums: newSums() };
  });
  try {
    // Rows may come and go until the snapshot; a bar takes no harm from that.
    const rows = parts.flatMap(({ store: part }) => tablesOf(part).map((table) => entryCount(part, table)));
    const total = rows.reduce((sum, count) => sum + count, 0);
    const walk = new Walk(parts, checks, (done) => onProgress(done, total));
    for (const part of parts.reverse()) walk.part(part);
    onProgress(total, total);
    return walk.report();
  } finally {
    for (const { transaction } of parts) transaction.done();
  }
}

interface TrafficSum {
  fromHour: number;
  events: number;
}

/** What counters are held against. A batch and all that counts it are in one environment, so each has sums of its own. */
interface Sums {
  /** Events by "account/month". */
  readonly usage: Map<string, number>;
  readonly traffic: Map<number, TrafficSum>;
  readonly trafficOfMonth: Map<string, number>;
  readonly sessions: Map<number, number>;
  /** Events of a project's sessions that began in the hours that traffic is kept of. */
  readonly sessionEvents: Map<number, number>;
}

function newSums(): Sums {
  return {
    usage: new Map(),
    traffic: new Map(),
    trafficOfMonth: new Map(),
    sessions: new Map(),
    sessionEvents: new Map(),
  };
}

/** An environment, its snapshot, and what was found in it. */
interface Part {
  readonly store: SessionStore;
  readonly transaction: Transaction;
  readonly sums: Sums;
}

/** One walk over a store: reads its snapshots, gathers faults and the sums that counters are held against. */
export class Walk {
  readonly checks: IntegrityChecks;
  /** How many environments the sessions are split over. */
  readonly partCount: number;
  readonly #main: Part;
  /** The environment whose rows are being read. */
  #part: Part;
  readonly #rows: Record<string, number> = {};
  readonly #faults: IntegrityFault[] = [];
  readonly #onRows: (done: number) => void;
  #read = 0;
  #faultCount = 0;

  constructor(parts: readonly Part[], checks: IntegrityChecks, onRows: (done: number) => void) {
    this.#onRows = onRows;
    this.partCount = parts.length;
    this.#main = this.#part = parts.find(({ store }) => store.place === 0)!;
    this.checks = checks;
  }

  /** Number of the environment whose rows are being read. */
  get place(): number {
    return this.#part.store.place;
  }

  /** Reads every row of an environment, then holds its counters against each other. */
  part(part: Part): void {
    this.#part = part;
    for (const table of tablesOf(part.store)) this.table(table);
    this.counters();
  }

  /** Reads every row of a table through its check. */
  table(table: TableName): void {
    const check = rowChecks[table] as ((walk: Walk, value: unknown, key: unknown) => string | null) | undefined;
    let rows = 0;
    for (const key of tableOf(this.#part.store, table).getKeys({ transaction: this.#part.transaction })) {
      rows++;
      if (++this.#read % rowsPerReport === 0) this.#onRows(this.#read);
      try {
        const fault = check?.(this, this.get(table, key), key) ?? null;
        if (fault !== null) this.#fault(table, key, fault);
      } catch (error) {
        this.#fault(table, key, `can't be read: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.#rows[tableNames[table]] = (this.#rows[tableNames[table]] ?? 0) + rows;
  }

  /** A row of this environment; of a table that only the main one has, there. */
  get(table: TableName, key: Key): unknown {
    const { store, transaction } = inEveryPart.includes(table) ? this.#part : this.#main;
    return tableOf(store, table).get(key, { transaction });
  }

  /** A field of the record at `key`; undefined when there is none. */
  field(table: TableName, key: Key, name: string): unknown {
    const value = this.get(table, key);
    return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  }

  missing(table: TableName, id: number): string | null {
    return this.get(table, id) === undefined ? `names ${table} ${id}, which is missing` : null;
  }

  countUsage(accountId: number, month: string, events: number): void {
    this.#part.sums.usage.set(`${accountId}/${month}`, events);
  }

  countTraffic(projectId: number, hour: number, events: number): void {
    const { traffic, trafficOfMonth } = this.#part.sums;
    const sum = traffic.get(projectId) ?? { fromHour: hour, events: 0 };
    traffic.set(projectId, { fromHour: Math.min(sum.fromHour, hour), events: sum.events + events });
    const month = `${String(this.field("projects", projectId, "accountId"))}/${monthOf(hour * 3_600_000)}`;
    trafficOfMonth.set(month, (trafficOfMonth.get(month) ?? 0) + events);
  }

  /** Call after the traffic table: only sessions that began in its hours can be held against it. */
  countSession(projectId: number, firstSeenMs: number, events: number): void {
    const { sessions, traffic, sessionEvents } = this.#part.sums;
    sessions.set(projectId, (sessions.get(projectId) ?? 0) + 1);
    const from = traffic.get(projectId)?.fromHour ?? Number.POSITIVE_INFINITY;
    const isCounted = firstSeenMs >= from * 3_600_000;
    if (isCounted) sessionEvents.set(projectId, (sessionEvents.get(projectId) ?? 0) + events);
  }

  /** Every event of a session was counted in an hour, every event of an hour in its month; rows expire, so less may be left. */
  counters(): void {
    const { usage, traffic, trafficOfMonth, sessions, sessionEvents } = this.#part.sums;
    const { store, transaction } = this.#main;
    for (const key of tableOf(store, "projects").getKeys({ transaction })) {
      const counted = this.get("meta", sessionCountKey(Number(key)));
      const stored = sessions.get(Number(key)) ?? 0;
      if (counted !== undefined && counted !== stored)
        this.#fault("meta", sessionCountKey(Number(key)), `says ${String(counted)} sessions, there are ${stored}`);
    }
    for (const [projectId, events] of sessionEvents) {
      const counted = traffic.get(projectId)?.events ?? 0;
      if (events > counted)
        this.#fault("traffic", projectId, `sessions hold ${events} events, ${counted} were counted`);
    }
    for (const [month, events] of trafficOfMonth) {
      const counted = usage.get(month);
      if (counted !== undefined && events > counted) {
        this.#fault("usage", month, `projects counted ${events} events, the account only ${counted}`);
      }
    }
  }

  report(): IntegrityReport {
    return { rows: this.#rows, faultCount: this.#faultCount, faults: this.#faults };
  }

  #fault(table: TableName, key: Key, fault: string): void {
    this.#faultCount++;
    if (this.#faults.length >= limits.integrityFaultsMax) return;
    this.#faults.push({ table: tableNames[table], key: keyText(key), fault });
  }
}

function keyText(key: Key): string {
  return Buffer.isBuffer(key) ? key.toString("hex") : Array.isArray(key) ? key.join("/") : String(key);
}
