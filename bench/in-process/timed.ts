/** Times a piece of work inside this process. */

/** What was timed, and microseconds of one call. */
export type TimedRow = readonly [what: string, micros: number];

const repeats = 7;

/** The median of seven repeats of `rounds` calls, after a warm-up of a tenth. */
export function timed(what: string, rounds: number, task: () => void): TimedRow {
  for (let round = 0; round < rounds / 10; round++) task();
  const times: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const start = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) task();
    times.push(Number(process.hrtime.bigint() - start) / 1000 / rounds);
  }
  return [what, times.sort((a, b) => a - b)[repeats >> 1]!];
}
