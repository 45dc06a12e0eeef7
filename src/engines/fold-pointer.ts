/**
 * Folds pointer paths, clicks and touches into the features, a point at a time: a path goes on over events and batches as
 * long as its times do. Only sums and the last point are kept.
 */
import type { EventPayload, IngestEvent } from "../contract/events.js";
import { eventTimeMs } from "./event-time.js";
import { packStep } from "./path-shingles.js";
import { F, ringSize } from "./session-features.js";

/** A pause that ends a stroke, ms. */
const strokePauseMs = 250;
/** A pause after which the next point starts a new path: no step is counted across it, ms. */
const pathPauseMs = 5000;
/** Points up to this far back in time count as simultaneous: browsers deliver coalesced events a little out of order, ms. */
const disorderMs = 20;
/** A stroke needs this much to say anything about its straightness. */
const strokeStepsMin = 5;
const strokeChordMin = 30;
/** Steps shorter than this repeat in everybody's slow movements, px. */
const longStepMin = 4;
/** A single step as long as this between two pauses is a teleport, px. */
const jumpMin = 120;
/** Sums are halved when this many steps are reached: they keep their ratios, stay exact, and recent behaviour counts more. */
const stepsMax = 16384;
const holdShortMs = 15;

/** Folds a mouse, touch or click event. Returns the number of path points it held. */
export function foldPointer(n: number[], event: IngestEvent): number {
  const { payload, type } = event;
  const isTouch = type === "touch" || payload.pointer_type === "touch";
  let count = 0;
  if (payload.points !== undefined && payload.points.length > 0) {
    const startMs = eventTimeMs(event, n[F.pathT]!);
    for (const row of payload.points) foldPoint(n, startMs + row[0], row[1], row[2]);
    count = payload.points.length;
  } else if (type !== "click") {
    count = foldSinglePoint(n, event);
  }
  if (type === "click") foldClick(n, event, isTouch);
  if (isTouch && type === "touch") foldTouch(n, payload);
  foldMeasures(n, payload);
  return count;
}

function foldSinglePoint(n: number[], event: IngestEvent): number {
  const { x, y, dx, dy } = event.payload;
  if (x !== undefined && y !== undefined) foldPoint(n, eventTimeMs(event, n[F.pathT]!), x, y);
  else if (dx !== undefined && dy !== undefined) {
    foldPoint(n, eventTimeMs(event, n[F.pathT]!), n[F.pathX]! + dx, n[F.pathY]! + dy);
  } else return 0;
  return 1;
}

/** Adds one point of the path; `t` in ms of whatever clock the path comes with. */
function foldPoint(n: number[], t: number, x: number, y: number): void {
  if (!(Math.abs(x) < coordinateMax && Math.abs(y) < coordinateMax)) {
    n[F.badCoordinates]! += 1;
    return;
  }
  const isFirst = n[F.points] === 0;
  n[F.points]! += 1;
  if (x !== Math.floor(x) || y !== Math.floor(y)) n[F.fractionPoints]! += 1;
  if (n[F.innerW]! > 0 && (x < -viewportSlack || x > n[F.innerW]! + viewportSlack)) n[F.outsideViewport]! += 1;
  const gap = t - n[F.pathT]!;
  if (isFirst || gap > pathPauseMs || gap < -disorderMs) {
    if (!isFirst && gap < -disorderMs) n[F.timeReversals]! += 1;
    endStroke(n);
    placeStroke(n, x, y);
    n[F.stepX] = 0;
    n[F.stepY] = 0;
  } else foldStep(n, Math.max(0, gap), x, y);
  n[F.pathT] = gap < 0 && gap >= -disorderMs && !isFirst ? n[F.pathT]! : t;
  n[F.pathX] = x;
  n[F.pathY] = y;
}

/** No screen, nor a wall of them, reaches this far, px. */
const coordinateMax = 100_000;
/** Pointer capture reports drags beyond the window; further out is another screen, px. */
const viewportSlack = 8000;

function foldStep(n: number[], gap: number, x: number, y: number): void {
  if (gap >= 1 && gap <= 100) {
    n[F.gaps]! += 1;
    n[F.gapSum]! += gap;
    n[F.gapSquares]! += gap * gap;
  }
  const dx = x - n[F.pathX]!;
  const dy = y - n[F.pathY]!;
  if (gap >= strokePauseMs) {
    endStroke(n);
    placeStroke(n, n[F.pathX]!, n[F.pathY]!);
  }
  if (dx === 0 && dy === 0) return;
  noteStep(n, dx, dy);
  const length = Math.sqrt(dx * dx + dy * dy);
  const beforeX = n[F.stepX]!;
  const beforeY = n[F.stepY]!;
  n[F.steps]! += 1;
  const isSame = Math.abs(dx - beforeX) <= 1 && Math.abs(dy - beforeY) <= 1;
  if (isSame) n[F.stepsSame]! += 1;
  if (length >= longStepMin) {
    n[F.stepsLong]! += 1;
    if (isSame) n[F.stepsLongSame]! += 1;
  }
  foldTurn(n, dx, dy, length, beforeX, beforeY);
  if (length >= jumpMin && (gap >= 30 || n[F.strokeSteps] === 0)) n[F.jumps]! += 1;
  n[F.strokeSteps]! += 1;
  n[F.strokeLength]! += length;
  n[F.strokeMs]! += gap < strokePauseMs ? gap : 0;
  n[F.stepX] = dx;
  n[F.stepY] = dy;
  if (n[F.steps]! > stepsMax) halve(n, pathSums);
}

function noteStep(n: number[], dx: number, dy: number): void {
  n[F.ring0 + (n[F.ring]! % ringSize)] = packStep(Math.round(dx), Math.round(dy));
  n[F.ring]! += 1;
}

function foldTurn(n: number[], dx: number, dy: number, length: number, beforeX: number, beforeY: number): void {
  const before = Math.sqrt(beforeX * beforeX + beforeY * beforeY);
  if (length < 3 || before < 3) return;
  n[F.turns]! += 1;
  n[F.turnSum]! += Math.abs(Math.atan2(beforeX * dy - beforeY * dx, beforeX * dx + beforeY * dy));
}

function placeStroke(n: number[], x: number, y: number): void {
  n[F.strokeX] = x;
  n[F.strokeY] = y;
  n[F.strokeSteps] = 0;
  n[F.strokeLength] = 0;
  n[F.strokeMs] = 0;
}

/** Takes the stroke under way, which ends at the last point, into the sums of strokes if it is long enough. */
function endStroke(n: number[]): void {
  const chord = Math.hypot(n[F.pathX]! - n[F.strokeX]!, n[F.pathY]! - n[F.strokeY]!);
  if (n[F.strokeSteps]! < strokeStepsMin || chord < strokeChordMin) return;
  const straightness = Math.min(1, chord / n[F.strokeLength]!);
  n[F.strokes]! += 1;
  n[F.straightSum]! += straightness;
  n[F.straightSquares]! += straightness * straightness;
  const ms = n[F.strokeMs]!;
  n[F.strokeDistanceSum]! += chord;
  n[F.strokeDistanceSquares]! += chord * chord;
  n[F.strokeTimeSum]! += ms;
  n[F.strokeTimeSquares]! += ms * ms;
  n[F.strokeProducts]! += chord * ms;
  if (n[F.strokes]! > strokesMax) halve(n, strokeSums);
}

const strokesMax = 1024;

const pathSums = [
  F.steps,
  F.stepsSame,
  F.stepsLong,
  F.stepsLongSame,
  F.turns,
  F.turnSum,
  F.gaps,
  F.gapSum,
  F.gapSquares,
];

const strokeSums = [
  F.strokes,
  F.straightSum,
  F.straightSquares,
  F.strokeDistanceSum,
  F.strokeDistanceSquares,
  F.strokeTimeSum,
  F.strokeTimeSquares,
  F.strokeProducts,
];

/** Halves sums and their counts together, so that means and deviations stay what they are. */
export function halve(n: number[], positions: readonly number[]): void {
  for (const position of positions) n[position] = n[position]! / 2;
}

function foldClick(n: number[], event: IngestEvent, isTouch: boolean): void {
  const { x, y, dwell } = event.payload;
  endStroke(n);
  if (x !== undefined && y !== undefined) {
    if (!isTouch) foldClickPlace(n, x, y);
    foldPoint(n, eventTimeMs(event, n[F.pathT]!), x, y);
    n[F.clickX] = x;
    n[F.clickY] = y;
  }
  placeStroke(n, n[F.pathX]!, n[F.pathY]!);
  n[F.pointsAtClick] = n[F.points]!;
  if (isTouch) {
    n[F.touches]! += 1;
    return;
  }
  n[F.clicks]! += 1;
  if (dwell === undefined) return;
  if (dwell < 0) n[F.badDurations]! += 1;
  else if (dwell < 5000) {
    n[F.holds]! += 1;
    if (dwell < holdShortMs) n[F.holdsShort]! += 1;
    n[F.holdSum]! += dwell;
    n[F.holdSquares]! += dwell * dwell;
  }
}

/** Whether the pointer came to the place of the click, and how. */
function foldClickPlace(n: number[], x: number, y: number): void {
  const since = n[F.points]! - n[F.pointsAtClick]!;
  const away = Math.hypot(x - n[F.pathX]!, y - n[F.pathY]!);
  if (away > unmovedMin) n[F.clicksUnmoved]! += 1;
  else if (since >= 1 && since <= 2 && Math.hypot(x - n[F.clickX]!, y - n[F.clickY]!) > jumpMin) {
    n[F.clicksJumped]! += 1;
  }
}

/** A hand in haste leaves the reported path behind by this much, px. */
const unmovedMin = 40;

function foldTouch(n: number[], payload: EventPayload): void {
  n[F.touches]! += 1;
  if (payload.pressure === 0 && payload.radius === 0) n[F.touchFlat]! += 1;
}

function foldMeasures(n: number[], payload: EventPayload): void {
  if (payload.fractional !== undefined) {
    n[F.fractionalN]! += 1;
    n[F.fractionalSum]! += payload.fractional;
  }
  if (payload.coalesced !== undefined) {
    n[F.coalescedN]! += 1;
    n[F.coalescedSum]! += payload.coalesced;
  }
  if (payload.dispatch_lag !== undefined) {
    n[F.lagN]! += 1;
    n[F.lagSum]! += payload.dispatch_lag;
  }
  if (payload.movement_mismatch !== undefined) {
    n[F.mismatchN]! += 1;
    n[F.mismatchSum]! += payload.movement_mismatch;
  }
}
