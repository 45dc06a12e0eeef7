/**
 * Folds pointer paths into the features, point by point. A path continues over events and batches as long as its times do. Only sums and the last
 * steps are kept. Clicks are placed in the path by time, see fold-clicks.ts.
 */
import type { EventPayload, IngestEvent, PointRow } from "../contract/events/events.js";
import { boundedMs, eventTimeMs, isCoarseMs, isSplitMs } from "./event-time.js";
import { foldClick } from "./fold-clicks.js";
import { beginMovement, foldStep } from "./fold-steps.js";
import { F } from "./session-features.js";

/** A pause after which the next point starts a new path, ms. */
const pathPauseMs = 5000;
/** Points up to this far back in time count as simultaneous, because browsers deliver coalesced events slightly out of order, ms. */
const disorderMs = 20;
/** Points closer in time than this are skipped, to make the paths of a fast and a slow mouse alike, ms. */
const spacingMs = 6.5;
/** Moves of over 25 px in under 3 ms: three times a hand's maximum, and beyond the jitter of clocks. */
const rushMs = 3;
const rushMin = 25;
/** Earlier than any clock's start: the next point begins a path, ms. */
const longAgoMs = -1e15;
/** No screen or wall of screens reaches this far, px. */
const coordinateMax = 100_000;
/** Pointer capture reports drags outside the window; further out than this there is no screen, px. */
const viewportSlack = 8000;
/** A fast pointer's first point in a window may be so far from its border, px. */
const borderWidth = 60;
/** More moves than a hand makes between two reports. */
const mergedMax = 10_000;
/** A debugger's client sends touches with a radius of 1 or 0.5 px unless told otherwise. A finger, and a mouse in a browser's device mode, has more, px. */
const narrowPx = 1;
/** Height of a browser's bars, px. */
const barsHeight = 90;
/** So many first times between moves are whole milliseconds in a row by chance on one page in a million, where a third of all look whole. */
const wholeGapsMin = 12;
/** So many in a row that are not whole, after them, come from another clock: a browser's own move, put between two of a hand, makes two. */
const splitGapsMin = 4;
/** The state of `moveClock` where one of the first times was not whole. */
const otherClock = 255;
/** Its last state: X11's clock came first, and then another one. */
export const secondClock = wholeGapsMin + splitGapsMin;

/**
 * Folds the mouse, touch and click events of a batch; ignores others. A click is listed before the path around it (the SDK records it at once), so it
 * waits until the path has reached its time. Returns the number of path points.
 */
export function foldPointerEvents(n: number[], events: readonly IngestEvent[], nowMs: number): number {
  const clicks: IngestEvent[] = [];
  let count = 0;
  for (const event of events) {
    const { payload, type } = event;
    if (type === "page" && payload.nav_type !== "spa") {
      foldClicksBefore(n, clicks, Number.POSITIVE_INFINITY, nowMs);
      n[F.clickT] = 0;
      // A session outlives its browser, whose next start may have another window system; a page doesn't.
      if (n[F.moveClock] !== secondClock) n[F.moveClock] = 0;
      if (n[F.points]! > 0) leavePath(n);
    } else if (type === "click") {
      clicks.push(event);
      if (payload.points === undefined) continue;
    }
    if (type !== "mouse" && type !== "touch" && type !== "click") continue;
    foldMeasures(n, payload);
    // A finger leaves the screen at full speed and glides along smooth arcs: the checks for a mouse's path do not apply to it.
    if (type === "touch" || payload.pointer_type === "touch") {
      foldTouch(n, payload);
      count += payload.points?.length ?? 0;
    } else {
      const { [F.jumps]: jumps, [F.resumes]: resumes, [F.points]: points } = n;
      count += foldPath(n, event, clicks, nowMs);
      if (payload.trusted === false) n[F.scriptedPoints]! += n[F.points]! - points!;
      // A pen is lifted and put down at another position.
      if (payload.pointer_type === "pen") [n[F.jumps], n[F.resumes]] = [jumps!, resumes!];
    }
  }
  foldClicksBefore(n, clicks, Number.POSITIVE_INFINITY, nowMs);
  return count;
}

/** A new page has its own clock, and the pointer moved unseen meanwhile. */
function leavePath(n: number[]): void {
  beginMovement(n, n[F.pathX]!, n[F.pathY]!);
  n[F.pathT] = longAgoMs;
  n[F.rawT] = longAgoMs;
  n[F.pointsAtPage] = n[F.points]!;
  n[F.leftX] = n[F.rawX]!;
  n[F.leftY] = n[F.rawY]!;
  n[F.pageByBorder] = 0;
  n[F.mergedAtPage] = 0;
}

function foldPath(n: number[], event: IngestEvent, clicks: IngestEvent[], nowMs: number): number {
  const { x, y, dx, dy, points } = event.payload;
  if (points === undefined || points.length === 0) {
    const place = x !== undefined && y !== undefined ? [x, y] : null;
    const moved = dx !== undefined && dy !== undefined ? [n[F.pathX]! + dx, n[F.pathY]! + dy] : null;
    const to = place ?? moved;
    if (to === null) return 0;
    const t = eventTimeMs(event, n[F.pathT]!, nowMs);
    if (clicks.length > 0) foldClicksBefore(n, clicks, t, nowMs);
    foldPoint(n, t, to[0]!, to[1]!, event.payload.t !== undefined || event.payload.dt !== undefined);
    return 1;
  }
  const startMs = eventTimeMs(event, n[F.pathT]!, nowMs);
  if (isMouse(event.payload) && event.payload.trusted !== false) foldGrid(n, points);
  const merged = mergedByPoint(event.payload, points.length);
  for (const row of points) {
    const t = startMs + boundedMs(row[0]);
    if (clicks.length > 0) foldClicksBefore(n, clicks, t, nowMs);
    foldPoint(n, t, row[1], row[2], true);
    n[F.mergedAtPage]! += merged;
    n[F.mergedAtClick]! += merged;
  }
  return points.length;
}

/** In the same millisecond, a move comes first: tools that move the pointer for a person may click at once. */
function foldClicksBefore(n: number[], clicks: IngestEvent[], beforeMs: number, nowMs: number): void {
  while (clicks.length > 0 && eventTimeMs(clicks[0]!, n[F.pathT]!, nowMs) < beforeMs)
    foldClick(n, clicks.shift()!, nowMs);
}

/** Whether a pointer that shows up here may just have come into the window. Before its inner size is known, the outer one bounds it. */
function isByBorder(n: readonly number[], x: number, y: number): boolean {
  const width = n[F.innerW]! || n[F.outerW]!;
  const height = n[F.innerH]! || n[F.outerH]! - barsHeight;
  return x < borderWidth || y < borderWidth || !(x < width - borderWidth && y < height - borderWidth);
}

/** Adds one point of the path; `t` in ms of the path's own clock. A point stamped only on arrival is not `isTimed`. */
function foldPoint(n: number[], t: number, x: number, y: number, isTimed: boolean): void {
  if (!(Math.abs(x) < coordinateMax && Math.abs(y) < coordinateMax)) {
    n[F.badCoordinates]! += 1;
    return;
  }
  const isFirst = n[F.points] === 0;
  n[F.points]! += 1;
  if (n[F.points] === n[F.pointsAtPage]! + 1 && isByBorder(n, x, y)) n[F.pageByBorder] = 1;
  if (x !== Math.floor(x) || y !== Math.floor(y)) n[F.fractionPoints]! += 1;
  if (n[F.innerW]! > 0 && (x < -viewportSlack || x > n[F.innerW]! + viewportSlack)) n[F.outsideViewport]! += 1;
  const gap = t - n[F.pathT]!;
  if (isFirst || gap > pathPauseMs || gap < -disorderMs) {
    if (!isFirst && gap < -disorderMs) n[F.timeReversals]! += 1;
    beginMovement(n, x, y);
    keepRaw(n, t, x, y);
  } else {
    foldRush(n, t, x, y);
    if (gap < spacingMs && (isTimed || gap > 0)) return;
    foldStep(n, Math.max(0, gap), x, y);
  }
  n[F.pathT] = gap < 0 && gap >= -disorderMs && !isFirst ? n[F.pathT]! : t;
  n[F.pathX] = x;
  n[F.pathY] = y;
}

/** Only neighbours are compared: one row with a time of its own then spoils two comparisons and not all. Pens have their own clocks. */
function foldGrid(n: number[], points: readonly PointRow[]): void {
  for (let index = 1; index < points.length; index++) {
    n[F.rowGaps]! += 1;
    const gap = points[index]![0] - points[index - 1]![0];
    if (isCoarseMs(gap)) n[F.rowGapsCoarse]! += 1;
    if (n[F.moveClock]! < secondClock) n[F.moveClock] = clockAfter(n[F.moveClock]!, isSplitMs(gap));
  }
}

/** Follows the clock of a mouse's moves on a page: first whole milliseconds in a row are counted, then, from `wholeGapsMin` on, others in a row. */
function clockAfter(state: number, isSplit: boolean): number {
  if (state < wholeGapsMin) return isSplit ? otherClock : state + 1;
  return isSplit ? state + 1 : wholeGapsMin;
}

/** A busy browser reports several moves as one, with their count: how many there were besides each point, on average. */
function mergedByPoint({ count = 0, coalesced = 0, trusted }: EventPayload, points: number): number {
  if (trusted === false || !(count >= 1 && coalesced > 1)) return 0;
  return Math.round(Math.max(0, Math.min(mergedMax, count * coalesced) - points) / points);
}

function isMouse(payload: EventPayload): boolean {
  return (payload.pointer_type ?? "mouse") === "mouse";
}

/** Fast moves are checked before points are thinned out. */
function foldRush(n: number[], t: number, x: number, y: number): void {
  const gap = t - n[F.rawT]!;
  const far = Math.abs(x - n[F.rawX]!) + Math.abs(y - n[F.rawY]!);
  if (gap > 0 && gap < rushMs && far > rushMin) n[F.rushes]! += 1;
  keepRaw(n, t, x, y);
}

function keepRaw(n: number[], t: number, x: number, y: number): void {
  n[F.rawT] = t;
  n[F.rawX] = x;
  n[F.rawY] = y;
}

function foldTouch(n: number[], payload: EventPayload): void {
  n[F.touches]! += 1;
  if (payload.trusted === false) n[F.scriptedTouches]! += 1;
  if (payload.trusted === true && payload.radius! > 0 && payload.radius! <= narrowPx) n[F.narrowTouches]! += 1;
  if (payload.pressure === 0 && payload.radius === 0) n[F.touchFlat]! += 1;
}

function foldMeasures(n: number[], payload: EventPayload): void {
  const isMeasured = payload.coalesced !== undefined || payload.fractional !== undefined;
  if (!isMeasured && payload.count !== undefined && payload.trusted === true) n[F.bareReports]! += 1;
  // Pens and fingers report fractions of pixels on every system.
  if (payload.fractional !== undefined && isMouse(payload)) {
    n[F.fractionalN]! += 1;
    n[F.fractionalSum]! += payload.fractional;
    // As its page was then: a later page may be on another screen, or zoomed otherwise.
    if (n[F.dpr] === 1) n[F.unzoomedFractions]! += payload.fractional;
  }
  if (payload.coalesced !== undefined) {
    n[F.coalescedN]! += 1;
    n[F.coalescedSum]! += Math.max(0, Math.min(1000, payload.coalesced));
  }
  if (payload.dispatch_lag !== undefined) {
    n[F.lagN]! += 1;
    n[F.lagSum]! += Math.max(0, Math.min(60_000, payload.dispatch_lag));
  }
  if (payload.movement_mismatch !== undefined) {
    n[F.mismatchN]! += 1;
    n[F.mismatchSum]! += payload.movement_mismatch;
  }
}
