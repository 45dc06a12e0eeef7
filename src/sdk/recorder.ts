/**
 * Gathers events into batches by size and time. Stands between the collectors, which record, and the transport, which takes.
 * Holds no more than one batch: what is ready goes to the transport at once, unless that is busy and there is room.
 */
import type { EventPayload, EventType, IngestEvent, PointRow } from "../contract/events/events.js";
import { eventId } from "./ids.js";
import { jsonOf } from "./json.js";

/** A payload in the making. What is undefined is dropped on the way: absent means "not observed". */
export type ObservedFacts = { [K in keyof EventPayload]?: EventPayload[K] | undefined };

/** Where collectors put what they saw. */
export interface Recorder {
  record(type: EventType, payload: ObservedFacts): void;
  /** Says that a collector holds something unrecorded, so that the next batch is due in time. */
  wake(): void;
  /** Makes a collector hand over what it holds, just before a batch is cut. */
  onDrain(drain: () => void): void;
  /** Cuts the batch now. */
  flush(): void;
  /** Takes all that was recorded, for the last report of a page. */
  take(): IngestEvent[];
}

/** Bytes of a batch's events: with its head it can leave with the page, which sends 24 KB then. */
const batchBytesMax = 23_000;
const batchEventsMax = 50;

/** Rounds to `digits` decimals, so that the wire carries no noise; what is not finite is left out. */
export function round(value: number, digits = 0): number | undefined {
  const scale = 10 ** digits;
  return Number.isFinite(value) ? Math.round(value * scale) / scale : undefined;
}

/** A row of `points`, to a tenth of a millisecond and a hundredth of a pixel. */
export function pointRow(ms: number, x: number, y: number): PointRow {
  return [round(ms, 1) ?? 0, round(x, 2) ?? 0, round(y, 2) ?? 0];
}

/** What the last answer said of the batches to come, and what the second file brings for it. */
export interface Told {
  /** `X-Verdict-Interval`: batches may be so many times rarer, and packed points are understood; 0 where it says nothing. */
  times?: number | undefined;
  /** `X-Verdict-Packing`: the latest form of packed points and clicks that is understood. */
  packing?: number | undefined;
  /** Most rows of a stretch of movement; absent: the contract's. */
  rows?: number | undefined;
  pack?: (payload: ObservedFacts) => ObservedFacts | undefined;
  /** The events in that form; undefined where it is not understood. */
  join?: (events: IngestEvent[]) => IngestEvent[] | undefined;
}

/** Starts gathering. `emit` takes a cut batch; `isBusy` says that one is under way; `wait` runs a task after some ms. */
export function startRecorder(
  interval: number,
  told: Told,
  emit: (events: IngestEvent[]) => void,
  isBusy: () => boolean,
  wait: (task: () => void, ms: number) => void,
): Recorder {
  const drains: (() => void)[] = [];
  let events: IngestEvent[] = [];
  let bytes = 0;
  let batches = 0;
  let due = false;

  const take = () => {
    for (const drain of drains) drain();
    const taken = events;
    events = [];
    bytes = 0;
    return taken;
  };
  const flush = () => {
    const taken = take();
    if (taken.length) batches++;
    // Drains may add some to a full batch, and the contract allows 100 events a body.
    const bodyEventsMax = 90;
    for (let at = 0; at < taken.length; at += bodyEventsMax) emit(taken.slice(at, at + bodyEventsMax));
  };
  // The first batches follow fast, so that a verdict has something to stand on; later ones wait for the whole interval.
  const wake = () => {
    if (due) return;
    due = true;
    wait(
      () => {
        due = false;
        if (isBusy()) wake();
        else flush();
      },
      Math.min(interval, 1000 * Math.max(1, batches)) * (told.times || 1),
    );
  };
  return {
    record(type, seen) {
      const payload = told.pack?.(seen) ?? seen;
      const envelopeBytes = 90; // id, type, time and names
      const size = envelopeBytes + jsonOf(payload).length;
      if (bytes + size > batchBytesMax) flush();
      events.push({
        request_id: eventId(),
        type,
        received_at: new Date().toISOString(),
        payload: payload as EventPayload,
      });
      bytes += size;
      if (events.length >= batchEventsMax) flush();
      else wake();
      // What may change a verdict that stands does not wait for a rare batch. In a task: this may be a drain of another one.
      if (told.times! > 1 && /env|page/.test(type)) wait(flush, 0);
    },
    wake,
    onDrain: (drain) => drains.push(drain),
    flush,
    take,
  };
}
