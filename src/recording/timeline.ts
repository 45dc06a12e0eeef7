/** Folds events into a session's timeline. Pure. The input is an accepted batch, so its form was checked. */
import type { IngestEvent, PointRow } from "../contract/events/events.js";
import { spreadEvents } from "../contract/events/packed-clicks.js";
import { pointsOf } from "../contract/events/packed-points.js";
import type { PointKind, Timeline, TimelineEntry, TimelinePoint } from "../contract/sessions/timeline.js";
import { receivedAtMs } from "../contract/values/iso-time.js";
import { limits } from "../limits.js";

/** Returns the timeline with these events added, which came with one batch at `nowMs`. */
export function withEvents(timeline: Timeline | null, accepted: readonly IngestEvent[], nowMs: number): Timeline {
  const events = spreadEvents(accepted);
  const times = timesOf(events, nowMs);
  const startedAtMs = timeline?.startedAtMs ?? times[0] ?? nowMs;
  const points = [...(timeline?.points ?? [])];
  const entries = (timeline?.moments ?? []).map((entry) => ({ ...entry }));
  for (const [index, event] of events.entries()) {
    addEntry(entries, event, Math.max(0, Math.round((times[index]! - startedAtMs) / 100)));
    addPoints(points, event);
  }
  return {
    startedAtMs,
    noted: (timeline?.noted ?? 0) + events.length,
    points: points.slice(-limits.timelinePointsMax),
    moments: entries.slice(-limits.timelineEntriesMax),
  };
}

/** Uses the client's clock between events of the batch, which ended about now; a clock that jumps is not followed. */
function timesOf(events: readonly IngestEvent[], nowMs: number): number[] {
  const given = events.map(({ received_at }) => receivedAtMs(received_at, nowMs));
  const last = Math.max(...given);
  return given.map((at) => nowMs - Math.min(last - at, limits.timelineBatchMsMax));
}

function addEntry(entries: TimelineEntry[], { type, payload }: IngestEvent, at: number): void {
  const path = type === "page" ? payload.path?.replace(/[?#].*$/s, "").slice(0, limits.timelinePathMax) : undefined;
  const before = entries.at(-1);
  if (before?.type === type && before.path === path) before.count++;
  else entries.push({ at, type, count: 1, ...(path !== undefined && { path }) });
}

const kinds: Readonly<Record<string, PointKind>> = { mouse: "move", click: "click", touch: "touch" };

function addPoints(points: TimelinePoint[], { type, payload }: IngestEvent): void {
  const kind = kinds[type];
  if (kind === undefined) return;
  const { x, y } = payload;
  const rows = pointsOf(payload);
  const alone: readonly PointRow[] = rows.length === 0 && x !== undefined && y !== undefined ? [[0, x, y]] : rows;
  for (const row of alone) addPoint(points, onGrid(row[1]), onGrid(row[2]), kind);
}

/** A pointer that rests at one point of the grid counts as one point. */
function addPoint(points: TimelinePoint[], x: number, y: number, kind: PointKind): void {
  const before = points.at(-1);
  if (before?.[0] !== x || before[1] !== y || before[2] !== kind) points.push([x, y, kind]);
}

function onGrid(pixels: number): number {
  const { timelineGridPx, timelinePxMax } = limits;
  return Math.round(Math.min(Math.max(pixels, 0), timelinePxMax) / timelineGridPx) * timelineGridPx;
}
