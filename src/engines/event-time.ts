/** Returns the time of an event in ms, by the best clock that the event has. Clocks are not mixed: a change of clock looks like a pause. */
import type { IngestEvent } from "../contract/events/events.js";
import { receivedAtMs } from "../contract/values/iso-time.js";

/** Bound of every visitor's clock, in both directions: keeps sums and differences of times finite, ms. */
const timeMax = 1e15;

/** Clamps a time or duration, to keep arithmetic on it finite, ms. */
export function boundedMs(ms: number): number {
  return Math.max(-timeMax, Math.min(timeMax, ms));
}

/**
 * Returns `t` (page clock) if given; else `dt` after `beforeMs`, the event before it; else `received_at`, limited to the skew from `nowMs` that a
 * client's clock may have.
 */
export function eventTimeMs(event: IngestEvent, beforeMs: number, nowMs: number): number {
  const { t, dt } = event.payload;
  if (t !== undefined) return boundedMs(t);
  if (dt !== undefined && beforeMs > 0) return boundedMs(beforeMs + dt);
  return receivedAtMs(event.received_at, nowMs);
}

/** Whether a time between two events is no whole number of milliseconds, as X11 counts. Browsers round to a tenth, so one tenth more or less is whole. */
export function isSplitMs(ms: number): boolean {
  return Math.abs(ms - Math.round(ms)) > 0.15;
}

/** Error from rounding two times to a tenth, ms. */
const gridSlackMs = 0.11;

/** Whether a clock of 100 ms, such as Tor Browser's, could give this time between two events: 0 among others. */
export function isCoarseMs(ms: number): boolean {
  return Math.abs(ms - 100 * Math.round(ms / 100)) < gridSlackMs;
}
