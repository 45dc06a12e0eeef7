/**
 * The unit of work on LMDB: reads and writes the tables of one environment inside a write transaction that the caller holds. What many
 * batches add to is summed up and written once, by `save`. One object serves a scoring thread for all its transactions, one after another.
 */
import type { Traffic } from "../contract/entities.js";
import { packCrossSessionCount, unpackCrossSessionCount } from "../store/cross-session-count.js";
import { repeatsKey, sightingKey, writeSightingHour } from "../store/keys.js";
import { countSessionsIn, SessionCount } from "../store/session-count.js";
import type { SessionStore } from "../store/session-store.js";
import { freshenOthers, sumOverOthers } from "../store/session-stores.js";
import { LmdbPathReuseIndex } from "./lmdb-path-reuse-index.js";
import { type CrossSessionKind, crossSessionKinds, type UnitOfWork } from "./unit-of-work.js";

interface UsageRow {
  readonly accountId: number;
  readonly month: string;
  readonly before: number;
  readonly elsewhere: number;
  added: number;
}

interface TrafficRow {
  readonly projectId: number;
  readonly hour: number;
  events: number;
  sessions: number;
}

interface ProjectSessions {
  readonly own: SessionCount;
  readonly elsewhere: number;
}

export class LmdbUnitOfWork implements UnitOfWork {
  readonly paths: LmdbPathReuseIndex;
  readonly #store: SessionStore;
  readonly #usage = new Map<string, UsageRow>();
  readonly #traffic = new Map<string, TrafficRow>();
  readonly #sessions = new Map<number, ProjectSessions>();
  #lastUsage: UsageRow | null = null;
  #lastTraffic: TrafficRow | null = null;

  constructor(store: SessionStore, paths = new LmdbPathReuseIndex(store)) {
    this.#store = store;
    this.paths = paths;
  }

  /** Call at the start of each transaction, inside of it. */
  begin(): void {
    freshenOthers(this.#store);
  }

  /** Writes the sums. Call at the end of the transaction, inside of it. */
  save(): void {
    for (const { accountId, month, before, added } of this.#usage.values()) {
      if (added > 0) this.#store.usage.putSync([accountId, month], before + added);
    }
    for (const row of this.#traffic.values()) this.#saveTraffic(row);
    this.paths.save();
    for (const { own } of this.#sessions.values()) own.save();
    this.#clear();
  }

  /** Forgets what was summed up and remembered in a transaction that was undone. */
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
    const hashes = this.#store.repeats.getBinaryFast(repeatsKey(sessionKey, generation)) as Buffer | undefined;
    // The buffer that lmdb-js reads into is longer than its `length`, which it sets to that of the value.
    return hashes?.subarray(0, hashes.length);
  }

  putSeenIds(sessionKey: Buffer, generation: 0 | 1, hashes: Buffer): void {
    this.#store.repeats.putSync(repeatsKey(sessionKey, generation), hashes);
  }

  idempotent(key: Buffer): Buffer | undefined {
    return this.#store.idempotency.getBinary(key);
  }

  putIdempotent(key: Buffer, token: Buffer): void {
    this.#store.idempotency.putSync(key, token);
  }

  countAcross(kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number {
    const store = this.#store;
    const key = sightingKey(hour, crossSessionKinds[kind], projectId, hash);
    const before = readCount(store, key);
    store.sightings.putSync(key, packCrossSessionCount(before + 1));
    const elsewhere = sumOverOthers(store, (part) => readCount(part, key));
    writeSightingHour(key, hour - 1);
    return before + 1 + elsewhere + readCount(store, key) + sumOverOthers(store, (part) => readCount(part, key));
  }

  eventsInMonth(accountId: number, month: string): number {
    const { before, elsewhere } = this.#usageRow(accountId, month);
    return before + elsewhere;
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
    const { own, elsewhere } = this.#projectSessions(projectId);
    return own.value + elsewhere;
  }

  addSession(projectId: number): void {
    this.#projectSessions(projectId).own.add(1);
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
      const elsewhere = sumOverOthers(this.#store, (part) => part.usage.get([accountId, month]) ?? 0);
      row = { accountId, month, before, elsewhere, added: 0 };
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
    const after: Traffic = {
      verdicts: {},
      actions: {},
      // What HTTP threads have counted of the hour.
      ...before,
      events: (before?.events ?? 0) + events,
      sessions: (before?.sessions ?? 0) + sessions,
    };
    this.#store.traffic.putSync([projectId, hour], after);
  }

  #projectSessions(projectId: number): ProjectSessions {
    let counted = this.#sessions.get(projectId);
    if (counted === undefined) {
      const own = new SessionCount(this.#store, projectId);
      counted = { own, elsewhere: sumOverOthers(this.#store, (part) => countSessionsIn(part, projectId)) };
      this.#sessions.set(projectId, counted);
    }
    return counted;
  }
}

function readCount({ sightings }: SessionStore, key: Buffer): number {
  const bytes = sightings.getBinaryFast(key) as Buffer | undefined;
  return bytes === undefined ? 0 : (unpackCrossSessionCount(bytes) ?? 0);
}
