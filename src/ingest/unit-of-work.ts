/**
 * What a group of batches reads and writes, on any store: LMDB's write transaction on one host, an overlay of prefetched rows on a cluster. Ingest
 * has no other way to the store. All calls are synchronous; writes take effect when the unit is committed.
 */
import type { PathReuseIndex } from "./path-reuse-index.js";

/** Kinds of cross-session counts, by their number in keys. */
export const crossSessionKinds = { address: 1, shape: 2, paths: 3, resent: 4, environment: 5, ticket: 6 } as const;
/** What is counted over the sessions of a project, per hour. */
export type CrossSessionKind = keyof typeof crossSessionKinds;

/** Created or emptied for each group, by `lmdb-unit-of-work.ts` on one host and by `cluster-unit-of-work.ts` on a cluster. */
export interface UnitOfWork {
  /**
   * Says which request of the group the following reads and writes belong to, up to the next call. A store that commits session by session drops the
   * counts of a request that has to run again. `index` is the request's index in its group.
   */
  beginBatch(index: number): void;

  /** Returns the record of a session (`sessionKey`), valid until the next read; `undefined` means that there is none. */
  session(key: Buffer): Buffer | undefined;
  /** Writes a session's record; `record` may be reused once this returns. */
  putSession(key: Buffer, record: Buffer, isNew: boolean): void;

  /**
   * Returns one generation of the request ids that a session has seen, beyond those in its record: sorted 8-byte hashes, valid until the next read or
   * write; `undefined` means that there is none.
   */
  seenIds(sessionKey: Buffer, generation: 0 | 1): Buffer | undefined;
  putSeenIds(sessionKey: Buffer, generation: 0 | 1, hashes: Buffer): void;

  /** Returns the token bytes of the session that was minted for an `Idempotency-Key` (`idempotencyKey`); `undefined` means that there is none. */
  idempotent(key: Buffer): Buffer | undefined;
  /** Records the token minted for it, together with the session: both or neither are written. */
  putIdempotent(key: Buffer, token: Buffer): void;

  /** Counts one more of something in an hour; returns how many there were in that hour and the one before, this one included. `hash` is two words. */
  countAcross(kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number;

  /** Returns the events of an account in a month ("YYYY-MM") before this unit. On a cluster slightly old. */
  eventsInMonth(accountId: number, month: string): number;
  /** Counts events and sessions of an account and its project in an hour since the epoch. */
  addTraffic(accountId: number, month: string, projectId: number, hour: number, events: number, sessions: number): void;

  /** Returns the sessions of a project, including this unit's. On a cluster slightly old. */
  sessionCount(projectId: number): number;
  /** Counts a new session of a project. */
  addSession(projectId: number): void;

  /** The pointer paths that sessions of a project have shown. */
  readonly paths: PathReuseIndex;

  /** Returns the shard of a session that is minted for an `Idempotency-Key` of this hash, 0 to 255; `null` means any. */
  shardOf(idempotencyHash: Buffer): number | null;
}
