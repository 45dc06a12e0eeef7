/** Erases a session and every row that names it. Counters of events stay: they name nobody. */
import { eraseRows, type SessionTable } from "../store/session-erasure.js";
import type { Store } from "../store/store.js";
import { findSession } from "./stored-session.js";

/** Rows that were erased, by table. */
export interface ErasedSession extends Readonly<Record<SessionTable, number>> {
  readonly projectId: number;
}

/**
 * Erases; null for an unknown token. A client that still sends it is a new visitor from then on. A running server may answer a cached
 * verdict of it until that expires.
 */
export async function eraseSession(store: Store, token: string): Promise<ErasedSession | null> {
  const session = findSession(store, token);
  if (session === null) return null;
  return store.root.childTransaction(() => {
    // Another process may have erased it meanwhile.
    if (!store.sessions.doesExist(session.key)) return null;
    return { projectId: session.projectId, ...eraseRows(store, session) };
  });
}
