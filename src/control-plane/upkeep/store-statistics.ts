/** Counts and sizes of a store. Reads the store's own counts, so it costs the same however much is stored. */

import { monthOf } from "../../store/keys.js";
import { schemaVersion } from "../../store/open-store.js";
import type { Store } from "../../store/store.js";
import { rowsOf } from "../../store/store-size.js";

/** Some megabytes. */
const blocksAtOnce = 2000;

/** Rows by kind, all accounts together. */
interface StoreStatistics {
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

/**
 * Counts the rows without walking the tables, but for one read of usage an account, and of a cluster all its blocks. Rejects when the cluster can't
 * be asked.
 */
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
    blocks: store.remoteSessions === undefined ? rowsOf(store.blocks) : await countBlocks(store),
    month,
    eventsThisMonth,
  };
}

/** Blocks of a cluster: it keeps no count of those that have not expired. */
async function countBlocks({ projects, recorded }: Store): Promise<number> {
  let count = 0;
  for (const projectId of [...projects.getKeys({})]) {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const page = await recorded.blocks.before(projectId, before, blocksAtOnce);
      count += page.length;
      if (page.length < blocksAtOnce) break;
      before = page.at(-1)!.id;
    }
  }
  return count;
}
