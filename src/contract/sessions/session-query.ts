/** Queries of stored sessions (`POST …/sessions/query`): the body, the answer, and the dimensions for grouping sessions. */

import type { tags } from "typia";
import type { AgentCertainty } from "../bots/agents.js";
import type { BandCounts } from "../traffic/stats-answers.js";
import type { LogMeta } from "../values/answer-values.js";
import type { Action } from "../verdicts/verdict.js";
import type { SessionRow } from "./session-answers.js";

type Count = number & tags.Type<"uint64">;
type IsoTime = string & tags.Format<"date-time">;

/** Everything that sessions can be grouped by; `address` is the IP address, `as` the autonomous system. */
export const sessionDimensions = [
  "band",
  "action",
  "rule",
  "path",
  "host",
  "user_agent",
  "agent",
  "declared_bot",
  "country",
  "as",
  "network",
  "address",
  "detection",
] as const;
/** One way to group sessions: a name of `group_by`. */
export type SessionDimension = (typeof sessionDimensions)[number];

/** Sessions that match an expression of the rules language, and their most frequent values. */
export interface SessionQueryBody {
  /** Rules language with the fields of searches (`action`, `rule_id`), at most 2000 characters; absent or empty: every session. */
  expression?: string;
  /** When the sessions began, ISO-8601. Default: a day before `to`. */
  from?: string;
  /** Exclusive. Default: now. */
  to?: string;
  /** What to count the matched sessions by. Not with `cursor`. */
  group_by?: SessionDimension[] & tags.MaxItems<13>;
  /** Values of each group; default 10. */
  top?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<100>;
  /** Sessions of the page; default 50. */
  limit?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<100>;
  /** `next_cursor` of the page before. */
  cursor?: string;
  /** Another span of time, for which `compare` says the same. Both or neither, and not with `cursor`. */
  compare_from?: string;
  /** Exclusive. */
  compare_to?: string;
}

/** A matched session: what it last reported, and what the current rules would do with a request that says nothing of its own. */
export interface QueriedSessionRow extends SessionRow {
  action: Action;
  /** The rule behind the action; null: none. */
  rule_id: (number & tags.Type<"uint32"> & tags.Minimum<1>) | null;
  /** As the verdict says it; "" for a session without a score. */
  reason: string;
  path: string | null;
  host: string | null;
  ip: string | null;
  user_agent: string | null;
  /** Of the address, where an address database says it; else null. */
  country: string | null;
  asn: Count | null;
  as_name: string | null;
  /** Name of the agent that the session is of; null: none is known. */
  agent: string | null;
  /** How sure that is. */
  agent_certainty: AgentCertainty | null;
}

/** The matched sessions by one dimension. */
export interface SessionGroup {
  by: SessionDimension;
  /** The most frequent first. */
  values: {
    value: string;
    /** Matched sessions. */
    sessions: Count;
    /** The same by band. */
    verdicts: BandCounts;
    /** The condition that selects them, in the rules language; null if the language can't express it. */
    condition: string | null;
  }[];
  /** How many other values there are. */
  further_values: Count;
  /** Matched sessions without any value. */
  without: Count;
}

/** Matched sessions over time, by when they began. */
interface SessionBars {
  bar_seconds: Count;
  /** In order, without gaps. */
  bars: { at: IsoTime; verdicts: BandCounts }[];
}

/** Matched sessions of a span of time, with counts unless it is a further page. */
export interface SessionQueryAnswer extends SessionQueryRange {
  /** The same of `compare_from` to `compare_to`. */
  compare?: SessionQueryRange;
}

/** Matched sessions of one span of time. */
export interface SessionQueryRange {
  /** Matched sessions, the latest first. */
  data: QueriedSessionRow[];
  meta: LogMeta;
  from: IsoTime;
  to: IsoTime;
  /** Sessions on which the expression was evaluated for `matched`, groups and chart; with `cursor`, for this page. */
  scanned: Count;
  matched: Count;
  /** Whether the range has more sessions than were scanned. Then an even sample was scanned, and every count is of that sample. */
  is_sample: boolean;
  /** Sessions that began in the range: counted, or for a sample estimated from the hourly counts; null if these are gone. Absent with `cursor`. */
  total?: Count | null;
  /** One for each of `group_by`, in its order. Absent with `cursor`. */
  groups?: SessionGroup[];
  /** Absent with `cursor`. */
  chart?: SessionBars;
  /** Fields of the expression that stored sessions don't have: a comparison with them is false. */
  unavailable_fields: string[];
}
