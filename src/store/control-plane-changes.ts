/** Changes of the configuration: each in one transaction, on one host or by way of the cluster that this store mirrors. */
import { type NewAuditEntry, putAuditEntry } from "./audit-rows.js";
import { raiseRevision, type Store } from "./store.js";

/** What a change of the configuration came to: it has to say what the log of changes gets, and `[]` that it gets nothing. */
export interface LoggedChange<T> {
  readonly result: T;
  readonly entries: readonly NewAuditEntry[];
}

/**
 * Runs `change` in one write transaction of its own, logs what it says and raises the revision; a thrown error undoes it all. Waits for its
 * turn without blocking the event loop while another thread writes.
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

/** As `changeControlPlane` for rows that nothing judged depends on: on one host the revision stays. */
export async function recordControlPlane<T>(store: Store, write: () => T): Promise<T> {
  if (store.changes !== undefined) return store.changes.run(write);
  return store.root.childTransaction(write);
}
