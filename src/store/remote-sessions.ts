/** Sessions in a cluster with all their rows: to show, erase or count them. */
import type { SessionKeys } from "./keys.js";
import type { Retention } from "./retention.js";
import type { SessionTable, ShownRows } from "./tables.js";

/** The stored rows of a session, apart from logs. */
export interface RemoteRows {
  readonly record: Buffer;
  /** What is shown of the rows beside it. */
  readonly beside: ShownRows;
  /** First contacts whose `Idempotency-Key` resolves to it. */
  readonly idempotencyKeys: number;
}

/** Implemented by `cluster-sessions.ts`; a store of a single host has none. */
export interface RemoteSessions {
  /** Returns the first of these keys (`sessionKey`) with a session, or null. Rejects if that can't be determined. */
  find(keys: readonly Buffer[]): Promise<Buffer | null>;
  /** Returns null if there is no session. Rejects if the rows can't be read. */
  read(session: SessionKeys): Promise<RemoteRows | null>;
  /**
   * Removes every row that names one of these sessions. Returns the number of removed rows by table. Rejects if one may be left: call it again then. Calls
   * `onLast` when only the records are left.
   */
  erase(sessions: readonly SessionKeys[], onLast: () => Promise<void>): Promise<Record<SessionTable, number>>;
  /**
   * Removes expired sessions, and the oldest ones of projects with too many. Returns how many were removed, or null if another node is doing it.
   * `isStopping` ends it early.
   */
  sweep(
    projectIds: readonly number[],
    retention: Pick<Retention, "sessionMs" | "sessionsMax">,
    nowMs: number,
    isStopping: () => boolean,
  ): Promise<number | null>;
  /** Returns how many sessions these projects have. Rejects if they can't be counted. */
  count(projectIds: readonly number[]): Promise<number>;
}
