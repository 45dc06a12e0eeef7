/**
 * Erases a session and every row that names it. Counters of events stay: they name nobody. The log of changes says so in the same transaction; in a cluster
 * when nothing but the record is left, so that no session goes without a word and a failure has none.
 */

import type { AuditValues } from "../../contract/configuration/audit.js";
import type { Project } from "../../contract/configuration/entities.js";
import { eraseRows } from "../../store/rows-of-session.js";
import { SessionCount } from "../../store/session-count.js";
import type { Store } from "../../store/store.js";
import type { SessionTable } from "../../store/tables.js";
import { eraseExceptionsOf } from "../exceptions/exceptions.js";
import { type Audited, type AuditedChange, audited, changeAudited, unchanged } from "../logs/audit.js";
import { findSession } from "../sessions/stored-session.js";

/** Rows that were erased, by table. */
interface ErasedSession extends Readonly<Record<SessionTable, number>> {
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
  const counted = { sessions: 1 };
  if (store.remoteSessions !== undefined) {
    const log = () =>
      changeAudited(store, Date.now, () => {
        eraseExceptionsOf(store, projectId, new Set([token]));
        return logged(store, projectId, undefined, counted);
      });
    return { projectId, ...(await store.remoteSessions.erase([session], log)) };
  }
  return changeAudited<ErasedSession | null>(store, Date.now, () => {
    // Another process may have erased it meanwhile.
    if (!store.sessions.doesExist(session.key)) return unchanged(null);
    const count = new SessionCount(store, projectId);
    const erased = eraseRows(store, session, count);
    count.save();
    eraseExceptionsOf(store, projectId, new Set([token]));
    return logged(store, projectId, { projectId, ...erased }, counted);
  });
}

/** The result, with the entry for the account's audit log. The entry never has tokens. */
function logged<T>(store: Store, projectId: number, result: T, after: AuditValues): Audited<T> {
  const project = store.projects.get(projectId);
  return project === undefined ? unchanged(result) : audited(result, deletionOf(project, after));
}

/** Returns the audit entry for deleted sessions of a project. */
export function deletionOf({ id, accountId, name }: Project, after: AuditValues): AuditedChange {
  const subject = `project ${id} "${name}"`;
  return { accountId, projectId: id, action: "sessions.deleted", subject, before: null, after };
}
