/** Folds clicks: how long the button was held, how the pointer reached the click, and which part of the target it hit. */
import type { IngestEvent } from "../contract/events/events.js";
import { eventTimeMs, isSplitMs } from "./event-time.js";
import { beginMovement } from "./fold-steps.js";
import { F } from "./session-features.js";

/** A finger takes far longer than this to release a button, ms; taps on some touchpads do not. */
const holdShortMs = 8;
/** Longer holds are drags, ms. */
const holdMaxMs = 5000;
/** Clicks this far apart are at different positions, px. */
const elsewhereMin = 40;
/** No one covers this distance within two reported moves, px. */
const jumpMin = 120;
/**
 * Share of the target's half size within which a click counts as in the exact middle: click coordinates lose up to a pixel, which is this much of a
 * line of text.
 */
const centerShare = 0.06;
/** If the last point of the path is older than this, or younger by as much, it does not show where the pointer is, ms. */
const trackMs = 1000;
/** The pointer can't be this far from its click, px. */
const astrayMin = 60;

/** Nobody's pointer gets anywhere in so few moves. */
const movesFew = 2;
/** A pointer that a page finds resting on it reports a move without moving; one that was sent to click does so at once, ms. */
const arrivalMs = 1000;
/** Silence before a click, ms: longer than the way to the next button, shorter than a break. */
const quietMs = 2000;
const quietMsMax = 300_000;

/** Folds one click, after the path up to its time. */
export function foldClick(n: number[], event: IngestEvent, nowMs: number): void {
  const { dwell, pointer_type: pointer, off_center: offCenter, trusted } = event.payload;
  if (trusted === false) n[F.clicksUntrusted]! += 1;
  else if (trusted === true) n[F.clicksTrusted]! += 1;
  // A script or an aid made it: neither its position nor its time comes from a visitor's hand.
  if (trusted === false) return;
  if ((event.payload.button ?? 0) > 0) n[F.menuClicks]! += 1;
  if (pointer === "none") return;
  foldTrack(n, event, nowMs);
  beginMovement(n, n[F.pathX]!, n[F.pathY]!);
  if (pointer === "touch") {
    n[F.touches]! += 1;
    if (trusted === true && isCentered(offCenter)) n[F.tapsCentered]! += 1;
    return;
  }
  const isElsewhere = n[F.clicks] === 0 || event.payload.x !== n[F.clickX] || event.payload.y !== n[F.clickY];
  if ((pointer ?? "mouse") === "mouse") foldApproach(n, event, nowMs);
  if (pointer === "mouse" && event.payload.pressure === 0) n[F.weightlessPresses]! += 1;
  // Chromium itself stamps the release over the list that it opens for a `select`.
  const isStamped = pointer === "mouse" && dwell !== undefined && event.payload.target_tag !== "select";
  if (isStamped && isSplitMs(dwell)) n[F.splitHolds]! += 1;
  foldPlace(n, event);
  n[F.clicks]! += 1;
  // A visitor who clicks again without moving aims only once.
  if (offCenter !== undefined && isElsewhere) {
    n[F.clicksMeasured]! += 1;
    if (isCentered(offCenter)) n[F.clicksCentered]! += 1;
  }
  if (dwell !== undefined) foldHold(n, dwell);
}

function isCentered(offCenter: number | undefined): boolean {
  return offCenter !== undefined && Math.abs(offCenter) < centerShare;
}

function foldHold(n: number[], dwell: number): void {
  if (dwell < 0) n[F.badDurations]! += 1;
  else if (dwell < holdMaxMs) {
    n[F.holds]! += 1;
    if (dwell < holdShortMs) n[F.holdsShort]! += 1;
  }
}

/** Whether the pointer came to the click at all, since its page opened and since the click before. Runs before the click counts as the last one. */
function foldApproach(n: number[], event: IngestEvent, nowMs: number): void {
  const { x, y } = event.payload;
  if (x === undefined || y === undefined) return;
  const t = eventTimeMs(event, n[F.pathT]!, nowMs);
  const isFrom = (fromX: number, fromY: number) => Math.abs(x - fromX) + Math.abs(y - fromY) > elsewhereMin;
  if (n[F.points]! - n[F.pointsAtPage]! + n[F.mergedAtPage]! <= movesFew && n[F.pageByBorder] === 0) {
    // Where nothing is known of the pointer it may have rested there, unless it showed up for this click.
    const isSent = n[F.pointsAtPage] === 0 ? t - n[F.rawT]! < arrivalMs : isFrom(n[F.leftX]!, n[F.leftY]!);
    if (isSent && n[F.points]! > 0) {
      n[F.arrivalClicks]! += 1;
      if ((event.payload.button ?? 0) === 0 && isCentered(event.payload.off_center)) n[F.arrivalsCentered]! += 1;
    }
  }
  const silentMs = t - n[F.clickT]!;
  const isQuiet = n[F.clickT]! > 0 && silentMs >= quietMs && silentMs < quietMsMax;
  if (isQuiet && movesSinceClick(n) <= movesFew && isFrom(n[F.clickX]!, n[F.clickY]!)) n[F.quietClicks]! += 1;
  n[F.clickT] = t;
}

/** Whether the pointer was at the position of its click. */
function foldTrack(n: number[], event: IngestEvent, nowMs: number): void {
  const { x, y, pointer_type: pointer } = event.payload;
  if (x === undefined || y === undefined || n[F.points] === 0 || (pointer ?? "mouse") !== "mouse") return;
  if (Math.abs(eventTimeMs(event, n[F.pathT]!, nowMs) - n[F.rawT]!) > trackMs) return;
  n[F.clicksTracked]! += 1;
  if (Math.abs(x - n[F.rawX]!) + Math.abs(y - n[F.rawY]!) > astrayMin) n[F.clicksAstray]! += 1;
}

/** Of the pointer, those included that came merged into others. */
function movesSinceClick(n: readonly number[]): number {
  return n[F.points]! - n[F.pointsAtClick]! + n[F.mergedAtClick]!;
}

/** Whether, and in how many moves, the pointer moved from the previous click to this one. */
function foldPlace(n: number[], event: IngestEvent): void {
  const { x, y } = event.payload;
  if (x === undefined || y === undefined) return;
  const moves = movesSinceClick(n);
  const far = Math.abs(x - n[F.clickX]!) + Math.abs(y - n[F.clickY]!);
  if (n[F.clicks]! > 0) {
    n[F.clicksPlaced]! += 1;
    if (moves === 0 && far > elsewhereMin) n[F.clicksUnmoved]! += 1;
    else if (moves <= 2 && far > jumpMin) n[F.clicksJumped]! += 1;
  }
  n[F.pointsAtClick] = n[F.points]!;
  n[F.mergedAtClick] = 0;
  if (!(Math.abs(x) < 1e6 && Math.abs(y) < 1e6)) n[F.badCoordinates]! += 1;
  else {
    n[F.clickX] = x;
    n[F.clickY] = y;
  }
}
