/** Folds clicks: how long the button was held, how the pointer came there, and where on the target it hit. */
import type { IngestEvent } from "../contract/events.js";
import { endStroke, placeStroke } from "./fold-steps.js";
import { F } from "./session-features.js";

/** A finger on a button takes far longer than this to let go, ms; taps on some touchpads do not. */
const holdShortMs = 8;
/** Longer holds are drags, ms. */
const holdMaxMs = 5000;
/** Clicks this far apart are at different places, px. */
const elsewhereMin = 40;
/** Nobody covers this distance within two reported moves, px. */
const jumpMin = 120;
/** Share of the target's half size within which a click counts as in the very middle. */
const centerShare = 0.03;

/** Folds one click, after the path up to its time. */
export function foldClick(n: number[], event: IngestEvent): void {
  const { dwell, pointer_type: pointer, off_center: offCenter } = event.payload;
  if (pointer === "none") {
    n[F.clicksByKey]! += 1;
    return;
  }
  endStroke(n);
  placeStroke(n, n[F.pathX]!, n[F.pathY]!);
  if (pointer === "touch") {
    n[F.touches]! += 1;
    return;
  }
  foldPlace(n, event);
  n[F.clicks]! += 1;
  if (offCenter !== undefined) {
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

/** Whether, and in how many moves, the pointer came from the click before to this one. */
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
