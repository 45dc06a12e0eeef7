/**
 * What is recorded of a project or account, whatever keeps it: LMDB on one host, or a cluster, where every node reads and writes the same rows.
 * Their rules (what is recorded, who may see it, pages) are in `control-plane`; here is only what of it has to be atomic.
 */
import type { AuditEntry } from "../contract/audit.js";
import type { Block } from "../contract/entities.js";
import type { SessionMark } from "../contract/marks.js";
import type { Timeline } from "../contract/timeline.js";

/** A block before it has an id and a count. */
export type NewBlock = Omit<Block, "id" | "count">;

/** What is counted together: blocks of one subject, rule and minute. */
export interface BlockTally {
  /** `blockTallyKey`. */
  readonly key: Buffer;
  readonly projectId: number;
  readonly sessionToken: string | null;
  /** Records that it may have; further blocks raise the count of the last. */
  readonly recordsMax: number;
  /** The last record as far as it is known here; 0: none is. */
  readonly lastId: number;
}

/** What is written of a tally beside its new blocks. */
export interface TallyChange {
  readonly tally: BlockTally;
  /** Blocks that only raise the count of its last record. */
  readonly further: number;
  /** Ids of answers that the last record gets. */
  readonly references: readonly string[];
}

/** What a write made of a tally. */
export interface WrittenTally {
  /** Records of it that are stored. */
  readonly records: number;
  /** The last of them; 0: there is none. */
  readonly lastId: number;
  /** Blocks that were stored, by a record of their own or in its count; 0 when its session was erased. */
  readonly stored: number;
}

/** Recorded blocks, with tallies that bound how many there are of a subject, rule and minute. */
export interface RecordedBlocks {
  /**
   * Stores blocks of these tallies, in their order and with ids in that order; those for which a tally has no record left raise a count. Blocks of
   * sessions that were erased are dropped. All tallies of `blocks` are in `changes`; the outcomes are in the order of `changes`. Rejects
   * when it can't be written.
   */
  write(
    blocks: readonly { readonly block: NewBlock; readonly tally: BlockTally }[],
    changes: readonly TallyChange[],
    nowMs: number,
  ): Promise<WrittenTally[]>;
  /** Blocks of a project with ids below this one, the latest first: `count` of them, or all there are. */
  before(projectId: number, id: number, count: number): Promise<readonly Block[]>;
}

/** Marks by project and session; at most one for each session. */
export interface RecordedMarks {
  /** Null when there is none. */
  find(projectId: number, token: string): Promise<SessionMark | null>;
  /** Tokens of the project's marked sessions, in any order. */
  tokens(projectId: number): Promise<string[]>;
  /** All marks of a project, in any order. */
  all(projectId: number): Promise<Iterable<SessionMark>>;
  /** Marks a session, or changes its mark, while the session is there and the project has fewer than `max` others. */
  put(mark: SessionMark, max: number): Promise<"put" | "full" | "gone">;
  /** False when there was none. */
  remove(projectId: number, token: string): Promise<boolean>;
}

/** Reads the changes of an account's configuration. */
export interface RecordedChanges {
  /** Changes of an account with ids below this one, the latest first: `count` of them, or all there are. */
  before(accountId: number, id: number, count: number): Promise<readonly AuditEntry[]>;
}

/** What is folded into one session's timeline. */
export interface TimelinePiece {
  readonly projectId: number;
  /** `sessionKey`. */
  readonly key: Buffer;
  /** The timeline with the piece. May be called several times. */
  readonly fold: (before: Timeline | null) => Timeline;
}

/** Timelines of the latest sessions; what is written is a piece for each accepted batch. */
export interface RecordedTimelines {
  read(key: Buffer): Promise<Timeline | null>;
  /** Folds pieces into the timelines of sessions that are still there, then keeps to the latest `sessionsMax` sessions of each project. */
  fold(pieces: readonly TimelinePiece[], sessionsMax: number): Promise<void>;
  /** Forgets all timelines of these projects. */
  forget(projectIds: Iterable<number>): Promise<void>;
}

/** The four kinds of recorded rows of a store: those of LMDB, or those of the cluster. */
export interface RecordedRows {
  readonly blocks: RecordedBlocks;
  readonly marks: RecordedMarks;
  readonly audit: RecordedChanges;
  readonly timelines: RecordedTimelines;
}
