/**
 * The numbers that a thread counts in: an array in shared memory, written by that thread alone and read by the scrape of the
 * first thread. Counting is an addition to an array element; nothing is sent, locked or allocated for a request.
 */

/** Shared memory for `count` numbers, all 0. Can be posted to another thread. */
export function newCells(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT);
}

/** Element by element, the sum of several threads' numbers. All have `count` of them. */
export function sumCells(buffers: readonly SharedArrayBuffer[], count: number): Float64Array {
  const sum = new Float64Array(count);
  for (const buffer of buffers) {
    const cells = new Float64Array(buffer);
    for (let index = 0; index < count; index++) sum[index]! += cells[index]!;
  }
  return sum;
}

/** Where a histogram lies: one cell a bucket (not cumulated), one for what is above the last bound, one for the sum. */
interface HistogramShape {
  /** Upper bounds in ms, ascending, inclusive. */
  readonly boundsMs: readonly number[];
}

/** How many cells such a histogram takes. */
export const histogramCells = ({ boundsMs }: HistogramShape): number => boundsMs.length + 2;

/** Counts one duration. About 3 ns for the short ones, which the bounds are ordered for. */
export function observe(cells: Float64Array, at: number, boundsMs: readonly number[], ms: number): void {
  let bucket = 0;
  while (bucket < boundsMs.length && ms > boundsMs[bucket]!) bucket++;
  cells[at + bucket]!++;
  cells[at + boundsMs.length + 1]! += ms;
}
