/**
 * Stored sessions as HTTP threads read and change them, whatever keeps them: LMDB on one host, where every record is at hand, or a cluster,
 * whose records are loaded first. A key is a `sessionKey`.
 */

/** Which keys, in which direction, and how many at most; all of them are `sessionKey`s. */
export interface KeyRange {
  /** Where to begin, and where to end (exclusive): the greater one first if `reverse`. */
  readonly start: Buffer;
  readonly end: Buffer;
  readonly reverse?: boolean;
  readonly limit: number;
}

/** A row that is written with a change, and only if it is not there yet: what may count once. */
export interface UniqueMark {
  /** 32 hex characters. */
  readonly nonce: string;
  readonly expiresAtMs: number;
}

/** What became of a change: `used`: the mark was there. */
export type Changed = "changed" | "gone" | "used";

/** How a session is wanted: as it was a moment ago, as it is now if that can be had in time, or for certain as it is now. */
export type Freshness = "recent" | "now" | "certain";

/** Reads and changes of sessions outside of scoring. On a cluster only what `load` brought is found. */
export interface SessionRows {
  /**
   * Lets `record` find these sessions, by default `recent`. Null: they are at hand. What can't be had in time is as if it were not there, unless it
   * is wanted `certain`: then it rejects with `unavailable`.
   */
  load(keys: readonly Buffer[], freshness?: Freshness): Promise<void> | null;
  /** The record's bytes, valid until the next read; undefined: there is none, or it was not loaded. */
  record(key: Buffer): Buffer | undefined;
  /** Call after `record` found nothing at hand: resolves once it may find it; null: there is no such session. */
  later(): Promise<void> | null;
  /** Whether it is not known if there is such a session: when it was last loaded, the store did not answer in time. */
  isUnanswered(key: Buffer): boolean;
  /** Keys of sessions in the order of their bytes. Rejects with `unavailable` when they can't be read. */
  keys(range: KeyRange): Promise<Buffer[]>;
  /**
   * Replaces a record by what `change` makes of it, atomically; null leaves it. `change` may be called several times. Rejects when it can't
   * be written.
   */
  change(key: Buffer, change: (record: Buffer) => Buffer | null, mark?: UniqueMark): Promise<Changed>;
}
