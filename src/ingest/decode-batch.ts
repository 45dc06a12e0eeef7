/** Decodes an ingest body: shape, whitelist, times. Pure; reports the first fault and names the field. */

import { type JsonObject, parseJsonObject } from "../contract/api/json-body.js";
import type { EventPayload, IngestBatch, IngestEvent, IngestEvents } from "../contract/events/events.js";
import { spreadClicks } from "../contract/events/packed-clicks.js";
import { unpackText } from "../contract/events/packed-points.js";
import { areIngestEvents, ingestEventsMismatch } from "../contract/validators.js";
import { pushHash64 } from "../contract/values/hashes.js";
import { isoTimeMs } from "../contract/values/iso-time.js";
import { Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { badIdempotencyKey, isIdempotencyKey } from "./idempotency.js";
import { readUsualBatch, UsualBatch } from "./usual-batch.js";

/** A parsed body that `batchOf` still has to check, or why it can't be parsed. */
export type ReadBody = UsualBatch | JsonObject | Refusal;

/** Reads a body: in one pass if it has the usual form, otherwise as any JSON. */
export function readBody(body: Buffer): ReadBody {
  return readUsualBatch(body) ?? parseJsonObject(body);
}

/** Returns the site key in a body, "" when it has none. */
export function siteKeyOf(body: ReadBody): string {
  if (body instanceof UsualBatch) return body.siteKey;
  return !(body instanceof Refusal) && typeof body["site_key"] === "string" ? body["site_key"] : "";
}

/** Returns the batch in a body, or an `invalidPayload` refusal. Nothing of a refused batch is kept. */
export function batchOf(body: ReadBody): IngestBatch | Refusal {
  if (body instanceof UsualBatch) return body.batch;
  return body instanceof Refusal ? body : checkBatch(body);
}

/** Returns the hash of each event's request id as two words, in order. `body` is the source of the batch. */
export function idHashesOf(body: ReadBody, { events }: IngestBatch): readonly number[] {
  return body instanceof UsualBatch ? body.idHashes : idHashes(events);
}

function idHashes(events: IngestEvents): number[] {
  const words: number[] = [];
  for (const { request_id } of events) pushHash64(request_id, words);
  return words;
}

/** Returns the batch in a parsed body, or an `invalidPayload` refusal. */
export function checkBatch(body: JsonObject): IngestBatch | Refusal {
  const { session_token, events, site_key, idempotency_key } = body;
  if (session_token !== null && typeof session_token !== "string") {
    return refuse("invalidPayload", "session_token is required: a string, or null on first contact");
  }
  if (site_key !== undefined && typeof site_key !== "string") {
    return refuse("invalidPayload", "site_key must be a string");
  }
  if (idempotency_key !== undefined && typeof idempotency_key !== "string") {
    return refuse("invalidPayload", "idempotency_key must be a string");
  }
  if (!isIdempotencyKey(idempotency_key ?? null)) return badIdempotencyKey;
  const checked = checkEvents(events);
  if (checked instanceof Refusal) return checked;
  return { session_token, events: checked, ...(idempotency_key !== undefined && { idempotency_key }) };
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
      mismatch === null ? "events do not fit the schema" : `${shortened(mismatch.path)} ${mismatch.fault}`,
    );
  }
  const decoded: IngestEvent[] = [];
  for (const [index, event] of events.entries()) {
    const { request_id, received_at, payload } = event;
    if (!isRequestId(request_id)) {
      return refuse("invalidPayload", `events[${index}].request_id must be 8 to 64 letters, digits, _ or -`);
    }
    if (Number.isNaN(isoTimeMs(received_at))) {
      return refuse("invalidPayload", `events[${index}].received_at must be a valid ISO-8601 time`);
    }
    if (payload.packed_points !== undefined) {
      const unpacked = unpack(payload);
      if (unpacked === null) {
        return refuse(
          "invalidPayload",
          `events[${index}].payload.packed_points must be packed points, and stand alone`,
        );
      }
      event.payload = unpacked;
    }
    const spread = payload.packed_clicks === undefined ? [event] : spreadClicks(event);
    if (spread === null) {
      return refuse("invalidPayload", `events[${index}].payload.packed_clicks must be packed clicks, in a click`);
    }
    decoded.push(...spread);
  }
  return decoded.length > limits.batchEventsMax
    ? refuse(
        "invalidPayload",
        `events must hold 1 to ${limits.batchEventsMax} events, not ${decoded.length} with packed clicks`,
      )
    : decoded;
}

/** The payload with `points` in the place of `packed_points`; null where those are none, or there are `points` beside them. */
function unpack(payload: EventPayload): EventPayload | null {
  const points = payload.points === undefined ? unpackText(payload.packed_points!) : null;
  if (points === null) return null;
  const unpacked = Object.entries(payload).map(([key, value]) =>
    key === "packed_points" ? ["points", points] : [key, value],
  );
  return Object.fromEntries(unpacked) as EventPayload;
}

const requestIdForm = /^[A-Za-z0-9_-]{8,64}$/;

function isRequestId(text: string): boolean {
  return requestIdForm.test(text);
}

/** Clients choose the keys: a message repeats only as much of them as is needed to find the fault. */
function shortened(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}
