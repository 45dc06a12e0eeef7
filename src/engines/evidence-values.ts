/** Values of evidence from features: undefined if nothing or too little was observed, or all values are the same. */
import { F } from "./session-features.js";

/** Whether a fact was observed. */
export function flag(value: number): boolean | undefined {
  return Number.isNaN(value) ? undefined : value === 1;
}

/** A measured value; NaN stands for one that was not observed. */
export function number(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

/** A text that was observed; `undefined` for "". */
export function text(value: string): string | undefined {
  return value === "" ? undefined : value;
}

/** Returns `sum` divided by `count`; undefined below `countMin`. */
export function ratio(sum: number, count: number, countMin: number): number | undefined {
  return count >= countMin && count > 0 ? sum / count : undefined;
}

/** Standard deviation. */
function deviation(count: number, sum: number, squares: number): number {
  const mean = sum / count;
  return Math.sqrt(Math.max(0, squares / count - mean * mean));
}

/** The same; undefined below `countMin`. */
export function spread(count: number, sum: number, squares: number, countMin: number): number | undefined {
  return count >= countMin ? deviation(count, sum, squares) : undefined;
}

/** Coefficient of variation; undefined when too few or when the mean is not positive. */
export function variation(count: number, sum: number, squares: number, countMin: number): number | undefined {
  return count >= countMin && sum > 0 ? deviation(count, sum, squares) / (sum / count) : undefined;
}

/** Standard deviation relative to a mean that may be near zero or negative: the mean counts as at least 1 ms. */
export function spreadOf(count: number, sum: number, squares: number): number {
  return deviation(count, sum, squares) / Math.max(1, Math.abs(sum / count));
}

/** Correlation of the distance with the duration of movements. */
export function movementCorrelation(n: readonly number[]): number | undefined {
  const count = n[F.movements]!;
  const meanDistance = n[F.movementDistanceSum]! / count;
  const meanTime = n[F.movementTimeSum]! / count;
  const distance = n[F.movementDistanceSquares]! / count - meanDistance * meanDistance;
  const time = n[F.movementTimeSquares]! / count - meanTime * meanTime;
  if (distance < 100 || time < 100) return undefined;
  return (n[F.movementProducts]! / count - meanDistance * meanTime) / Math.sqrt(distance * time);
}

/** Correlation of a key's hold time with the time from its release to the next press: see `foldPress`. */
export function holdGapCorrelation(n: readonly number[], countMin: number): number | undefined {
  const count = n[F.keyPairs]!;
  const dwells = deviation(count, n[F.pairDwellSum]!, n[F.pairDwellSquares]!) ** 2;
  const gaps = deviation(count, n[F.pairGapSum]!, n[F.pairGapSquares]!) ** 2;
  const both = n[F.pairGapProducts]! / count - (n[F.pairDwellSum]! / count) * (n[F.pairGapSum]! / count);
  // The time from release to press is the time from press to press minus the hold.
  const flights = gaps + dwells - 2 * both;
  if (count < countMin || !(dwells >= 1 && flights >= 1)) return undefined;
  return (both - dwells) / Math.sqrt(dwells * flights);
}

/** Correlation of a key's hold time with the next key's. */
export function holdCorrelation(n: readonly number[], countMin: number): number | undefined {
  const count = n[F.keyPairs]!;
  const mean = n[F.pairDwellSum]! / count;
  const dwells = deviation(count, n[F.pairDwellSum]!, n[F.pairDwellSquares]!) ** 2;
  if (count < countMin || !(dwells >= 1)) return undefined;
  return (n[F.pairDwellProducts]! / count - mean * mean) / dwells;
}

/** How many kinds of headers some batch lacked, among those that every browser sends in every version. */
export function missingKinds(n: readonly number[]): number {
  const language = n[F.noAcceptLanguage]!;
  const accept = n[F.noAccept]! + n[F.libraryAccept]!;
  const encoding = n[F.noAcceptEncoding]! + n[F.noBrotli]!;
  return [language, accept, encoding, n[F.noOrigin]!].filter((count) => count > 0).length;
}
