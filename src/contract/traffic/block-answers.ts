/** Recorded blocks as the API shows them. */
import type { tags } from "typia";
import type { KnownAgent } from "../bots/agents.js";
import type { DetectionId, Id, IsoTime, LogMeta, Score, SessionToken } from "../values/answer-values.js";
import type { Band } from "../verdicts/verdict.js";

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
  /** Who the visitor was, as far as it was known at the first of its blocks; null: no agent, or a block of an older version. */
  agent: KnownAgent | null;
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
