/**
 * A recent session's course, for people to look at: a coarse pointer path and the kinds of its events with their times. Scoring never reads it. It
 * has no content, no target and no key: only a small part of what the batch's whitelist allows.
 */
import type { tags } from "typia";
import type { EventType } from "../events/events.js";

/** What a point of the path comes from. */
export type PointKind = "move" | "click" | "touch";

/** x and y in pixels of the viewport, a multiple of `limits.timelineGridPx`. */
export type TimelinePoint = [x: number & tags.Type<"uint32">, y: number & tags.Type<"uint32">, kind: PointKind];

/** Events of one kind in a row. */
export interface TimelineEntry {
  /** Tenths of a second since `startedAtMs`, for the first of them. */
  at: number & tags.Type<"uint32">;
  type: EventType;
  count: number & tags.Type<"uint32">;
  /** For a page event: its path, without a query, cut. */
  path?: string;
}

/**
 * A session's course in its stored form, with the stored names `noted` and `moments`. Lists are in order of time; the oldest entries are dropped
 * first.
 */
export interface Timeline {
  startedAtMs: number;
  /** How many events were recorded; a session has more when batches came too fast to record them all. */
  noted: number & tags.Type<"uint32">;
  points: TimelinePoint[];
  /** Its entries. */
  moments: TimelineEntry[];
}
