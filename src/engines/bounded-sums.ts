/** Keeps sums over a session bounded. */

/** Sums are halved when their count exceeds this. */
export const sumsMax = 8192;

/** Halves sums and their counts together, which keeps means and deviations the same. */
export function halve(n: number[], positions: readonly number[]): void {
  for (const position of positions) n[position] = n[position]! / 2;
}

/** Returns a count that a client reports for one event, cut to a thousand to keep sums finite. */
export function boundedCount(count: number | undefined): number {
  return Math.max(0, Math.min(1000, count ?? 0));
}
