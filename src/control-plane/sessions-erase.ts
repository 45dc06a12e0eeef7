/** Erases a session and every row that names it. Counters of events stay: they name nobody. */

import type { AuditValues } from "../contract/audit.js";
import type { SessionTable } from "../store/keys.js";
import { eraseRows } from "../store/session-erasure.js";
import type { Store } from "../store/store.js";
import { audited, changeAudited, unchanged } from "./audit.js";
import { findSession } from "./stored-session.js";

/** Rows that were erased, by table. */
export interface ErasedSession extends Readonly<Record<SessionTable, number>> {
  readonly projectId: number;
}

/**
 * Erases; null for an unknown token, or one of another project than `ofProject`. A client that still sends it is a new visitor from then on. A
 * running server may answer a cached verdict of it until that expires. Rejects when a row may be left: it is to be asked again then.
 */
export async function eraseSession(
  store: Store,
  token: string,
  ofProject: number | null = null,
): Promise<ErasedSession | null> {
  const session = await findSession(store, token, ofProject);
  if (session === null) return null;
  const { projectId } = session;
  await logDeletion(store, projectId, { sessions: 1 });
  if (store.remoteSessions !== undefined) return { projectId, ...(await store.remoteSessions.erase([session])) };
  return store.root.childTransaction(() => {
    // Another process may have erased it meanwhile.
    if (!store.sessions.doesExist(session.key)) return null;
    return { projectId, ...eraseRows(store, session) };
  });
}

/** Says in the account's log of changes that sessions of the project go, before they do: none goes unlogged. Never their tokens. */
export async function logDeletion(
  store: Store,
  projectId: number,
  after: AuditValues,
  now: () => number = Date.now,
): Promise<void> {
  await changeAudited(store, now, () => {
    const project = store.projects.get(projectId);
    if (project === undefined) return unchanged(undefined);
    const { accountId, name } = project;
    const subject = `project ${projectId} "${name}"`;
    return audited(undefined, { accountId, projectId, action: "sessions.deleted", subject, before: null, after });
  });
}
