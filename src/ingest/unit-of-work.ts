/**
 * What a group of batches reads and writes, whatever keeps it: LMDB's write transaction on one host, an overlay of prefetched rows on a
 * cluster. Ingest knows no other way to the store. All of it is synchronous; what it writes takes effect when the unit is committed.
 */
import type { PathReuseIndex } from "./path-reuse-index.js";

/** Kinds of cross-session counts, by the number that stands in their keys. */
export const crossSessionKinds = { address: 1, shape: 2, paths: 3, resent: 4, environment: 5, ticket: 6 } as const;
/** What is counted over the sessions of a project, an hour at a time. */
export type CrossSessionKind = keyof typeof crossSessionKinds;

/** Made anew or emptied for each group, by `lmdb-unit-of-work.ts` on one host and by `cluster-unit.ts` on a cluster. */
export interface UnitOfWork {
  /**
   * Says of which request of the group what follows is read and written, up to the next call: a store that commits session by session
   * drops the counts of those that have to be done again. `index` is that of the request in its group.
   */
  beginBatch(index: number): void;

  /** The record of a session (`sessionKey`), valid until the next read; undefined: there is none. */
  session(key: Buffer): Buffer | undefined;
  /** Writes a session's record; `record` may be used again once this returns. */
  putSession(key: Buffer, record: Buffer, isNew: boolean): void;

  /** One generation of the request ids that a session has seen, beyond those in its record: sorted 8-byte hashes, valid until the next read or write; undefined: none. */
  seenIds(sessionKey: Buffer, generation: 0 | 1): Buffer | undefined;
  putSeenIds(sessionKey: Buffer, generation: 0 | 1, hashes: Buffer): void;

  /** Token bytes of the session that was minted for an `Idempotency-Key` (`idempotencyKey`); undefined: none. */
  idempotent(key: Buffer): Buffer | undefined;
  /** Remembers the token minted for it, beside the session: both or neither are written. */
  putIdempotent(key: Buffer, token: Buffer): void;

  /** Counts one more of something in an hour; gives how many there were in that hour and the one before, this one included. `hash` is two words. */
  countAcross(kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number;

  /** Events of an account in a month ("YYYY-MM") before this unit. On a cluster as of a moment ago. */
  eventsInMonth(accountId: number, month: string): number;
  /** Counts events and sessions of an account and its project in an hour since the epoch. */
  addTraffic(accountId: number, month: string, projectId: number, hour: number, events: number, sessions: number): void;

  /** Sessions that a project has, those of this unit included. On a cluster as of a moment ago. */
  sessionCount(projectId: number): number;
  /** Counts a new session of a project. */
  addSession(projectId: number): void;

  /** Pointer paths that sessions of a project have shown. */
  readonly paths: PathReuseIndex;

  /** The shard that a session minted for an `Idempotency-Key` of this hash belongs to, 0 to 255; null: any. */
  shardOf(idempotencyHash: Buffer): number | null;
}
