/** What a changed rule or setting would do, as the API shows it. */

import type { tags } from "typia";
import type { ActionCounts, BandCounts } from "../traffic/stats-answers.js";
import type { Count, Id, SessionToken } from "../values/answer-values.js";

/** What a draft rule, alone, would have done to stored sessions. */
export interface RuleTestAnswer extends RuleTestRange {
  /** The same of `compare_from` to `compare_to`. */
  compare?: RuleTestRange;
}

/** What a draft rule would have done in one span of time. */
export interface RuleTestRange {
  /** Sessions evaluated. */
  evaluated: Count;
  /** Whether `hours` had more sessions than were evaluated; absent without `hours`. */
  is_sample?: boolean;
  /** Sessions the rule matched. */
  matched: Count;
  /** The matched ones by the action their verdicts would have. */
  by_action: ActionCounts;
  /** The matched ones by band. */
  by_band: BandCounts;
  /** Tokens of matched sessions, the latest first. */
  sample: SessionToken[] & tags.MaxItems<10>;
  /** Fields of the expression that stored sessions don't have: a comparison with them is false. */
  unavailable_fields: string[];
  /** A sentence for each part of the expression that never, or always, matches. */
  warnings: string[];
  requests: TestedRequests;
  effect: RuleEffectAnswer;
}

/** Samples of requests without a session (`GET …/requests`) on which a draft rule was evaluated: of the last `hours`, or of the last day. */
interface TestedRequests {
  evaluated: Count;
  matched: Count;
  /** For how many requests the matched ones stand. */
  weight: number & tags.Minimum<0>;
  /** Of all evaluated ones, in requests: estimates. */
  effect: ChangeEffectAnswer;
}

/** Answer of `POST …/scoring/settings/test`. */
export interface SettingsTestAnswer {
  /** Sessions evaluated. */
  evaluated: Count;
  /** Whether `hours` had more sessions than were evaluated; absent without `hours`. */
  is_sample?: boolean;
  /** Of the evaluated sessions. Settings shadow no rules. */
  effect: RuleEffectAnswer;
  /** Of samples of requests without a session: of the last `hours`, or of the last day. */
  requests: {
    evaluated: Count;
    /** For how many requests they stand. */
    weight: number & tags.Minimum<0>;
    /** In requests: estimates. */
    effect: ChangeEffectAnswer;
  };
}

/** What a change would do to the evaluated sessions, against things as they are. */
export interface ChangeEffectAnswer {
  newly_blocked: Count;
  newly_challenged: Count;
  newly_delayed: Count;
  /** Let in afterwards, and not now. */
  newly_allowed: Count;
  /** Treated as now; `log` lets in as `allow` does. */
  unchanged: Count;
  /** Of those treated otherwise: in the band `likely_human`. */
  likely_human: Count;
  /** Of those treated otherwise: asserted as logged in. */
  logged_in: Count;
  /** Of those treated otherwise: marked as persons. */
  marked_human: Count;
}

/** The same of a draft rule at its place among the active rules. */
export interface RuleEffectAnswer extends ChangeEffectAnswer {
  /** Rules before the draft that decide sessions which it matches. */
  shadowed_by: Id[];
  /** Rules behind the draft whose sessions it would decide. */
  shadows: Id[];
}
