/** Numbers and texts used in answers of the API, with their bounds. */
import type { tags } from "typia";

/** ISO 8601 in UTC. */
export type IsoTime = string & tags.Format<"date-time">;
/** Of an account, project, rule, token or block. */
export type Id = number & tags.Type<"uint32"> & tags.Minimum<1>;
/** Never negative. */
export type Count = number & tags.Type<"uint64">;
/** 32 bits, signed. */
export type Integer = number & tags.Type<"int32">;
/** 0 (not computed) or 1 to 99; the lower, the stronger the evidence of a bot. */
export type Score = number & tags.Type<"uint32"> & tags.Maximum<99>;
/** 1 to 99; the lower, the stronger the evidence of a bot. */
export type EngineScore = number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<99>;
/** 1 to 99. */
export type Threshold = number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<99>;
/** Of the public catalogue of detections. */
export type DetectionId = number & tags.Type<"uint32">;
/** As `/v1/events` gave it. */
export type SessionToken = string & tags.Pattern<"^sess_[A-Za-z0-9_-]{1,128}$">;

/** Where a page of a log ends. */
export interface LogMeta {
  /** Send it as `cursor` to get the next page; null on the last page. Opaque. */
  next_cursor: string | null;
}

/** `count` is the length of `data`: these lists have no pages. */
export interface PageMeta {
  /** Rows of the whole list. */
  count: number & tags.Type<"uint32">;
  /** Null on the last page. */
  next_cursor: string | null;
}

/** How many rows the answer has. */
export interface CountMeta {
  count: Count;
}
