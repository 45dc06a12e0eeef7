/**
 * Folds reaches into sums: moves without a gap, as when aiming at something. Only the rise of each reach counts, its way from the start to its
 * highest speed. The rise is taken as a distribution of way over time, and its skewness shows how the speed grew. A program with one speed formula
 * grows it alike each time, whatever corrections follow; a hand does not.
 */
import { halve } from "./bounded-sums.js";
import { F } from "./session-features.js";

/** A gap between moves that ends a reach, ms. Slow ends of easing curves have shorter gaps. */
export const reachGapMs = 90;
/** A reach has at least this length, px. A rise has at least these steps and pixels, and takes at most as long as a person aims, ms. */
const reachMin = 80;
const riseStepsMin = 5;
const riseLengthMin = 40;
const riseMsMax = 2000;
/** A busy machine delays moves for longer than this, which distorts speeds, ms: such a rise is ignored. */
const stallMs = 30;
const risesMax = 1024;

/** Adds a step of the current reach: (dx, dy) px of this `length` in `gap` ms. The features still hold the step before it. */
export function followReach(n: number[], gap: number, dx: number, dy: number, length: number): void {
  const t = n[F.reachMs]! + gap / 2;
  n[F.reachMs]! += gap;
  if (gap > stallMs) n[F.reachStalled] = 1;
  if (length === 0) return;
  n[F.reachSteps]! += 1;
  n[F.reachLength]! += length;
  const first = length * t;
  n[F.reachFirst]! += first;
  n[F.reachSecond]! += first * t;
  n[F.reachThird]! += first * t * t;
  if (n[F.reachSteps]! > 1) foldRise(n, gap + n[F.stepMs]!, dx + n[F.stepX]!, dy + n[F.stepY]!);
}

/** Over two steps, because the times of single ones are uncertain. */
function foldRise(n: number[], ms: number, dx: number, dy: number): void {
  const reached = 1000 * 1000 * (dx * dx + dy * dy);
  const known = n[F.reachPeak]! * ms;
  if (ms <= 0 || reached <= known * known) return;
  n[F.reachPeak] = Math.round(Math.sqrt(reached) / ms);
  const length = n[F.reachLength]!;
  const isLong = n[F.reachSteps]! >= riseStepsMin && length >= riseLengthMin;
  const isRise = isLong && n[F.reachMs]! <= riseMsMax && n[F.reachStalled] === 0;
  n[F.riseKnown] = isRise ? 1 : 0;
  if (!isRise) return;
  const mean = n[F.reachFirst]! / length;
  const second = n[F.reachSecond]! / length;
  const variance = second - mean * mean;
  const third = n[F.reachThird]! / length - 3 * mean * second + 2 * mean * mean * mean;
  n[F.riseSkewness] = variance > 0 ? third / (variance * Math.sqrt(variance)) : 0;
}

/** Ends the current reach at the last point, and begins one at (x, y). */
export function beginReach(n: number[], x: number, y: number): void {
  if (n[F.riseKnown] === 1) endReach(n);
  n[F.reachX] = x;
  n[F.reachY] = y;
  n[F.reachMs] = 0;
  n[F.reachSteps] = 0;
  n[F.reachLength] = 0;
  n[F.reachFirst] = 0;
  n[F.reachSecond] = 0;
  n[F.reachThird] = 0;
  n[F.reachPeak] = 0;
  n[F.reachStalled] = 0;
  n[F.riseKnown] = 0;
  n[F.riseSkewness] = 0;
}

function endReach(n: number[]): void {
  const across = Math.abs(n[F.pathX]! - n[F.reachX]!);
  const down = Math.abs(n[F.pathY]! - n[F.reachY]!);
  // Number-pad keys move along axes and diagonals, and accelerate by a fixed rule.
  const isLocked = across <= 1 || down <= 1 || Math.abs(across - down) <= 1;
  if (isLocked || across * across + down * down < reachMin * reachMin) return;
  const skewness = n[F.riseSkewness]!;
  n[F.rises]! += 1;
  n[F.riseSkewnessSum]! += skewness;
  n[F.riseSkewnessSquares]! += skewness * skewness;
  if (n[F.rises]! > risesMax) halve(n, riseSums);
}

const riseSums = [F.rises, F.riseSkewnessSum, F.riseSkewnessSquares];
