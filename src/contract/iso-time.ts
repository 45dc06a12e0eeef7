/**
 * Times as clients write them: the one reader of ISO-8601 for ingest, engines, timelines and queries. It knows no clock but the one it is
 * given, and refuses what `Date.parse` guesses at.
 */
import { limits } from "../limits.js";

/** As `Date.toISOString` and the SDK write it. */
const usualForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
/** Every other form: a comma before the fraction, a zone without colon or minutes, no seconds, no zone at all. */
const anyForm = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)?$/;
const dateForm = /^\d{4}-\d\d-\d\d$/;

/**
 * A date and time as ms since the epoch, UTC where it names no zone; NaN for what is none, and for one that can't be (month 13, 30
 * February). Digits beyond milliseconds are cut.
 */
export function isoTimeMs(text: string): number {
  if (usualForm.test(text)) return isDayOfItsMonth(text) ? Date.parse(text) : Number.NaN;
  const iso = anyForm.exec(text);
  if (iso === null || !isDayOfItsMonth(text)) return Number.NaN;
  const [, date, time, fraction, hours, minutes] = iso;
  const zone = hours === undefined ? "Z" : `${hours}:${minutes ?? "00"}`;
  return Date.parse(`${date}T${time}${fraction === undefined ? "" : `.${fraction.slice(0, 3)}`}${zone}`);
}

/** The same, or a date alone, which is its first moment of UTC. */
export function isoDateOrTimeMs(text: string): number {
  return isoTimeMs(dateForm.test(text) ? `${text}T00:00Z` : text);
}

/**
 * What a client's `received_at` counts as, ms since the epoch: no further from the server's clock than `limits.clockSkewMs`; the server's
 * own time for a text that is no time.
 */
export function receivedAtMs(receivedAt: string, nowMs: number): number {
  const givenMs = isoTimeMs(receivedAt);
  if (Number.isNaN(givenMs)) return nowMs;
  return Math.max(nowMs - limits.clockSkewMs, Math.min(nowMs + limits.clockSkewMs, givenMs));
}

/** Whether the month of a date `YYYY-MM-DD…` has that day: `Date.parse` takes 30 February for 2 March. */
export function isDayOfItsMonth(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
