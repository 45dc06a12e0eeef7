/**
 * Recorded rows of a project or account, for any store: LMDB on one host, or a cluster, where every node reads and writes the same rows. The rules (what
 * is recorded, who may see it, pages) are in `control-plane`; this interface has only the operations that must be atomic.
 */
import type { AuditEntry } from "../contract/configuration/audit.js";
import type { Block } from "../contract/configuration/entities.js";
import type { SessionMark } from "../contract/sessions/marks.js";
import type { Timeline } from "../contract/sessions/timeline.js";
import type { RecordedJudged } from "./judged-rows.js";

/** A block before it gets an id and a count. */
export type NewBlock = Omit<Block, "id" | "count">;

/** What is counted together: blocks of one subject, rule and minute. */
export interface BlockTally {
  /** `blockTallyKey`. */
  readonly key: Buffer;
  readonly projectId: number;
  readonly sessionToken: string | null;
  /** Maximum number of records; further blocks raise the count of the last. */
  readonly recordsMax: number;
  /** The last known record; 0 for none. */
  readonly lastId: number;
}

/** The changes to a tally besides its new blocks. */
export interface TallyChange {
  readonly tally: BlockTally;
  /** Blocks that only raise the count of its last record. */
  readonly further: number;
  /** Ids of answers to add to the last record. */
  readonly references: readonly string[];
}

/** The state of a tally after a write. */
export interface WrittenTally {
  /** Number of its stored records. */
  readonly records: number;
  /** Id of the last record; 0 for none. */
  readonly lastId: number;
  /** Number of blocks stored, as records or in a count; 0 if the session was erased. */
  readonly stored: number;
}

/** What to store of one project at once. */
export interface ProjectBlocks {
  readonly projectId: number;
  /** In the order of arrival. */
  readonly blocks: readonly { readonly block: NewBlock; readonly tally: BlockTally }[];
  /** Has each tally once, all those of `blocks` among them. */
  readonly changes: readonly TallyChange[];
}

/** Recorded blocks, with tallies that bound how many there are of a subject, rule and minute. */
export interface RecordedBlocks {
  /**
   * Stores blocks in order, with ascending ids. If a tally has no record left, its blocks raise a count. Drops blocks of erased sessions. Returns for each
   * write its tallies, in the order of `changes`, or why it was not confirmed: it may be stored all the same. The same object given again is stored once,
   * so a caller repeats it, unchanged, before it writes anything else of that project. Rejects if nothing can be written.
   */
  write(writes: readonly ProjectBlocks[], nowMs: number): Promise<(readonly WrittenTally[] | Error)[]>;
  /** Returns up to `count` blocks of a project with ids below this one, the latest first. */
  before(projectId: number, id: number, count: number): Promise<readonly Block[]>;
  /** Returns the blocks of a session, the first one first. */
  ofSession(projectId: number, sessionToken: string): Promise<readonly Block[]>;
}

/** Marks by project and session; at most one for each session. */
export interface RecordedMarks {
  /** Null when there is none. */
  find(projectId: number, token: string): Promise<SessionMark | null>;
  /** Tokens of the project's marked sessions, in any order. */
  tokens(projectId: number): Promise<string[]>;
  /** All marks of a project, in any order. */
  all(projectId: number): Promise<Iterable<SessionMark>>;
  /** Marks a session, or changes its mark, if the session exists and the project has fewer than `max` other marks. */
  put(mark: SessionMark, max: number): Promise<"put" | "full" | "gone">;
  /** Returns false if there was none. */
  remove(projectId: number, token: string): Promise<boolean>;
}

/** The changes of an account's configuration, which the change itself appends. */
export interface RecordedChanges {
  /** Returns up to `count` changes of a log (`auditLogNumber`) with ids below this one, the latest first. */
  before(log: number, id: number, count: number): Promise<readonly AuditEntry[]>;
  /** Removes changes of a log, those that are left of these ids. */
  remove(log: number, ids: readonly number[]): Promise<void>;
}

/** A piece to fold into one session's timeline. */
export interface TimelinePiece {
  readonly projectId: number;
  /** `sessionKey`. */
  readonly key: Buffer;
  /** Returns the timeline with the piece. May be called several times. */
  readonly fold: (before: Timeline | null) => Timeline;
}

/** Timelines of the latest sessions. Each accepted batch adds a piece. */
export interface RecordedTimelines {
  read(key: Buffer): Promise<Timeline | null>;
  /** Folds pieces into the timelines of existing sessions, then keeps only the latest `sessionsMax` timelines of each project. */
  fold(pieces: readonly TimelinePiece[], sessionsMax: number): Promise<void>;
  /** Forgets all timelines of these projects. */
  forget(projectIds: Iterable<number>): Promise<void>;
}

/** All kinds of recorded rows of a store, in LMDB or in the cluster. */
export interface RecordedRows {
  readonly blocks: RecordedBlocks;
  readonly marks: RecordedMarks;
  readonly audit: RecordedChanges;
  readonly timelines: RecordedTimelines;
  readonly judged: RecordedJudged;
}
