/** Answers about all that was judged: counts by value, samples of requests, crawlers. */
import type { tags } from "typia";
import type { Count, DetectionId, Id, IsoTime, LogMeta, Score } from "../values/answer-values.js";
import type { Action, Band } from "../verdicts/verdict.js";
import type { ActionCounts, BandCounts } from "./stats-answers.js";

/** Verdicts of a time by one dimension. */
export interface TrafficAnswer {
  /** The most frequent first. */
  data: { value: string; count: Count; bands: BandCounts; actions: ActionCounts }[];
  meta: TrafficMeta;
  /** The same of `compare_from` to `compare_to`. */
  compare?: { data: TrafficAnswer["data"]; meta: TrafficMeta };
}

/** Of how many verdicts. */
interface TrafficMeta {
  /** Verdicts that were counted. */
  total: Count;
  /** What is counted to none of the values shown, `without` among it. */
  other: Count;
  /** Verdicts without a value. */
  without: Count;
  from: IsoTime;
  to: IsoTime;
  /** The most by which a count can be wrong, a share of the total; 0: all are exact. */
  error: number & tags.Minimum<0> & tags.Maximum<1>;
}

/** A judged request without a session, one of several kept at random. */
export interface RequestSampleRow {
  at: IsoTime;
  method: string | null;
  /** Without its query; `*` for what looks like a token or an e-mail address. */
  path: string | null;
  host: string | null;
  /** As far as `--ip-storage` keeps it. */
  ip: string | null;
  country: string | null;
  asn: Count | null;
  as_name: string | null;
  user_agent: string | null;
  declared_bot: string | null;
  verified_bot: string | null;
  agent: string | null;
  band: Band;
  score: Score;
  action: Action;
  rule_id: Id | null;
  detection_ids: DetectionId[];
  /** For how many requests of its hour it stands. */
  weight: number & tags.Minimum<1>;
}

/** One page of samples. */
export interface RequestSamplesAnswer {
  /** The latest first. */
  data: RequestSampleRow[];
  meta: LogMeta;
  from: IsoTime;
  to: IsoTime;
  /** For how many requests the samples stand that this page was looked for in, those that do not match among them. */
  evaluated_weight: number & tags.Minimum<0>;
  /** Fields of the expression that samples don't have: a comparison with them is false. */
  unavailable_fields: string[];
}

/** Visits of crawlers by operator. */
export interface CrawlersAnswer {
  /** Those with the most visits first. */
  data: {
    operator: string;
    /** What its bot is for; null: not known. */
    category: string | null;
    verified: Count;
    /** Visits with the operator's user agent from addresses of others. */
    impostors: Count;
    last_at: IsoTime;
    /** The most frequent paths of verified visits. */
    paths: { value: string; count: Count }[];
    /** Verified visits by day of UTC, the last one is that of `to`. */
    trend: Count[];
  }[];
  from: IsoTime;
  to: IsoTime;
}
