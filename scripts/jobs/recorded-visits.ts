/**
 * Visits to the shop as the SDK reported them, of agents' tools and of people, in `recorded-visits.jsonl.gz` beside this file: what `quality-agents.ts` measures
 * without a browser. `quality-jobs.js --record FILE` adds visits to such a file.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { spreadEvents } from "../../src/contract/events/packed-clicks.js";
import { pointsOf } from "../../src/contract/events/packed-points.js";
import { batchHeaders, headerFactsOf, requestFactsOf } from "../../src/contract/evidence/header-facts.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { newFeatures, type SessionFeatures } from "../../src/engines/session-features.js";
import { aloneAsRecorded } from "../../test/engines/sessions.js";
import type { Cell } from "./cells.js";
import type { RecordedBatch } from "./shop.js";

/** One report: its header lines where they differ from the one before, and its events. */
interface Report {
  readonly headers?: Readonly<Record<string, string>>;
  readonly events: readonly IngestEvent[];
}

export interface RecordedVisit extends Pick<Cell, "group" | "tool" | "mode" | "job"> {
  readonly reports: readonly Report[];
}

/** The recording, from the project's root or from its build. */
const recordedVisitsFile = fileURLToPath(new URL("../../../scripts/jobs/recorded-visits.jsonl.gz", import.meta.url));

/** A visit as it is kept: without tokens, keys and the addresses of this machine. */
export function recordedVisit({ group, tool, mode, job }: Cell, batches: readonly RecordedBatch[]): RecordedVisit {
  let before = "";
  const reports = batches.map(({ headers, body }): Report => {
    const text = JSON.stringify(headers);
    const isSame = text === before;
    before = text;
    const { events } = JSON.parse(body) as { readonly events: IngestEvent[] };
    return isSame ? { events } : { headers, events };
  });
  const own = JSON.stringify({ group, tool, mode, job, reports }).replaceAll(/127(?:\.\d+){3}:\d+/g, "shop.example");
  return JSON.parse(own) as RecordedVisit;
}

export function readRecordedVisits(file = recordedVisitsFile): RecordedVisit[] {
  if (!existsSync(file)) return [];
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line) as RecordedVisit);
}

/** Adds visits to a file of such. */
export function addRecordedVisits(file: string, visits: readonly RecordedVisit[]): void {
  const all = [...readRecordedVisits(file), ...visits];
  writeFileSync(file, gzipSync(`${all.map((visit) => JSON.stringify(visit)).join("\n")}\n`, { level: 9 }));
}

const ip = "198.51.100.7";

/** As ingest hands it on. */
function unpacked(event: IngestEvent): IngestEvent {
  const { packed_points: packed, ...payload } = event.payload;
  return packed === undefined ? event : { ...event, payload: { ...payload, points: [...pointsOf(event.payload)] } };
}

/** What a session knows of the visit, and what its last request said. */
export function foldRecordedVisit({ reports }: RecordedVisit): {
  readonly features: SessionFeatures;
  readonly last: { readonly ip: string; readonly userAgent: string; readonly path: string; readonly host: string };
} {
  const features = newFeatures();
  let lines = headerFactsOf(() => "");
  for (const { headers, events } of reports) {
    if (headers !== undefined) lines = headerFactsOf((position) => headers[batchHeaders[position]!.name] ?? "");
    const nowMs = Date.parse(events.at(-1)!.received_at) + 20;
    const facts = requestFactsOf(lines, nowMs, ip);
    foldBatch(features, spreadEvents(events).map(unpacked), facts, aloneAsRecorded(events));
  }
  return { features, last: { ip, userAgent: lines.userAgent, path: "/", host: "shop.example" } };
}
