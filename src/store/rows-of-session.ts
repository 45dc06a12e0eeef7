/** The rows of a session in all tables, as these say: for the sweep, for erasure and for `session show`. */
import { isIssuedToken } from "../contract/sessions/issued-token.js";
import { erasedTokenHash, erasedTokenValue } from "./erased-token.js";
import { idempotencyDay, idempotencyKey, type SessionKeys } from "./keys.js";
import { unname } from "./naming-rows.js";
import type { SessionCount } from "./session-count.js";
import type { Store } from "./store.js";
import type { SessionRowKey } from "./table.js";
import { type BesideTable, ofBeside, type SessionTable, sessionTableNames, tableRows, tables } from "./tables.js";

interface AnyRows {
  removeSync(key: SessionRowKey): boolean;
}

/** Removes a session's own rows. Call inside a write transaction, with `sessionKey`, and lower the session count. */
export function removeSession(store: Store, key: Uint8Array): void {
  for (const table of sessionTableNames) {
    const rows = tableRows[table].ofSession;
    if (rows === null || !("own" in rows)) continue;
    for (const row of rows.own(key)) (store[table] as unknown as AnyRows).removeSync(row);
  }
}

/** Returns the keys of a session's rows in a table; own rows may be missing. */
export function rowKeys(store: Store, table: SessionTable, session: SessionKeys): SessionRowKey[] {
  const rows = tableRows[table].ofSession;
  if (rows === null) return [];
  return "naming" in rows ? rows.naming(store, session) : rows.own(session.key);
}

/** Returns the rows that a session has beside its record, by table. */
export function rowsBeside(store: Store, key: Uint8Array): Record<BesideTable, readonly unknown[]> {
  return ofBeside((table) => {
    const values: unknown[] = tables[table].ofSession.own(key).map((row) => store[table].get(row));
    return values.filter((value) => value !== undefined);
  });
}

/**
 * Removes every row that names a session, and counts it off with `count`, which the caller saves. Returns the removed rows by table. Call inside a write
 * transaction. Reads and removes what the session has, however many others there are.
 */
export function eraseRows(store: Store, session: SessionKeys, count: SessionCount): Record<SessionTable, number> {
  // All are found before the first goes: the record says where others are.
  const found = sessionTableNames.map((table) => [table, rowKeys(store, table, session)] as const);
  unname(store, session.key);
  const erased = found.map(([table, keys]) => {
    const target = store[table] as unknown as AnyRows;
    return [table, keys.filter((key) => target.removeSync(key)).length] as const;
  });
  const byTable = Object.fromEntries(erased) as Record<SessionTable, number>;
  count.add(-byTable.sessions);
  rememberErased(store, session);
  return byTable;
}

/** A token that was issued before its session began would begin it again: remembered until it has expired. */
function rememberErased({ idempotency, projects }: Store, { projectId, token }: SessionKeys): void {
  const nowMs = Date.now();
  const project = projects.get(projectId);
  if (project === undefined || !isIssuedToken(project, token, nowMs)) return;
  idempotency.putSync(
    idempotencyKey(idempotencyDay(nowMs), projectId, erasedTokenHash(token)),
    erasedTokenValue(nowMs),
  );
}
