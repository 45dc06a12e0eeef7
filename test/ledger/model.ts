/** What a store has to come to: all of it in a few maps, without rows, versions, shards or transactions. */
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { hourOf } from "../../src/store/keys.js";
import { marksMax, type PlannedBatch, tenantCount, timelinesMax } from "./operations.js";

/** A session, also one that has gone. */
export interface ModelSession {
  readonly tenant: number;
  token: string;
  readonly ids: Set<string>;
  lastSeenMs: number;
  isStored: boolean;
  path: string;
  isMarked: boolean;
  /** Entries of its timeline; 0: it has none. */
  entries: number;
  /** The count of each of its recorded blocks. */
  blocks: number[];
}

/** What a batch comes to: its session, and how many of its events are new. */
export interface Expected {
  readonly session: ModelSession;
  readonly accepted: number;
  readonly duplicates: number;
}

/** Records of a tally: further blocks raise the count of its last one. */
export const recordsMax = 2;

/** The request ids of a batch. */
export function idsOf({ ids, events }: PlannedBatch): string[] {
  return Array.from({ length: events }, (_, index) => `ids${ids}-${String(index).padStart(8, "0")}`);
}

/** The model of one run. */
export class Model {
  readonly sessions: ModelSession[] = [];
  readonly #keys = new Map<string, ModelSession>();
  readonly #nonces = new Set<number>();
  /** By tenant and hour: events, sessions, verdicts. */
  readonly hours = new Map<string, { events: number; sessions: number; verdicts: number }>();

  /** The session that an operation names; undefined before the first. */
  named(number: number): ModelSession | undefined {
    return this.sessions[number % this.sessions.length];
  }

  /** `named`: the session whose token it sends. */
  commit(batch: PlannedBatch, named: ModelSession | undefined, nowMs: number): Expected {
    const key = batch.key === null ? null : `${batch.tenant}/${batch.key}`;
    const found = [named, key === null ? undefined : this.#keys.get(key)].find(
      (each) => each?.isStored === true && each.tenant === batch.tenant,
    );
    const session = found ?? this.#made(batch.tenant, nowMs);
    if (found === undefined && key !== null) this.#keys.set(key, session);
    const ids = idsOf(batch);
    const fresh = ids.filter((id) => !session.ids.has(id));
    for (const id of fresh) session.ids.add(id);
    if (fresh.length > 0) session.lastSeenMs = Math.max(session.lastSeenMs, nowMs);
    const hour = this.hour(batch.tenant, hourOf(nowMs));
    hour.events += fresh.length;
    if (found === undefined) hour.sessions++;
    return { session, accepted: fresh.length, duplicates: ids.length - fresh.length };
  }

  /** By tenant, hour and writer. */
  readonly judged = new Map<string, string>();

  /** "" removes the row. */
  judge(tenant: number, hour: number, writer: number, row: string): void {
    const name = `${tenant}/${hour}/${writer}`;
    if (row === "") this.judged.delete(name);
    else this.judged.set(name, row);
  }

  #made(tenant: number, nowMs: number): ModelSession {
    const made: ModelSession = {
      tenant,
      token: "",
      ids: new Set(),
      lastSeenMs: nowMs,
      isStored: true,
      path: "",
      isMarked: false,
      entries: 0,
      blocks: [],
    };
    this.sessions.push(made);
    return made;
  }

  hour(tenant: number, hour: number) {
    const name = `${tenant}/${hour}`;
    const counts = this.hours.get(name) ?? { events: 0, sessions: 0, verdicts: 0 };
    this.hours.set(name, counts);
    return counts;
  }

  change(session: ModelSession, nonce: number, path: string): "changed" | "gone" | "used" {
    if (!session.isStored) return "gone";
    // What may count once is known to the shard of the session; the nonces of a run differ by session.
    const unique = nonce * 1000 + this.sessions.indexOf(session);
    if (this.#nonces.has(unique)) return "used";
    this.#nonces.add(unique);
    session.path = path;
    return "changed";
  }

  mark(session: ModelSession, isOwn: boolean): "put" | "full" | "gone" {
    if (!isOwn || !session.isStored) return "gone";
    const marks = this.sessions.filter(({ tenant, isMarked }) => tenant === session.tenant && isMarked).length;
    if (!session.isMarked && marks >= marksMax) return "full";
    session.isMarked = true;
    return "put";
  }

  unmark(session: ModelSession): boolean {
    const was = session.isMarked;
    session.isMarked = false;
    return was;
  }

  /** Only the latest sessions of each tenant that got an entry keep their timelines. */
  addEntries(sessions: readonly ModelSession[]): void {
    for (const session of sessions) if (session.isStored) session.entries++;
    for (const tenant of new Set(sessions.map((session) => session.tenant))) {
      const kept = this.sessions
        .filter((session) => session.tenant === tenant && session.entries > 0)
        .sort((one, other) => bytesOf(one).compare(bytesOf(other)));
      for (const session of kept.slice(0, Math.max(0, kept.length - timelinesMax))) session.entries = 0;
    }
  }

  block(session: ModelSession, blocks: number): number {
    if (!session.isStored) return 0;
    const records = Math.min(blocks, recordsMax);
    session.blocks.push(...Array.from({ length: records }, (_, at) => (at < records - 1 ? 1 : 1 + blocks - records)));
    return blocks;
  }

  erase(session: ModelSession, isOwn: boolean): boolean {
    if (!isOwn || !session.isStored) return false;
    this.#remove(session);
    session.isMarked = false;
    session.blocks = [];
    return true;
  }

  /** Marks and blocks stay. Only a session whose token is older than the cutoff is looked at. */
  sweep(cutoffMs: number): number {
    const old = this.sessions.filter((session) => {
      const beganS = bytesOf(session).readUInt32BE(0);
      return session.isStored && session.lastSeenMs < cutoffMs && beganS < Math.floor(cutoffMs / 1000);
    });
    for (const session of old) this.#remove(session);
    return old.length;
  }

  stored(tenant: number): ModelSession[] {
    return this.sessions.filter((session) => session.tenant === tenant && session.isStored);
  }

  #remove(session: ModelSession): void {
    session.isStored = false;
    session.entries = 0;
  }
}

/** The bytes of its token, by which sessions are in order. */
export function bytesOf({ token }: ModelSession): Buffer {
  return decodeSessionToken(token)!;
}

/** The numbers of all tenants. */
export const tenantNumbers = Array.from({ length: tenantCount }, (_, tenant) => tenant);
