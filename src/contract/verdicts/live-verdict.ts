/** What a running server shows of its verdict answers to followers (`verdictd tail`): one JSON line each. */
import type { Action, Band } from "./verdict.js";

/** The origin of an answer. */
export type VerdictSource = "computed" | "cached" | "fail_open";

/** One answer. `null` means that the asking request did not say. The visitor's address is left out on purpose. */
export interface LiveVerdict {
  readonly at: string;
  readonly project_id: number;
  /** `null` means that the request came without a session. */
  readonly session_token: string | null;
  readonly verdict: Band;
  readonly score: number;
  readonly action: Action;
  readonly detection_ids: readonly number[];
  readonly reason: string;
  readonly source: VerdictSource;
  readonly method: string | null;
  readonly host: string | null;
  readonly path: string | null;
}

/** Which answers a follower wants; the first line it sends. Empty lists and null want all. */
export interface LiveFilter {
  readonly project: number | null;
  readonly bands: readonly string[];
  readonly actions: readonly string[];
}

/** Sent in place of answers that came faster than the follower reads. */
export interface LeftOut {
  readonly left_out: number;
}
