/** Counts and sizes of a store. Reads the store's own counts, so it costs the same however much is stored. */
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

/** Counts the rows without walking the tables, but for one read of usage an account. Rejects when the cluster of the store can't be asked. */
export async function storeStatistics(store: Store, nowMs: number): Promise<StoreStatistics> {
  const month = monthOf(nowMs);
  let eventsThisMonth = 0;
  for (const accountId of [...store.accounts.getKeys({})]) {
    eventsThisMonth += await store.counts.eventsInMonth(accountId, month);
  }
  return {
    schemaVersion,
    accounts: rowsOf(store.accounts),
    users: rowsOf(store.users),
    tokens: rowsOf(store.tokens),
    projects: rowsOf(store.projects),
    rules: rowsOf(store.rules),
    sessions: (await store.remoteSessions?.count([...store.projects.getKeys({})])) ?? rowsOf(store.sessions),
    blocks: rowsOf(store.blocks),
    month,
    eventsThisMonth,
  };
}
