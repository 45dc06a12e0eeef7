/** Counts and sizes of a store. Reads LMDB's own counts, so it costs the same however much is stored. */
import { monthOf } from "../store/keys.js";
import { type Store, schemaVersion } from "../store/store.js";
import { rowsOf } from "../store/store-size.js";

/** Rows by kind, all accounts together. */
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

/** Counts the rows without walking the tables, but for one read of usage an account. */
export function storeStatistics(store: Store, nowMs: number): StoreStatistics {
  const month = monthOf(nowMs);
  let eventsThisMonth = 0;
  for (const accountId of store.accounts.getKeys({})) {
    eventsThisMonth += store.usage.get([accountId, month]) ?? 0;
  }
  return {
    schemaVersion,
    accounts: rowsOf(store.accounts),
    users: rowsOf(store.users),
    tokens: rowsOf(store.tokens),
    projects: rowsOf(store.projects),
    rules: rowsOf(store.rules),
    sessions: rowsOf(store.sessions),
    blocks: rowsOf(store.blocks),
    month,
    eventsThisMonth,
  };
}
