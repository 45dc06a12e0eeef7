/**
 * Recorded traces as the events that a browser would send, for measuring and training. Reads the data folder beside the project;
 * nothing of it is kept. Two forms of the same trace: as the SDK sends it, and one event a move.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { EventPayload, EventType, IngestEvent } from "../src/contract/events/events.js";

/** A row of a trace: time in ms, type (move, down, up, scroll, key) and two values. */
export type TraceRow = readonly [t: number, type: "m" | "d" | "u" | "s" | "k", x: number, y: number];

export interface Trace {
  readonly id: string;
  readonly source: string;
  readonly label: "human" | "bot";
  readonly generator: string | null;
  readonly user: string;
  readonly replay_of?: string;
  readonly events: readonly TraceRow[];
}

/**
 * `sdk`: rows of points, at least 7 ms apart, batches of 5 s. `system`: the same with what the SDK measures of input that the operating system
 * delivers, several moves in a report. `moves`: one event a move, batches of 40 events.
 */
export type TraceForm = "sdk" | "system" | "moves";

/** The folder of recorded data: `VERDICTD_TRACES`, or `../shared/data`; null when there is none. */
export function dataFolder(): string | null {
  const folder = process.env["VERDICTD_TRACES"] ?? "../shared/data";
  return existsSync(join(folder, "traces", "train.jsonl.gz")) ? folder : null;
}

/** The traces of one file, such as `train` or `keys_nc_dev`. */
export function readTraces(folder: string, name: string): Trace[] {
  const file = join(folder, "traces", `${name}.jsonl.gz`);
  if (!existsSync(file)) return [];
  const lines = gunzipSync(readFileSync(file)).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Trace);
}

const startMs = Date.parse("2026-11-21T12:00:00Z");
const pageOpenMs = 400;

class BatchWriter {
  readonly batches: IngestEvent[][] = [];
  private batch: IngestEvent[] = [];
  private count = 0;

  add(type: EventType, t: number, payload: EventPayload): void {
    this.count += 1;
    const received_at = new Date(startMs + Math.max(0, t)).toISOString();
    this.batch.push({ request_id: `trace-event-${this.count}`, type, received_at, payload });
  }

  get size(): number {
    return this.batch.length;
  }

  cut(): void {
    if (this.batch.length > 0) this.batches.push(this.batch);
    this.batch = [];
  }
}

/** The batches of a trace, behind a first batch of `opening` events. */
export function batchesOf(
  trace: Trace,
  form: TraceForm,
  opening: readonly [EventType, EventPayload][],
): IngestEvent[][] {
  const writer = new BatchWriter();
  for (const [type, payload] of opening) writer.add(type, 0, payload);
  writer.cut();
  if (form === "moves") writeMoves(trace, writer);
  else writeAsSdk(trace, writer, form === "system" ? systemMeasures : {});
  writer.cut();
  return writer.batches;
}

const sdkSpacingMs = 7;
const sdkBatchMs = 5000;
const rowsMax = 256;

const systemMeasures: EventPayload = {
  coalesced: 1.8,
  fractional: 0,
  dispatch_lag: 4.2,
  movement_mismatch: 0,
  pointer_type: "mouse",
};

/** As the SDK does it: a click is recorded at once, the stretch of moves around it when the batch is cut. */
function writeAsSdk(trace: Trace, writer: BatchWriter, measures: EventPayload): void {
  let points: [number, number, number][] = [];
  let strokes: [number, number][] = [];
  let pointsAt = 0;
  let strokesAt = 0;
  let downAt = Number.NaN;
  let batchAt = 0;
  const drainPoints = (now: number) => {
    if (points.length > 0) writer.add("mouse", now, { t: pageOpenMs + pointsAt, points, trusted: true, ...measures });
    points = [];
  };
  const drain = (now: number) => {
    drainPoints(now);
    if (strokes.length > 0) writer.add("key", now, { t: pageOpenMs + strokesAt, strokes, count: strokes.length });
    strokes = [];
  };
  for (const [t, type, x, y] of trace.events) {
    if (t - batchAt > sdkBatchMs || writer.size > 45) {
      drain(t);
      writer.cut();
      batchAt = t;
    }
    if (type === "m") {
      const before = points[points.length - 1];
      if (before === undefined) pointsAt = t;
      else if (t - pointsAt - before[0] < sdkSpacingMs) continue;
      points.push([round(t - pointsAt), x, y]);
      if (points.length === rowsMax) drainPoints(t);
    } else if (type === "d") downAt = t;
    else if (type === "u") writer.add("click", t, clickOf(t, x, y, downAt));
    else if (type === "s") writer.add("scroll", t, { t: round(pageOpenMs + t), dx: x, dy: y });
    else {
      if (strokes.length === 0) strokesAt = t;
      strokes.push([round(t - strokesAt), x]);
      if (strokes.length === rowsMax) drain(t);
    }
  }
  drain(trace.events[trace.events.length - 1]?.[0] ?? 0);
}

function writeMoves(trace: Trace, writer: BatchWriter): void {
  let downAt = Number.NaN;
  for (const [t, type, x, y] of trace.events) {
    const at = round(pageOpenMs + t);
    if (type === "m") writer.add("mouse", t, { t: at, x, y });
    else if (type === "d") downAt = t;
    else if (type === "u") writer.add("click", t, clickOf(t, x, y, downAt));
    else if (type === "s") writer.add("scroll", t, { t: at, dx: x, dy: y });
    else writer.add("key", t, { t: at, dwell: x, flight: y });
    if (writer.size >= 40) writer.cut();
  }
}

function clickOf(t: number, x: number, y: number, downAt: number): EventPayload {
  const payload: EventPayload = { t: round(pageOpenMs + t), x, y, button: 0 };
  if (!Number.isNaN(downAt)) payload.dwell = round(t - downAt);
  return payload;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
