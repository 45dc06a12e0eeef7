/**
 * Folds how far 16 steps lead: a random walk drifts away, and eyes that rest on something jitter around it. In units of a step, so that the pointer's
 * scale does not matter.
 */
import { F } from "./session-features.js";

/** Steps of a span. */
const spanStepsMax = 16;
/** A longer step is a leap of the eyes and begins a new span, px. */
const spanStepMax = 60;
/** Steps after such a leap that a filter still spends on it. */
const skippedSteps = 4;

/** Adds a step to (x, y), `length` px long, to the span under way. */
export function foldSpan(n: number[], x: number, y: number, length: number): void {
  if (length > spanStepMax) {
    beginSpan(n);
    n[F.spanSkipped] = skippedSteps;
    return;
  }
  if (n[F.spanSkipped]! > 0) {
    n[F.spanSkipped]! -= 1;
    return;
  }
  if (n[F.spanSteps] === 0) {
    n[F.spanX] = x;
    n[F.spanY] = y;
  }
  const fromX = x - n[F.spanX]!;
  const fromY = y - n[F.spanY]!;
  n[F.spanSteps]! += 1;
  n[F.spanSumX]! += fromX;
  n[F.spanSumY]! += fromY;
  n[F.spanSquares]! += fromX * fromX + fromY * fromY;
  n[F.spanWay]! += length * length;
  if (n[F.spanSteps]! < spanStepsMax) return;
  const middleX = n[F.spanSumX]! / spanStepsMax;
  const middleY = n[F.spanSumY]! / spanStepsMax;
  const spread = Math.max(0, n[F.spanSquares]! / spanStepsMax - middleX * middleX - middleY * middleY);
  n[F.spans]! += 1;
  n[F.spanRangeSum]! += (spread * spanStepsMax) / n[F.spanWay]!;
  beginSpan(n);
}

/** Drops the span under way: a pause, a click or a leap ends it. */
export function beginSpan(n: number[]): void {
  n[F.spanSteps] = 0;
  n[F.spanSumX] = 0;
  n[F.spanSumY] = 0;
  n[F.spanSquares] = 0;
  n[F.spanWay] = 0;
}
