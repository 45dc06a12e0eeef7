/** Counts as clients report them. */

/** Returns a count that a client reports for one event, cut to a thousand to keep sums finite. */
export function boundedCount(count: number | undefined): number {
  return Math.max(0, Math.min(1000, count ?? 0));
}
