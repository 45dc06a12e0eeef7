/** Stored sessions and their timelines as the API shows them, and what it answers about one. */

import type { tags } from "typia";
import type { KnownAgent } from "../bots/agents.js";
import type { EventType } from "../events/events.js";
import type { EngineName } from "../evidence/evidence.js";
import type {
  Count,
  DetectionId,
  EngineScore,
  IsoTime,
  LogMeta,
  Score,
  SessionToken,
} from "../values/answer-values.js";
import type { Band } from "../verdicts/verdict.js";
import type { MarkAnswer } from "./marks.js";
import type { PointKind } from "./timeline.js";

/** A session in the log: band and score as a verdict read would give them now, without a request context. */
export interface SessionRow {
  session_token: SessionToken;
  verdict: Band;
  score: Score;
  /** Empty for clean humans, as on the verdict. */
  detection_ids: DetectionId[];
  event_count: Count;
  /** Its first report; where its token came with an answer before that (`issue_tokens`), the second in which it was issued. */
  first_seen_at: IsoTime;
  last_seen_at: IsoTime;
}

/** A session in the log with who it is of. */
export interface LoggedSessionRow extends SessionRow {
  /** The agent, crawler or library that the session is of; null: none is known. */
  agent: KnownAgent | null;
}

/** One page of a project's sessions. */
export interface SessionsAnswer {
  /** By `first_seen_at`, latest first. */
  data: LoggedSessionRow[];
  meta: LogMeta;
}

/** 1 to 99 by engine; null where it abstained. */
interface EngineScores {
  heuristics: EngineScore | null;
  js_detection: EngineScore | null;
  behavioral: EngineScore | null;
}

/** A detection that fired on the session. */
export interface FiredDetectionAnswer {
  id: DetectionId;
  slug: string;
  engine: EngineName;
  /** Log-odds of automation it added to its engine; 0 for experimental ones, and where a stronger one counts for the same cause. */
  contribution: number;
  /** The values it read, by name. */
  evidence: { [name: string]: string | number | boolean | null };
}

/** Who a session is of, by what, and since when. */
interface SessionAgent extends KnownAgent {
  evidence: string[];
  /**
   * When reports first showed it, by the mark or the behavior that it is known by; null where the last request says it (`signed`, `verified` and `declared`),
   * and of sessions that an earlier version named.
   */
  since: IsoTime | null;
}

/** One session with what its row leaves out: engines, detections, last request, assertion, pass and mark. */
export interface SessionAnswer extends SessionRow {
  engines: EngineScores;
  /** Strongest first. */
  detections: FiredDetectionAnswer[];
  /** From the last batch; null if unknown. */
  path: string | null;
  ip: string | null;
  user_agent: string | null;
  /** The most recent logged-in assertion; null: never. */
  logged_in_at: IsoTime | null;
  /** When the session last passed verdictd's own challenge; null: never. */
  cleared_at: IsoTime | null;
  /** The agent, crawler or library that the session is of, and what shows it; null: none is known. */
  agent: SessionAgent | null;
  /** The operator's mark; null: none. */
  mark: MarkAnswer | null;
}

/** The timeline of a session, as far as it is kept; in order of time, the oldest dropped first. */
export interface TimelineAnswer {
  /** Events that it covers; the session may have more. */
  noted: number & tags.Type<"uint32">;
  /** In pixels of the viewport, on a grid. */
  points: { x: number & tags.Type<"uint32">; y: number & tags.Type<"uint32">; kind: PointKind }[];
  /** Events of one kind in a row; `path` only of page events. */
  moments: { at: IsoTime; type: EventType; count: number & tags.Type<"uint32">; path: string | null }[];
}

/** The session is asserted as logged in for the 24 hours from `asserted_at`; asserting again restarts them. */
export interface LoggedInAnswer {
  logged_in: true;
  /** Start of the 24-hour window. */
  asserted_at: IsoTime;
}

/** Handed back as `start_ticket` of an event, once. */
export interface StartTicketAnswer {
  start_ticket: string;
  expires_at: IsoTime;
}
