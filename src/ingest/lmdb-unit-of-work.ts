/**
 * The unit of work on LMDB: reads and writes the store's tables inside a write transaction that the caller holds. Counters that many batches raise
 * are summed up and written once, by `save`. One object serves all transactions of a scoring thread, one after another.
 */
import { packCrossSessionCount, unpackCrossSessionCount } from "../store/cross-session-count.js";
import { crossSessionKey, seenIdsKey, writeCrossSessionHour } from "../store/keys.js";
import { SessionCount } from "../store/session-count.js";
import type { Tables } from "../store/tables.js";
import { LmdbPathReuseIndex } from "./lmdb-path-reuse-index.js";
import { type CrossSessionKind, crossSessionKinds, type UnitOfWork } from "./unit-of-work.js";

interface UsageRow {
  readonly accountId: number;
  readonly month: string;
  readonly before: number;
  added: number;
}

interface TrafficRow {
  readonly projectId: number;
  readonly hour: number;
  events: number;
  sessions: number;
}

/** One per scoring thread. `save` ends a transaction; call `discard` after one that was undone. */
export class LmdbUnitOfWork implements UnitOfWork {
  readonly paths: LmdbPathReuseIndex;
  readonly #store: Tables;
  readonly #usage = new Map<string, UsageRow>();
  readonly #traffic = new Map<string, TrafficRow>();
  readonly #sessions = new Map<number, SessionCount>();
  #lastUsage: UsageRow | null = null;
  #lastTraffic: TrafficRow | null = null;

  constructor(store: Tables) {
    this.#store = store;
    this.paths = new LmdbPathReuseIndex(store);
  }

  /** Writes the sums. Call at the end of the transaction, inside of it. */
  save(): void {
    for (const { accountId, month, before, added } of this.#usage.values()) {
      if (added > 0) this.#store.usage.putSync([accountId, month], before + added);
    }
    for (const row of this.#traffic.values()) this.#saveTraffic(row);
    this.paths.save();
    for (const count of this.#sessions.values()) count.save();
    this.#clear();
  }

  /** Forgets the sums and caches of a transaction that was undone. */
  discard(): void {
    this.#clear();
    this.paths.forget();
  }

  beginBatch(): void {}

  session(key: Buffer): Buffer | undefined {
    return this.#store.sessions.getBinaryFast(key) as Buffer | undefined;
  }

  putSession(key: Buffer, record: Buffer): void {
    this.#store.sessions.putSync(key, record);
  }

  seenIds(sessionKey: Buffer, generation: 0 | 1): Buffer | undefined {
    const hashes = this.#store.repeats.getBinaryFast(seenIdsKey(sessionKey, generation)) as Buffer | undefined;
    // The buffer that lmdb-js reads into is longer than its `length`, which lmdb-js sets to the value's length.
    return hashes?.subarray(0, hashes.length);
  }

  putSeenIds(sessionKey: Buffer, generation: 0 | 1, hashes: Buffer): void {
    this.#store.repeats.putSync(seenIdsKey(sessionKey, generation), hashes);
  }

  idempotent(key: Buffer): Buffer | undefined {
    return this.#store.idempotency.getBinary(key);
  }

  putIdempotent(key: Buffer, token: Buffer): void {
    this.#store.idempotency.putSync(key, token);
  }

  countAcross(kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number {
    const store = this.#store;
    const key = crossSessionKey(hour, crossSessionKinds[kind], projectId, hash);
    const before = readCount(store, key);
    store.crossSessionCounts.putSync(key, packCrossSessionCount(before + 1));
    writeCrossSessionHour(key, hour - 1);
    return before + 1 + readCount(store, key);
  }

  eventsInMonth(accountId: number, month: string): number {
    return this.#usageRow(accountId, month).before;
  }

  addTraffic(
    accountId: number,
    month: string,
    projectId: number,
    hour: number,
    events: number,
    sessions: number,
  ): void {
    this.#usageRow(accountId, month).added += events;
    const traffic = this.#trafficRow(projectId, hour);
    traffic.events += events;
    traffic.sessions += sessions;
  }

  sessionCount(projectId: number): number {
    return this.#sessionsOf(projectId).value;
  }

  addSession(projectId: number): void {
    this.#sessionsOf(projectId).add(1);
  }

  shardOf(): null {
    return null;
  }

  #clear(): void {
    this.#usage.clear();
    this.#traffic.clear();
    this.#sessions.clear();
    this.#lastUsage = null;
    this.#lastTraffic = null;
  }

  #usageRow(accountId: number, month: string): UsageRow {
    const last = this.#lastUsage;
    if (last !== null && last.accountId === accountId && last.month === month) return last;
    const name = `${accountId}/${month}`;
    let row = this.#usage.get(name);
    if (row === undefined) {
      const before = this.#store.usage.get([accountId, month]) ?? 0;
      row = { accountId, month, before, added: 0 };
      this.#usage.set(name, row);
    }
    this.#lastUsage = row;
    return row;
  }

  #trafficRow(projectId: number, hour: number): TrafficRow {
    const last = this.#lastTraffic;
    if (last !== null && last.projectId === projectId && last.hour === hour) return last;
    const name = `${projectId}/${hour}`;
    let row = this.#traffic.get(name);
    if (row === undefined) {
      row = { projectId, hour, events: 0, sessions: 0 };
      this.#traffic.set(name, row);
    }
    this.#lastTraffic = row;
    return row;
  }

  #saveTraffic({ projectId, hour, events, sessions }: TrafficRow): void {
    if (events === 0 && sessions === 0) return;
    const before = this.#store.traffic.get([projectId, hour]);
    this.#store.traffic.putSync([projectId, hour], {
      verdicts: {},
      actions: {},
      // Includes the hour's counts from HTTP threads.
      ...before,
      events: (before?.events ?? 0) + events,
      sessions: (before?.sessions ?? 0) + sessions,
    });
  }

  #sessionsOf(projectId: number): SessionCount {
    let count = this.#sessions.get(projectId);
    if (count === undefined) {
      count = new SessionCount(this.#store, projectId);
      this.#sessions.set(projectId, count);
    }
    return count;
  }
}

function readCount({ crossSessionCounts }: Tables, key: Buffer): number {
  const bytes = crossSessionCounts.getBinaryFast(key) as Buffer | undefined;
  return bytes === undefined ? 0 : (unpackCrossSessionCount(bytes) ?? 0);
}
