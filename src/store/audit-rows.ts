/** Rows of the log of changes: appended in the transaction of the change itself, so that none is without the other. */
import type { AuditEntry } from "../contract/audit.js";
import { limits } from "../limits.js";
import { nextId, type Store } from "./store.js";

/** A change before it has its number. */
export type NewAuditEntry = Omit<AuditEntry, "id">;

/** Appends to the account's log, whose oldest entry goes when it is full; the new number. Call inside a write transaction. */
export function putAuditEntry(store: Store, entry: NewAuditEntry): number {
  const { accountId } = entry;
  const id = nextId(store, `audit:${accountId}`);
  store.audit.putSync([accountId, id], { id, ...entry });
  store.audit.removeSync([accountId, id - limits.auditEntriesMax]);
  return id;
}
