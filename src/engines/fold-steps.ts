/**
 * Folds the steps of a path into sums: how similar neighbouring steps are, how they turn, whether their length follows their duration, and how
 * movements (steps without a pause) run and end. session-evidence.ts interprets the sums.
 */

import { halve } from "./bounded-sums.js";
import { beginReach, followReach, reachGapMs } from "./fold-reaches.js";
import { beginSpan, foldSpan } from "./fold-spans.js";
import { F } from "./session-features.js";

/** A pause that ends a movement, ms. */
const movementPauseMs = 250;
/** Least size of a movement for measuring its straightness. */
const movementStepsMin = 5;
const movementChordMin = 30;
/** Least size of a movement for measuring its end. */
const spurtStepsMin = 6;
const spurtStepMin = 4;
const abruptShare = 0.6;
/** Faster than a hand moves for more than an instant, px a ms; clocks are too coarse for shorter intervals. */
const leapSpeed = 12;
const leapMsMin = 6.5;
/** Steps shorter than this are mostly rounding, px. */
const longStepMin = 8;
const turnStepMin = 3;
const paceStepMin = 4;
/** A hand comes to rest in steps shorter than this, px. */
const slowStepMax = 3;
/** Length of steps in which swerves are sought, px: shorter ones are mostly rounding, longer ones mostly the clock's error. */
const swerveStepMin = 6;
const swerveStepMax = 32;
/** A swerve is at least this far to the side, px: more than the rounding to whole pixels can add up to. */
const swerveMin = 2.5;
/** Durations must differ by this much, as a logarithm, to test whether lengths follow them. */
const paceContrastMin = 0.25;
/** A move this long across a pause is a jump, px. */
const jumpMin = 120;
/** Maximum of a movement's peak speed, as a multiple of its mean. */
const peakMax = 16;
/** Sums of peaks are stored as whole multiples of this fraction, which packs them into few bytes. */
const peakUnit = 1 / 64;
/** Sums are halved at these counts: ratios stay the same, sums stay exact, and recent behaviour counts more. */
const stepsMax = 16384;
const movementsMax = 1024;

/** Adds a move of the pointer from the last point to (x, y), `gap` ms after it. */
export function foldStep(n: number[], gap: number, x: number, y: number): void {
  if (gap >= 1 && gap <= 100) {
    n[F.gaps]! += 1;
    n[F.gapSum]! += gap;
    n[F.gapSquares]! += gap * gap;
  }
  const dx = x - n[F.pathX]!;
  const dy = y - n[F.pathY]!;
  const length = Math.sqrt(dx * dx + dy * dy);
  if (gap >= movementPauseMs) {
    beginMovement(n, x, y);
    n[F.resumes]! += 1;
    if (length >= jumpMin) n[F.jumps]! += 1;
    return;
  }
  if (gap >= reachGapMs) beginReach(n, x, y);
  else followReach(n, gap, dx, dy, length);
  if (length === 0) return;
  if (gap >= leapMsMin && gap <= 100 && length > leapSpeed * gap) n[F.leaps]! += 1;
  foldSpan(n, x, y, length);
  n[F.steps]! += 1;
  n[F.movementSteps]! += 1;
  n[F.movementLength]! += length;
  n[F.movementMs]! += gap;
  if (length < slowStepMax) n[F.slowSteps]! += 1;
  if (n[F.movementSteps]! > 1) foldPeak(n, gap + n[F.stepMs]!, dx + n[F.stepX]!, dy + n[F.stepY]!);
  compareSteps(n, gap, dx, dy, length);
  n[F.priorX] = n[F.stepX]!;
  n[F.priorY] = n[F.stepY]!;
  n[F.stepX] = dx;
  n[F.stepY] = dy;
  n[F.stepMs] = gap;
  if (n[F.steps]! > stepsMax) halve(n, stepSums);
}

/** Over two steps, because the times of single ones are uncertain. */
function foldPeak(n: number[], ms: number, dx: number, dy: number): void {
  const reach = 1000 * 1000 * (dx * dx + dy * dy);
  const known = n[F.movementPeak]! * ms;
  if (ms > 0 && reach > known * known) n[F.movementPeak] = Math.round(Math.sqrt(reach) / ms);
}

function compareSteps(n: number[], gap: number, dx: number, dy: number, length: number): void {
  const beforeX = n[F.stepX]!;
  const beforeY = n[F.stepY]!;
  const before = Math.sqrt(beforeX * beforeX + beforeY * beforeY);
  if (before >= turnStepMin && length >= turnStepMin) {
    n[F.turns]! += 1;
    n[F.turnSum]! += Math.abs(Math.atan2(beforeX * dy - beforeY * dx, beforeX * dx + beforeY * dy));
  }
  if (before >= paceStepMin && length >= paceStepMin) comparePace(n, gap, length / before);
  if (isSwerveStep(before * before) && isSwerveStep(length * length)) compareSides(n, dx, dy, before);
  if (before < longStepMin || length < longStepMin) return;
  const bendX = dx - beforeX;
  const bendY = dy - beforeY;
  n[F.pairs]! += 1;
  if (Math.abs(bendX) <= 1 && Math.abs(bendY) <= 1) n[F.pairsSame]! += 1;
  n[F.pairBend]! += Math.sqrt(bendX * bendX + bendY * bendY);
  n[F.pairLength]! += length;
  const priorX = n[F.priorX]!;
  const priorY = n[F.priorY]!;
  if (priorX * priorX + priorY * priorY < longStepMin * longStepMin) return;
  const jerkX = bendX - beforeX + priorX;
  const jerkY = bendY - beforeY + priorY;
  const allowed = 0.1 * length + 1.5;
  n[F.triples]! += 1;
  if (jerkX * jerkX + jerkY * jerkY < allowed * allowed) n[F.triplesSmooth]! += 1;
}

/** Bound of a squared length, px². */
function isSwerveStep(square: number): boolean {
  return square >= swerveStepMin * swerveStepMin && square <= swerveStepMax * swerveStepMax;
}

function isEven(pixels: number): boolean {
  return pixels % 2 === 0;
}

/**
 * Measures how far the step before the last one, and the current step, deviate from the line of the step between them. A hand has mass: it can't
 * swerve to one side and back from one report to the next. Positions with added noise do: of three independent errors in a row, the middle one turns
 * the path there and back.
 */
function compareSides(n: number[], dx: number, dy: number, length: number): void {
  const priorX = n[F.priorX]!;
  const priorY = n[F.priorY]!;
  if (!isSwerveStep(priorX * priorX + priorY * priorY)) return;
  const stepX = n[F.stepX]!;
  const stepY = n[F.stepY]!;
  const alongX = stepX / length;
  const alongY = stepY / length;
  const first = alongY * priorX - alongX * priorY;
  const second = alongX * dy - alongY * dx;
  n[F.swerveChances]! += 1;
  if (Math.abs(first) < swerveMin || Math.abs(second) < swerveMin) return;
  // Displays that report only every other pixel have twice the rounding.
  if (isEven(dx) && isEven(dy) && isEven(stepX) && isEven(stepY) && isEven(priorX) && isEven(priorY)) return;
  n[F.swerves]! += 1;
  if (first > 0 !== second > 0) n[F.swervesBack]! += 1;
}

/** A hand goes further in a longer interval; a program that follows a list of points does not. */
function comparePace(n: number[], gap: number, lengthRatio: number): void {
  const beforeMs = n[F.stepMs]!;
  if (gap <= 0 || beforeMs <= 0) return;
  const contrast = Math.log(gap / beforeMs);
  if (Math.abs(contrast) <= paceContrastMin) return;
  n[F.paces]! += 1;
  n[F.paceProducts]! += Math.log(lengthRatio) * contrast;
  n[F.paceSquares]! += contrast * contrast;
}

/** Ends the current movement and reach at the last point, and begins new ones at (x, y). */
export function beginMovement(n: number[], x: number, y: number): void {
  endMovement(n);
  beginSpan(n);
  beginReach(n, x, y);
  n[F.movementX] = x;
  n[F.movementY] = y;
  n[F.movementSteps] = 0;
  n[F.movementLength] = 0;
  n[F.movementMs] = 0;
  n[F.movementPeak] = 0;
  n[F.stepX] = 0;
  n[F.stepY] = 0;
  n[F.stepMs] = 0;
  n[F.priorX] = 0;
  n[F.priorY] = 0;
}

/** Adds the current movement to the sums of movements if it is long enough. */
function endMovement(n: number[]): void {
  const steps = n[F.movementSteps]!;
  if (steps < movementStepsMin) return;
  const meanStep = n[F.movementLength]! / steps;
  if (steps >= spurtStepsMin && meanStep > spurtStepMin) {
    n[F.spurts]! += 1;
    const last = Math.sqrt(n[F.stepX]! * n[F.stepX]! + n[F.stepY]! * n[F.stepY]!);
    if (last > abruptShare * meanStep) n[F.spurtsAbrupt]! += 1;
  }
  const chordX = n[F.pathX]! - n[F.movementX]!;
  const chordY = n[F.pathY]! - n[F.movementY]!;
  const chord = Math.sqrt(chordX * chordX + chordY * chordY);
  if (chord < movementChordMin) return;
  const straightness = Math.min(1, chord / n[F.movementLength]!);
  const ms = n[F.movementMs]!;
  n[F.movements]! += 1;
  n[F.straightSum]! += straightness;
  n[F.straightSquares]! += straightness * straightness;
  n[F.movementDistanceSum]! += chord;
  n[F.movementDistanceSquares]! += chord * chord;
  n[F.movementTimeSum]! += ms;
  n[F.movementTimeSquares]! += ms * ms;
  n[F.movementProducts]! += chord * ms;
  const peak = Math.min(peakMax, (n[F.movementPeak]! * ms) / (1000 * n[F.movementLength]!));
  n[F.peakSum]! += Math.round(peak / peakUnit);
  n[F.peakSquares]! += Math.round((peak * peak) / peakUnit);
  if (n[F.movements]! > movementsMax) halve(n, movementSums);
}

const stepSums = [
  F.steps,
  F.pairs,
  F.pairsSame,
  F.pairBend,
  F.pairLength,
  F.triples,
  F.triplesSmooth,
  F.turns,
  F.turnSum,
  F.paces,
  F.paceProducts,
  F.paceSquares,
  F.gaps,
  F.gapSum,
  F.gapSquares,
  F.leaps,
  F.slowSteps,
  F.swerveChances,
  F.swerves,
  F.swervesBack,
  F.spans,
  F.spanRangeSum,
];

const movementSums = [
  F.movements,
  F.straightSum,
  F.straightSquares,
  F.movementDistanceSum,
  F.movementDistanceSquares,
  F.movementTimeSum,
  F.movementTimeSquares,
  F.movementProducts,
  F.peakSum,
  F.peakSquares,
  F.spurts,
  F.spurtsAbrupt,
];
