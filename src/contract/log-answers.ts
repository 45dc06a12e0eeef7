/** Answers about recorded data of visitors: sessions, timelines, blocks, statistics. */
import type { tags } from "typia";
import type { KnownAgent } from "./agents.js";
import type { Count, DetectionId, EngineScore, Id, IsoTime, LogMeta, Score, SessionToken } from "./answer-values.js";
import type { EventType } from "./events.js";
import type { EngineName } from "./evidence.js";
import type { MarkAnswer } from "./marks.js";
import type { PointKind } from "./timeline.js";
import type { Band } from "./verdict.js";

/** A session in the log: band and score as a verdict read would give them now, without a request context. */
export interface SessionRow {
  session_token: SessionToken;
  verdict: Band;
  score: Score;
  /** Empty for clean humans, as on the verdict. */
  detection_ids: DetectionId[];
  event_count: Count;
  first_seen_at: IsoTime;
  last_seen_at: IsoTime;
}

/** One page of a project's sessions. */
export interface SessionsAnswer {
  /** By first contact, latest first. */
  data: SessionRow[];
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
  /** Log-odds of automation it added to its engine; 0 for experimental ones. */
  contribution: number;
  /** The values it read, by name. */
  evidence: { [name: string]: string | number | boolean | null };
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
  agent: (KnownAgent & { evidence: string[] }) | null;
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

/** A recorded block. */
export interface BlockRow {
  id: Id;
  /** Null: the visitor's request was judged without a session. */
  session_token: SessionToken | null;
  verdict: Band;
  score: Score;
  reason: string;
  detection_ids: DetectionId[];
  /** What a challenge's reference leads to has it: no block, and in no list of them. */
  action?: "challenge";
  source: "rule";
  rule_id: Id;
  path: string | null;
  /** Address of a request without a session, as far as `--ip-storage` keeps it; null for a session, which has its own. */
  ip: string | null;
  /** Blocks that it stands for: itself, and further ones of the same session, rule and minute. */
  count: number & tags.Type<"uint32"> & tags.Minimum<1>;
  /** `X-Request-Id`s of the answers with this block, as block pages show them: the latest 16. */
  references: string[];
  created_at: IsoTime;
}

/** One page of a project's recorded blocks. */
export interface BlocksAnswer {
  /** The latest first. */
  data: BlockRow[];
  meta: LogMeta;
}

/** How many verdicts or sessions fell in each band. */
export interface BandCounts {
  not_computed: Count;
  definite: Count;
  confident_automated: Count;
  likely_automated: Count;
  likely_human: Count;
  verified: Count;
}

/** How many verdicts led to each action. */
export interface ActionCounts {
  allow: Count;
  challenge: Count;
  block: Count;
  log: Count;
  delay: Count;
}

/** What became of challenges: one that is never solved was only issued. */
export interface ChallengeCounts {
  issued: Count;
  passed: Count;
  /** Solutions that were refused. */
  failed: Count;
}

/** Computed verdicts for which a rule decided, or that it logged. Answers from the cache are not counted. */
export interface RuleHits {
  /** On sessions. */
  sessions: Count;
  /** On requests without a session. */
  requests: Count;
  last_at: IsoTime;
}

/** Counts of one hour or day (UTC). */
export interface StatsRow {
  /** Start of the bucket. */
  at: IsoTime;
  /** Events accepted. */
  events: Count;
  /** Sessions first seen. */
  sessions: Count;
  /** Verdict answers by band. */
  verdicts: BandCounts;
  /** Verdict answers by action. */
  actions: ActionCounts;
  /** Verdict answers on requests without a scored session; `verdicts` and `actions` include them. */
  requests: { verdicts: BandCounts; actions: ActionCounts };
  /** verdictd's own challenges. */
  challenges: ChallengeCounts;
  /** With `?by=rule`: the same by the id of the rule that asked for them; "0" where that is not known. */
  challenges_by_rule?: { [rule: string]: ChallengeCounts };
  /** With `?by=rule`: hits by the id of the rule; rules without any are absent. */
  hits_by_rule?: { [rule: string]: RuleHits };
}

/** Counts of a project by the hour or the day. */
export interface StatsAnswer {
  /** In order of time; buckets without traffic are included, with zeros. */
  data: StatsRow[];
  /** The same of `compare_from` to `compare_to`. */
  compare?: { data: StatsRow[] };
}

/** Hits of rules by minute: computed verdicts that each decided or logged. */
export interface RuleMinutesAnswer {
  /** The last 60 minutes in order, the present one included. */
  data: {
    /** Start of the minute, UTC. */
    at: IsoTime;
    /** By the id of the rule; rules without any are absent. */
    hits_by_rule: { [rule: string]: { sessions: Count; requests: Count } };
  }[];
}
