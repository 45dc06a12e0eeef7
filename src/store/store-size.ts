/** How large a store is, by LMDB's own counts: costs the same however much is stored. */
import type { Store } from "./store.js";

/** Rows of a table. */
export function rowsOf(table: { getStats(): object }): number {
  return (table.getStats() as { entryCount: number }).entryCount;
}

/** Bytes of the data file that are in use: pages up to the last one that was ever used. */
export function usedBytes({ sessions }: Store): number {
  const { lastPageNumber, pageSize } = sessions.getStats() as { lastPageNumber: number; pageSize: number };
  return (lastPageNumber + 1) * pageSize;
}
