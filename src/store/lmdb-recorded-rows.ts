/** Recorded rows of one host: marks, the audit log and timelines, each in an LMDB table. Blocks are in `lmdb-recorded-blocks.ts`. */
import type { Database } from "lmdb";
import type { AuditEntry } from "../contract/configuration/audit.js";
import type { SessionMark } from "../contract/sessions/marks.js";
import { decodeSessionToken } from "../contract/sessions/session-token.js";
import type { Timeline } from "../contract/sessions/timeline.js";
import { storedRecordMismatch } from "../contract/validators.js";
import { sessionKey, sessionRange } from "./keys.js";
import type { RecordedChanges, RecordedMarks, RecordedTimelines, TimelinePiece } from "./recorded-rows.js";
import type { Tables as AllTables } from "./tables.js";

interface MarkTables extends Pick<AllTables, "root" | "sessions"> {
  readonly marks: Database<SessionMark, [number, string]>;
}

/** Marks of a single host. `put` finds the session and counts marks in one transaction. */
export class LmdbRecordedMarks implements RecordedMarks {
  readonly #tables: MarkTables;

  constructor(tables: MarkTables) {
    this.#tables = tables;
  }

  async find(projectId: number, token: string): Promise<SessionMark | null> {
    return this.#tables.marks.get([projectId, token]) ?? null;
  }

  async tokens(projectId: number): Promise<string[]> {
    return [...this.#tables.marks.getKeys(rangeOf(projectId))].map(([, token]) => token);
  }

  async all(projectId: number): Promise<Iterable<SessionMark>> {
    return this.#tables.marks.getRange(rangeOf(projectId)).map(({ value }) => value);
  }

  async put(mark: SessionMark, max: number): Promise<"put" | "full" | "gone"> {
    const { root, sessions, marks } = this.#tables;
    const { projectId, sessionToken } = mark;
    const token = decodeSessionToken(sessionToken);
    return root.childTransaction(() => {
      // It may have been erased meanwhile.
      if (token === null || !sessions.doesExist(sessionKey(projectId, token))) return "gone";
      const key: [number, string] = [projectId, sessionToken];
      if (marks.get(key) === undefined && marks.getKeysCount(rangeOf(projectId)) >= max) return "full";
      marks.putSync(key, mark);
      return "put";
    });
  }

  async remove(projectId: number, token: string): Promise<boolean> {
    return this.#tables.root.childTransaction(() => this.#tables.marks.removeSync([projectId, token]));
  }
}

function rangeOf(projectId: number): { start: [number, string]; end: [number, string] } {
  return { start: [projectId, ""], end: [projectId + 1, ""] };
}

interface ChangeTables extends Pick<AllTables, "root"> {
  readonly audit: Database<AuditEntry, [number, number]>;
}

/** The audit log of a single host. Entries are written in the transaction of the change. */
export class LmdbRecordedChanges implements RecordedChanges {
  readonly #tables: ChangeTables;

  constructor(tables: ChangeTables) {
    this.#tables = tables;
  }

  async before(accountId: number, id: number, count: number): Promise<readonly AuditEntry[]> {
    const start: [number, number] = [accountId, id];
    const end: [number, number] = [accountId, 0];
    const range = this.#tables.audit.getRange({ start, end, reverse: true, exclusiveStart: true, limit: count });
    return [...range].map(({ value }) => value);
  }

  async remove(log: number, ids: readonly number[]): Promise<void> {
    const { root, audit } = this.#tables;
    await root.childTransaction(() => {
      for (const id of ids) audit.removeSync([log, id]);
    });
  }
}

type TimelineTables = Pick<AllTables, "root" | "sessions" | "trails">;

/** Timelines of a single host. `fold` is one transaction. */
export class LmdbRecordedTimelines implements RecordedTimelines {
  readonly #tables: TimelineTables;

  constructor(tables: TimelineTables) {
    this.#tables = tables;
  }

  async read(key: Buffer): Promise<Timeline | null> {
    return this.#stored(key);
  }

  async fold(pieces: readonly TimelinePiece[], sessionsMax: number): Promise<void> {
    const { root, sessions, trails } = this.#tables;
    await root.transaction(() => {
      for (const { key, fold } of pieces) {
        // A session that was erased since has no timeline.
        if (sessions.doesExist(key)) trails.putSync(key, fold(this.#stored(key)));
      }
      for (const projectId of new Set(pieces.map((piece) => piece.projectId))) this.#dropOldest(projectId, sessionsMax);
    });
  }

  /** Removes the timelines of all projects: on one host, the option that turns them off applies to every project. */
  async forget(): Promise<void> {
    const { trails } = this.#tables;
    if (trails.getKeysCount({ limit: 1 }) > 0) await trails.clearAsync();
  }

  /** Call inside a write transaction. */
  #dropOldest(projectId: number, sessionsMax: number): void {
    const { trails } = this.#tables;
    // In the order of first contact.
    const all = [...trails.getKeys(sessionRange(projectId))];
    for (const key of all.slice(0, Math.max(0, all.length - sessionsMax))) trails.removeSync(key);
  }

  /** Null for a damaged one as well: earlier versions stored times that are no numbers. */
  #stored(key: Buffer): Timeline | null {
    const timeline = this.#tables.trails.get(key) ?? null;
    return timeline === null || storedRecordMismatch("timeline", timeline) !== null ? null : timeline;
  }
}
