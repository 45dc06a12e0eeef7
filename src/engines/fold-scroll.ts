/** Folds scrolling into the features: its rhythm, its steps, and its cause. */
import type { IngestEvent } from "../contract/events/events.js";
import { halve, sumsMax } from "./bounded-sums.js";
import { eventTimeMs } from "./event-time.js";
import { F } from "./session-features.js";

/** A longer time is no rhythm, ms. */
const scrollPauseMs = 2000;
/** A notch of the wheel scrolls at least this far, px. */
const notchMin = 100;

/** Folds a `scroll` event. */
export function foldScroll(n: number[], event: IngestEvent, nowMs: number): void {
  const { dy, dx, depth, count, scroll_input: input } = event.payload;
  if (input === "none") n[F.scrollsUncaused]! += 1;
  if (input === "wheel" && Math.abs(dy ?? 0) >= notchMin) {
    n[F.wheelBursts]! += 1;
    if (count === 1) n[F.wheelLeaps]! += 1;
  }
  n[F.scrolls]! += 1;
  const t = eventTimeMs(event, n[F.scrollT]!, nowMs);
  const gap = t - n[F.scrollT]!;
  if (n[F.scrolls]! > 1 && gap > 0 && gap < scrollPauseMs) {
    n[F.scrollGaps]! += 1;
    n[F.scrollGapSum]! += gap;
    n[F.scrollGapSquares]! += gap * gap;
  }
  const distance = dy !== undefined && dy !== 0 ? dy : (dx ?? (depth ?? 0) * 1e4);
  if (distance !== 0 && distance === n[F.scrollDistance]) n[F.scrollSame]! += 1;
  n[F.scrollDistance] = distance;
  n[F.scrollT] = t;
  if (n[F.scrollGaps]! > sumsMax) halve(n, scrollSums);
}

const scrollSums = [F.scrollGaps, F.scrollGapSum, F.scrollGapSquares];
