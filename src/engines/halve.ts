/** How sums over a session stay bounded. */

/** Sums are halved once their count goes beyond. */
export const sumsMax = 8192;

/** Halves sums and their counts together, so that means and deviations stay what they are. */
export function halve(n: number[], positions: readonly number[]): void {
  for (const position of positions) n[position] = n[position]! / 2;
}
