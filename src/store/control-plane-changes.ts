/** Changes of the configuration: each in one transaction, on one host or by way of the cluster that this store mirrors. */
import { type NewAuditEntry, putAuditEntry } from "./audit-rows.js";
import { raiseRevision, type Store } from "./store.js";

/** The result of a change of the configuration. It must name the entries for the audit log; `[]` means none. */
export interface LoggedChange<T> {
  readonly result: T;
  readonly entries: readonly NewAuditEntry[];
}

/**
 * Runs `change` in its own write transaction, writes its audit entries and raises the revision; a thrown error undoes all of it. Does not block the event
 * loop while another thread writes.
 */
export async function changeControlPlane<T>(store: Store, change: () => LoggedChange<T>): Promise<T> {
  const logged = (): T => {
    const { result, entries } = change();
    for (const entry of entries) putAuditEntry(store, entry);
    return result;
  };
  if (store.changes !== undefined) return store.changes.run(logged);
  return store.root.childTransaction(() => {
    const result = logged();
    raiseRevision(store);
    return result;
  });
}

/** As `changeControlPlane`, for rows that no verdict depends on: on one host the revision stays. */
export async function recordControlPlane<T>(store: Store, write: () => T): Promise<T> {
  if (store.changes !== undefined) return store.changes.run(write);
  return store.root.childTransaction(write);
}
