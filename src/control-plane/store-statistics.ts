/** Counts and sizes of a store. Reads LMDB's own counts, so it costs the same however much is stored. */
import { monthOf } from "../store/keys.js";
import { rowsOf, sumOver } from "../store/session-stores.js";
import { type Store, schemaVersion } from "../store/store.js";

export interface StoreStatistics {
  readonly schemaVersion: number;
  readonly accounts: number;
  readonly users: number;
  readonly tokens: number;
  readonly projects: number;
  readonly rules: number;
  readonly sessions: number;
  readonly blocks: number;
  /** Calendar month (UTC) of `eventsThisMonth`. */
  readonly month: string;
  /** Events accepted this month, all accounts. */
  readonly eventsThisMonth: number;
}

export function storeStatistics(store: Store, nowMs: number): StoreStatistics {
  const month = monthOf(nowMs);
  let eventsThisMonth = 0;
  for (const accountId of store.accounts.getKeys({})) {
    eventsThisMonth += sumOver(store, ({ usage }) => usage.get([accountId, month]) ?? 0);
  }
  return {
    schemaVersion,
    accounts: rows(store.accounts),
    users: rows(store.users),
    tokens: rows(store.tokens),
    projects: rows(store.projects),
    rules: rows(store.rules),
    sessions: rowsOf(store, "sessions"),
    blocks: rows(store.blocks),
    month,
    eventsThisMonth,
  };
}

function rows(table: { getStats(): object }): number {
  return (table.getStats() as { entryCount: number }).entryCount;
}
