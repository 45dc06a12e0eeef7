/** Counts of verdicts over time as the API shows them. */
import type { Count, IsoTime } from "../values/answer-values.js";

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
