/** Counts as clients report them. */

/** A count that a client reports of one event: none is believed beyond a thousand, so that sums stay finite. */
export function boundedCount(count: number | undefined): number {
  return Math.max(0, Math.min(1000, count ?? 0));
}
