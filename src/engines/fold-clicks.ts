/** Folds clicks: how long the button was held, how the pointer reached the click, and which part of the target it hit. */
import type { IngestEvent } from "../contract/events.js";
import { eventTimeMs } from "./event-time.js";
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

/** Folds one click, after the path up to its time. */
export function foldClick(n: number[], event: IngestEvent, nowMs: number): void {
  const { dwell, pointer_type: pointer, off_center: offCenter, trusted } = event.payload;
  if (trusted === false) n[F.clicksUntrusted]! += 1;
  else if (trusted === true) n[F.clicksTrusted]! += 1;
  // A script or an aid made it: neither its position nor its time comes from a visitor's hand.
  if (trusted === false) return;
  if (pointer === "none") return;
  foldTrack(n, event, nowMs);
  beginMovement(n, n[F.pathX]!, n[F.pathY]!);
  if (pointer === "touch") {
    n[F.touches]! += 1;
    return;
  }
  const isElsewhere = n[F.clicks] === 0 || event.payload.x !== n[F.clickX] || event.payload.y !== n[F.clickY];
  foldPlace(n, event);
  n[F.clicks]! += 1;
  // A visitor who clicks again without moving aims only once.
  if (offCenter !== undefined && isElsewhere) {
    n[F.clicksMeasured]! += 1;
    if (Math.abs(offCenter) < centerShare) n[F.clicksCentered]! += 1;
  }
  if (dwell !== undefined) foldHold(n, dwell);
}

function foldHold(n: number[], dwell: number): void {
  if (dwell < 0) n[F.badDurations]! += 1;
  else if (dwell < holdMaxMs) {
    n[F.holds]! += 1;
    if (dwell < holdShortMs) n[F.holdsShort]! += 1;
    n[F.holdSum]! += dwell;
    n[F.holdSquares]! += dwell * dwell;
  }
}

/** Whether the pointer was at the position of its click. */
function foldTrack(n: number[], event: IngestEvent, nowMs: number): void {
  const { x, y, pointer_type: pointer } = event.payload;
  if (x === undefined || y === undefined || n[F.points] === 0 || (pointer ?? "mouse") !== "mouse") return;
  if (Math.abs(eventTimeMs(event, n[F.pathT]!, nowMs) - n[F.rawT]!) > trackMs) return;
  n[F.clicksTracked]! += 1;
  if (Math.abs(x - n[F.rawX]!) + Math.abs(y - n[F.rawY]!) > astrayMin) n[F.clicksAstray]! += 1;
}

/** Whether, and in how many moves, the pointer moved from the previous click to this one. */
function foldPlace(n: number[], event: IngestEvent): void {
  const { x, y } = event.payload;
  if (x === undefined || y === undefined) return;
  const moves = n[F.points]! - n[F.pointsAtClick]!;
  const far = Math.abs(x - n[F.clickX]!) + Math.abs(y - n[F.clickY]!);
  if (n[F.clicks]! > 0) {
    n[F.clicksPlaced]! += 1;
    if (moves === 0 && far > elsewhereMin) n[F.clicksUnmoved]! += 1;
    else if (moves <= 2 && far > jumpMin) n[F.clicksJumped]! += 1;
  }
  n[F.pointsAtClick] = n[F.points]!;
  if (!(Math.abs(x) < 1e6 && Math.abs(y) < 1e6)) n[F.badCoordinates]! += 1;
  else {
    n[F.clickX] = x;
    n[F.clickY] = y;
  }
}
