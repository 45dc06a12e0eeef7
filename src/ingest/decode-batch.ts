/** Checks the batch in an ingest body: shape, whitelist, times. Pure; says why on the first fault, naming the field. */
import type { IngestBatch, IngestEvents } from "../contract/events.js";
import type { JsonObject } from "../contract/json-body.js";
import { areIngestEvents, ingestEventsMismatch } from "../contract/validators.js";
import { Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";

/** The site key a body names, "" when it names none. */
export function siteKeyOf(body: JsonObject): string {
  return typeof body["site_key"] === "string" ? body["site_key"] : "";
}

/** The batch in a body, or an `invalidPayload` refusal. Nothing of a refused batch is kept. */
export function checkBatch(body: JsonObject): IngestBatch | Refusal {
  const { session_token, events, site_key } = body;
  if (session_token !== null && typeof session_token !== "string") {
    return refuse("invalidPayload", "session_token is required: a string, or null on first contact");
  }
  if (site_key !== undefined && typeof site_key !== "string") {
    return refuse("invalidPayload", "site_key must be a string");
  }
  const checked = checkEvents(events);
  return checked instanceof Refusal ? checked : { session_token, events: checked };
}

function checkEvents(events: unknown): IngestEvents | Refusal {
  if (!Array.isArray(events)) return refuse("invalidPayload", "events is required: an array of 1 to 100 events");
  if (events.length < 1 || events.length > limits.batchEventsMax) {
    return refuse("invalidPayload", `events must hold 1 to ${limits.batchEventsMax} events, not ${events.length}`);
  }
  if (!areIngestEvents(events)) {
    const mismatch = ingestEventsMismatch(events);
    return refuse(
      "invalidPayload",
      mismatch === null
        ? "events do not fit the schema"
        : mismatch.expected === "undefined"
          ? `${shortened(mismatch.path)} is not an accepted key`
          : `${shortened(mismatch.path)} must be ${mismatch.expected}`,
    );
  }
  const index = events.findIndex((event) => Number.isNaN(receivedAtMs(event.received_at)));
  return index === -1 ? events : refuse("invalidPayload", `events[${index}].received_at must be a valid ISO-8601 time`);
}

/** Keys are the client's: a message repeats no more of them than it takes to find the fault. */
function shortened(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}

/** Whether the month of a date `YYYY-MM-DD…` has that day: `Date.parse` takes 30 February for 2 March. */
function isDayOfItsMonth(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Time of an event as the client says, ms since the epoch; NaN for a date that can't be (month 13, 30 February). Not yet clamped. */
export function receivedAtMs(text: string): number {
  if (!isDayOfItsMonth(text)) return Number.NaN;
  if (text.endsWith("Z")) {
    const usual = Date.parse(text);
    if (!Number.isNaN(usual)) return usual;
  }
  // ISO-8601 forms that Date.parse does not know or takes for local time: a comma before the fraction, a zone without colon or
  // minutes, no zone at all.
  const iso = /^(\S{10})[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,3})\d*)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?$/.exec(text);
  if (iso === null) return Number.NaN;
  const zone = iso[5] === undefined ? "Z" : `${iso[5]}:${iso[6] ?? "00"}`;
  return Date.parse(`${iso[1]}T${iso[2]}${iso[3] === undefined ? "" : `.${iso[3]}`}${zone}`);
}
