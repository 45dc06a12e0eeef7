/** The time of an event in ms, in the best clock it offers. Clocks are not mixed up: a change of clock looks like a pause. */
import type { IngestEvent } from "../contract/events.js";

/**
 * `t` (page clock) if given; else `dt` after `beforeMs`, the event before it; else `received_at` in ms since the epoch, UTC
 * when it names no zone.
 */
export function eventTimeMs(event: IngestEvent, beforeMs: number): number {
  const { t, dt } = event.payload;
  if (t !== undefined) return t;
  if (dt !== undefined && beforeMs > 0) return beforeMs + dt;
  return receivedMs(event.received_at);
}

/** ms since the epoch of an ISO-8601 time; 0 when the date does not exist, such as a 31st of April. */
export function receivedMs(receivedAt: string): number {
  const ms = Date.parse(receivedAt);
  if (Number.isNaN(ms)) return 0;
  return hasZone(receivedAt) ? ms : Date.parse(`${receivedAt}Z`);
}

function hasZone(receivedAt: string): boolean {
  const last = receivedAt.charCodeAt(receivedAt.length - 1);
  return last === 0x5a || last === 0x7a || /[+-]\d{2}(:?\d{2})?$/.test(receivedAt.slice(10));
}
