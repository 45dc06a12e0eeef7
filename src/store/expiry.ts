/**
 * Removes expired rows while the server runs, a few hundred per transaction, as the rows of the tables say. It costs the same with ten thousand and ten million
 * sessions: rows are ordered by time, so a sweep reads the old ones and stops.
 */
import type { Database } from "lmdb";
import { limits } from "../limits.js";
import type { Retention } from "./retention.js";
import { removeSession } from "./rows-of-session.js";
import type { Store } from "./store.js";
import type { RowRange } from "./table.js";
import { type SweptTable, type TableName, tableNames, tableRows } from "./tables.js";

/** Number of removed rows by table; of a session, only the record counts. */
type Swept = Readonly<Record<SweptTable, number>>;

/** Makes one pass over everything that can expire. `isStopping` ends it early, between two transactions. */
export async function sweep(
  store: Store,
  retention: Retention,
  nowMs: number,
  isStopping: () => boolean = () => false,
): Promise<Swept> {
  const swept: Partial<Record<TableName, number>> = {};
  const expiring = tableNames.flatMap((table) => {
    const { expiry } = tableRows[table];
    return typeof expiry === "string" ? [] : [{ table, expiry }];
  });
  for (const { table, expiry } of expiring) {
    swept[table] = "below" in expiry ? await removeRows(store, table, { end: expiry.below(nowMs) }, isStopping) : 0;
  }
  const common = { store, retention, nowMs, isStopping, removeSession: (key: Uint8Array) => removeSession(store, key) };
  for (const projectId of store.projects.getKeys({})) {
    for (const { table, expiry } of expiring) {
      if ("sweep" in expiry) swept[table]! += await expiry.sweep({ ...common, projectId });
      if (!("ranges" in expiry)) continue;
      for (const range of expiry.ranges({ ...common, projectId }))
        swept[table]! += await removeRows(store, table, range, isStopping);
    }
  }
  return swept as Swept;
}

/** Removes the rows of a range; returns how many. */
async function removeRows(
  store: Store,
  table: TableName,
  range: Partial<RowRange>,
  isStopping: () => boolean,
): Promise<number> {
  const rows = store[table] as unknown as Database<unknown, Buffer>;
  let removed = 0;
  for (;;) {
    const keys = [...rows.getKeys({ ...(range as { start?: Buffer; end: Buffer }), limit: limits.sweepRowsMax })];
    if (keys.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      for (const key of keys) rows.removeSync(key);
    });
    removed += keys.length;
  }
}
