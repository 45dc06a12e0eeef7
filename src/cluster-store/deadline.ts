/** How long a call to the cluster may take that is a part of something with an end. */

/** ms: at most `mostMs`, and until `endMs` by `performance.now()`; never below 1. */
export function deadlineWithin(mostMs: number, endMs: number): number {
  return Math.max(1, Math.min(mostMs, endMs - performance.now()));
}
