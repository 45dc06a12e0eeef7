/** The interval that a share measured on few runs deserves. Pure. */

const z95 = 1.959964;

/** Wilson's 95 % score interval of `hits` out of `runs`, both ends 0 to 1; the whole range for no runs. */
export function wilsonInterval(hits: number, runs: number): readonly [low: number, high: number] {
  if (runs === 0) return [0, 1];
  const share = hits / runs;
  const z2 = (z95 * z95) / runs;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = (z95 * Math.sqrt((share * (1 - share)) / runs + z2 / (4 * runs))) / (1 + z2);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
