/** How rows of points are made on the usual path of a body, and from packed points. */
import type { PointRow } from "./events.js";

/**
 * A row that V8 keeps as three doubles, whole numbers too. Rows of either kind, as literals would be, are worse than both: compiled code that has met both
 * makes a new list of each row of small integers before it reads it.
 */
export function doubleRow(t: number, x: number, y: number): PointRow {
  const row: PointRow = [0.5, 0.5, 0.5];
  row[0] = t;
  row[1] = x;
  row[2] = y;
  return row;
}
