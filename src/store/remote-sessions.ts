/** Sessions with all their rows where these lie in a cluster: for who is shown or erases all that is stored of a visitor, or counts. */
import type { SessionKeys, SessionTable } from "./keys.js";
import type { Retention } from "./retention.js";

/** What lies of a session beside its logs. */
export interface RemoteRows {
  readonly record: Buffer;
  /** Request ids that rows of their own hold. */
  readonly spilledIds: number;
  /** First contacts whose `Idempotency-Key` resolves to it. */
  readonly idempotencyKeys: number;
}

/** Implemented by `cluster-sessions.ts`; a store of a single host has none. */
export interface RemoteSessions {
  /** The first of these keys (`sessionKey`) that there is a session of; null: none. Rejects when that can't be known. */
  find(keys: readonly Buffer[]): Promise<Buffer | null>;
  /** Null: there is none. Rejects when they can't be read. */
  read(session: SessionKeys): Promise<RemoteRows | null>;
  /**
   * Removes every row that names one of these sessions; how many went, by table. Rejects when one may be left: it is to be asked again then.
   * `onLast` is called when nothing but the records is left.
   */
  erase(sessions: readonly SessionKeys[], onLast: () => Promise<void>): Promise<Record<SessionTable, number>>;
  /**
   * Removes what has outlived its retention, and of projects with too many sessions the oldest; how many went. One node at a time does so: null where
   * another one does. `isStopping` ends it early.
   */
  sweep(
    projectIds: readonly number[],
    retention: Pick<Retention, "sessionMs" | "sessionsMax">,
    nowMs: number,
    isStopping: () => boolean,
  ): Promise<number | null>;
  /** How many sessions these projects have. Rejects when they can't be counted. */
  count(projectIds: readonly number[]): Promise<number>;
}
