/**
 * Times in the forms that clients write: the one reader of ISO-8601 for ingest, engines, timelines and queries. It uses no clock except the one it is
 * given, and refuses texts at which `Date.parse` guesses.
 */
import { limits } from "../../limits.js";

/** The form of `Date.toISOString` and the SDK. */
const usualForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
/** Every other form: a comma before the fraction, a zone without colon or minutes, no seconds, no zone at all. */
const anyForm = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)?$/;
const dateForm = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns a date and time as ms since the epoch, UTC if it names no zone; NaN for any other text, and for an impossible date (month 13, 30 February).
 * Digits beyond milliseconds are cut.
 */
export function isoTimeMs(text: string): number {
  if (usualForm.test(text)) return isDayOfItsMonth(text) ? Date.parse(text) : Number.NaN;
  const iso = anyForm.exec(text);
  if (iso === null || !isDayOfItsMonth(text)) return Number.NaN;
  const [, date, time, fraction, hours, minutes] = iso;
  const zone = hours === undefined ? "Z" : `${hours}:${minutes ?? "00"}`;
  return Date.parse(`${date}T${time}${fraction === undefined ? "" : `.${fraction.slice(0, 3)}`}${zone}`);
}

/** Returns such a time in the form of `Date.toISOString`; null for any other text. */
export function isoTimeText(text: string): string | null {
  const ms = isoTimeMs(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** As `isoTimeMs`, or of a date alone, which stands for its first moment in UTC. */
export function isoDateOrTimeMs(text: string): number {
  return isoTimeMs(dateForm.test(text) ? `${text}T00:00Z` : text);
}

/**
 * Returns the time that a client's `received_at` counts as, ms since the epoch: limited to `limits.clockSkewMs` from the server's clock; the server's
 * own time if the text is no time.
 */
export function receivedAtMs(receivedAt: string, nowMs: number): number {
  const givenMs = isoTimeMs(receivedAt);
  if (Number.isNaN(givenMs)) return nowMs;
  return Math.max(nowMs - limits.clockSkewMs, Math.min(nowMs + limits.clockSkewMs, givenMs));
}

/** Whether the month of a date `YYYY-MM-DD…` has that day: `Date.parse` reads 30 February as 2 March. */
export function isDayOfItsMonth(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
