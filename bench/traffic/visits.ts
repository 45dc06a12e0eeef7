/**
 * Visits as real browsers made them: what the SDK sent, batch by batch. Recorded by `scripts/record-traffic.ts`; what differs from one
 * visitor to the next (token, keys, ids) is a placeholder of its own length.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { eventIdPlaceholder, idPlaces, jitterPlaces, siteKeyPlaceholder, tokenPlaceholder } from "../load/batches.js";

/** One batch: when it was sent, ms after the visit's first, and its body. */
interface RecordedBatch {
  readonly atMs: number;
  readonly body: string;
}

export interface Visit {
  readonly browser: "chromium" | "firefox";
  /** What the visitor did. */
  readonly pastime: string;
  /** How long the visitor was watched, from the first batch on. */
  readonly seconds: number;
  /** As the browser sent them with each batch, in its order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly batches: readonly RecordedBatch[];
}

/** The recording, from the project's root or from its build. */
export const visitsFile = fileURLToPath(new URL("../../../bench/traffic/visits.jsonl.gz", import.meta.url));

/** Headers that differ from batch to batch or belong to the recording's own server. */
export const withheldHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "x-service-site-key",
  "idempotency-key",
  "origin",
  "referer",
]);

/** A body as sent, with placeholders. */
export function recordedBody(body: string): string {
  return body
    .replace(/"session_token":"sess_[\w-]+"/, `"session_token":"${tokenPlaceholder}"`)
    .replace(/"site_key":"[^"]+"/, `"site_key":"${siteKeyPlaceholder}"`)
    .replace(/"start_ticket":"([^"]+)"/, (_, ticket: string) => `"start_ticket":"${"A".repeat(ticket.length)}"`)
    .replaceAll(/"request_id":"[0-9a-f]{16}"/g, `"request_id":"${eventIdPlaceholder}"`)
    .replaceAll(/127\.0\.0\.1:\d+/g, "shop.example");
}

export function readVisits(): Visit[] {
  const lines = gunzipSync(readFileSync(visitsFile)).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Visit);
}

/** Batches a second that a visitor of the recording sends. */
export function batchesPerSecond(visits: readonly Visit[]): number {
  const batches = visits.reduce((sum, visit) => sum + visit.batches.length, 0);
  return batches / visits.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** The header lines of a visit's batches, those that were withheld among them. */
export function sentHeaders({ headers }: Visit): Visit["headers"] {
  return [...headers, ["Origin", "https://shop.example"], ["Referer", "https://shop.example/"]];
}

/** A recorded body as it is sent now, to this project. */
export function bodyOfNow(body: string, siteKey: string): string {
  const now = new Date().toISOString();
  return body.replace(siteKeyPlaceholder, siteKey).replaceAll(/"received_at":"[^"]*"/g, `"received_at":"${now}"`);
}

/** A batch, alone or behind the head of its request, and where what differs from visitor to visitor stands. */
export interface BatchTemplate {
  readonly bytes: Buffer;
  /** -1 for a first contact, which has none. */
  readonly tokenAt: number;
  readonly idsAt: readonly number[];
  readonly jitterAt: readonly number[];
}

/** The template of these bytes. Zeros in a head are no event's id. */
export function batchTemplate(text: string): BatchTemplate {
  const bytes = Buffer.from(text);
  return {
    bytes,
    tokenAt: bytes.indexOf(tokenPlaceholder),
    idsAt: idPlaces(bytes, eventIdPlaceholder).filter((at) => at > bytes.indexOf("\r\n\r\n")),
    jitterAt: jitterPlaces(bytes),
  };
}
