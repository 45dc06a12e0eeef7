/** Rows of the audit log. They are appended in the transaction of the change itself, so neither exists without the other. */
import type { AuditEntry } from "../contract/audit.js";
import { limits } from "../limits.js";
import { nextId, type Store } from "./store.js";

/** A change before it gets its number. */
export type NewAuditEntry = Omit<AuditEntry, "id">;

/** Appends to the account's log and removes its oldest entry when it is full. Returns the new number. Call inside a write transaction. */
export function putAuditEntry(store: Store, entry: NewAuditEntry): number {
  const { accountId } = entry;
  const id = nextId(store, `audit:${accountId}`);
  store.audit.putSync([accountId, id], { id, ...entry });
  store.audit.removeSync([accountId, id - limits.auditEntriesMax]);
  return id;
}
