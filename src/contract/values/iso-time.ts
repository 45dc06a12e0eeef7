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

/** Of the form of `Date.toISOString`, and of the day in it. */
const usualLength = 24;
const dayLength = 10;
/** The day of the text that was read last, which is that of most: its ms are known. No text of the usual length begins with the first one. */
let knownDay = "no day of any text was read yet";
let knownDayMs = 0;

/** The ms since midnight that a text in the form of `Date.toISOString` says; -1 for any other. */
function timeOfDayMs(text: string): number {
  const hours = twoDigits(text, 11);
  const minutes = twoDigits(text, 14);
  const seconds = twoDigits(text, 17);
  const hundredths = twoDigits(text, 20);
  const last = text.charCodeAt(22) - 48;
  const isUsual = text[10] === "T" && text[13] === ":" && text[16] === ":" && text[19] === "." && text[23] === "Z";
  if (!isUsual || hours > 23 || minutes > 59 || seconds > 59 || hundredths > 99 || last < 0 || last > 9) return -1;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + hundredths * 10 + last;
}

/** Above 99 where they are none. */
function twoDigits(text: string, at: number): number {
  const ten = text.charCodeAt(at) - 48;
  const one = text.charCodeAt(at + 1) - 48;
  return ten < 0 || ten > 9 || one < 0 || one > 9 ? 100 : 10 * ten + one;
}

/**
 * Returns a date and time as ms since the epoch, UTC if it names no zone; NaN for any other text, and for an impossible date (month 13, 30 February).
 * Digits beyond milliseconds are cut.
 */
export function isoTimeMs(text: string): number {
  const sinceMidnight = text.length === usualLength && text.startsWith(knownDay) ? timeOfDayMs(text) : -1;
  if (sinceMidnight !== -1) return knownDayMs + sinceMidnight;
  if (usualForm.test(text)) {
    if (!isDayOfItsMonth(text)) return Number.NaN;
    const ms = Date.parse(text);
    if (!Number.isNaN(ms) && text.length === usualLength) {
      knownDay = text.slice(0, dayLength);
      knownDayMs = Date.parse(knownDay);
    }
    return ms;
  }
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
