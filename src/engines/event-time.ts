/** The time of an event in ms, in the best clock it offers. Clocks are not mixed up: a change of clock looks like a pause. */
import type { IngestEvent } from "../contract/events.js";

/** No clock of a visitor reads more than this, nor less than its negative: sums and differences of times stay finite, ms. */
const timeMax = 1e15;

/** A time or duration brought within bounds, so that arithmetic on it stays finite, ms. */
export function boundedMs(ms: number): number {
  return Math.max(-timeMax, Math.min(timeMax, ms));
}

/**
 * `t` (page clock) if given; else `dt` after `beforeMs`, the event before it; else `received_at` in ms since the epoch, UTC
 * when it names no zone.
 */
export function eventTimeMs(event: IngestEvent, beforeMs: number): number {
  const { t, dt } = event.payload;
  if (t !== undefined) return boundedMs(t);
  if (dt !== undefined && beforeMs > 0) return boundedMs(beforeMs + dt);
  return receivedMs(event.received_at);
}

/** ms since the epoch of an ISO-8601 time; 0 when the date does not exist, such as a 31st of February. */
export function receivedMs(receivedAt: string): number {
  // The usual form, as Date.toISOString writes it, needs no second look.
  if (receivedAt.length === 24 && receivedAt.charCodeAt(23) === 0x5a) return Date.parse(receivedAt) || 0;
  const plain = receivedAt.toUpperCase().replace(",", ".").replace(" ", "T");
  const zone = /(Z|[+-]\d{2}(:?\d{2})?)$/.exec(plain.slice(10))?.[0] ?? "";
  const local = plain.slice(0, plain.length - zone.length);
  return Date.parse(`${local}${zoneOf(zone)}`) || 0;
}

/** The zone in the one form that every parser takes: `+02`, `+0200` and none become `+02:00`, `+02:00` and `Z`. */
function zoneOf(zone: string): string {
  if (zone === "" || zone === "Z") return "Z";
  return zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
}
