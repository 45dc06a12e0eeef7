/** The time of an event in ms, in the best clock it offers. Clocks are not mixed up: a change of clock looks like a pause. */
import type { IngestEvent } from "../contract/events.js";
import { receivedAtMs } from "../contract/iso-time.js";

/** No clock of a visitor reads more than this, nor less than its negative: sums and differences of times stay finite, ms. */
const timeMax = 1e15;

/** A time or duration brought within bounds, so that arithmetic on it stays finite, ms. */
export function boundedMs(ms: number): number {
  return Math.max(-timeMax, Math.min(timeMax, ms));
}

/**
 * `t` (page clock) if given; else `dt` after `beforeMs`, the event before it; else `received_at`, within the skew from `nowMs` that a
 * client's clock may have.
 */
export function eventTimeMs(event: IngestEvent, beforeMs: number, nowMs: number): number {
  const { t, dt } = event.payload;
  if (t !== undefined) return boundedMs(t);
  if (dt !== undefined && beforeMs > 0) return boundedMs(beforeMs + dt);
  return receivedAtMs(event.received_at, nowMs);
}

/** What the rounding of two times to a tenth takes, ms. */
const gridSlackMs = 0.11;

/** Whether a time between two events is one that a clock of whole milliseconds gives, as that of a window system. */
export function isWholeMs(ms: number): boolean {
  return Math.abs(ms - Math.round(ms)) < gridSlackMs;
}
