/** Erases a session and every row that names it. Counters of events stay: they name nobody. */
import { removeSession } from "../store/expiry.js";
import { SessionCount } from "../store/session-count.js";
import type { Store } from "../store/store.js";
import { blocksOf, findSession, idempotencyRowsOf, type SessionKeys } from "./stored-session.js";

/** Rows that were erased, by table. */
export interface ErasedSession {
  readonly projectId: number;
  readonly sessions: number;
  readonly repeats: number;
  readonly blocks: number;
  readonly marks: number;
  readonly idempotency: number;
  readonly trails: number;
}

/**
 * Erases; null for an unknown token. A client that still sends it is a new visitor from then on. A running server may answer a cached
 * verdict of it until that expires.
 */
export async function eraseSession(store: Store, token: string): Promise<ErasedSession | null> {
  const found = findSession(store, token);
  return found === null ? null : store.root.childTransaction(() => eraseRows(store, found, token));
}

/** Null when the session is gone meanwhile. Call inside a write transaction. */
function eraseRows(store: Store, session: SessionKeys, token: string): ErasedSession | null {
  const { projectId, key } = session;
  if (!store.sessions.doesExist(key)) return null;
  const count = new SessionCount(store, projectId);
  const idempotency = idempotencyRowsOf(store, session);
  for (const row of idempotency) store.idempotency.removeSync(row);
  const blocks = blocksOf(store, projectId, token);
  for (const { id } of blocks) store.blocks.removeSync([projectId, id]);
  const marks = store.marks.removeSync([projectId, token]) ? 1 : 0;
  const removed = removeSession(store, key);
  count.add(-1);
  count.save();
  return { projectId, ...removed, blocks: blocks.length, marks, idempotency: idempotency.length };
}
