/** An operator's knowledge about a session: it was a person, or a bot. Kept with the verdict of that time. */

import type { tags } from "typia";
import type { LogMeta } from "../values/answer-values.js";
import type { Band } from "../verdicts/verdict.js";

type Count = number & tags.Type<"uint64">;

/** What a session can be marked as. */
const markNames = ["person", "bot"] as const;
/** The operator's word on a session. */
export type MarkName = (typeof markNames)[number];

/** A mark as it is stored. */
export interface SessionMark {
  projectId: number;
  sessionToken: string;
  as: MarkName;
  /** ISO-8601. */
  markedAt: string;
  userId: number;
  /** What the session was when it was marked. */
  band: Band;
  score: number;
  detectionIds: number[];
}

/** Sets or replaces the mark of one session. */
export interface MarkBody {
  as: MarkName;
}

/** A mark with the verdict of the time when it was set; later scoring does not change it. */
export interface MarkAnswer {
  session_token: string;
  as: MarkName;
  marked_at: string & tags.Format<"date-time">;
  /** Who marked it. */
  user_id: number & tags.Type<"uint32"> & tags.Minimum<1>;
  /** Band, score and detections of the session when it was marked. */
  verdict: Band;
  score: number & tags.Type<"uint32"> & tags.Maximum<99>;
  detection_ids: (number & tags.Type<"uint32">)[];
}

/** Counts of marks, and of those that contradict the verdict. */
export interface MarkTotals {
  /** Marked as persons; of these in a bot band: false positives. */
  persons: Count;
  false_positives: Count;
  /** Marked as bots; of these in the human band: missed. */
  bots: Count;
  missed_bots: Count;
  /** By detection that had fired, those with most persons first. */
  by_detection: { id: number & tags.Type<"uint32">; persons: Count; bots: Count }[];
}

/** One page of a project's marks, and the totals of all of them. */
export interface MarksAnswer {
  /** In the order of the sessions' first contact, the latest first. */
  data: MarkAnswer[];
  meta: LogMeta;
  /** Of all marks. */
  totals: MarkTotals;
}
