/** Bands, actions and the verdict in the form that the backend reads. */
import type { tags } from "typia";
import type { KnownAgent } from "../bots/agents.js";
import type { BotCategory } from "../bots/bot-categories.js";

/** Every band: no score yet, the three bot bands from the surest on, people, verified bots. */
export const bands = [
  "not_computed",
  "definite",
  "confident_automated",
  "likely_automated",
  "likely_human",
  "verified",
] as const;
/** What a score means for the project's threshold T. */
export type Band = (typeof bands)[number];

/** Every action that a rule can ask for and a verdict can give. */
export const actions = ["allow", "challenge", "block", "log", "delay"] as const;
/** What the backend or the proxy that asked should do with the request. */
export type Action = (typeof actions)[number];

/** What a logged-in assertion protects from, least first; none of them shelters `definite` or `confident_automated`. */
export const loggedInPolicies = ["observe", "never_block", "never_challenge", "whitelist"] as const;
/** How far a logged-in session is spared challenges and blocks. */
export type LoggedInPolicy = (typeof loggedInPolicies)[number];

/** What becomes of a request whose agent's signature was verified. */
const signedAgentPolicies = ["allow", "rules"] as const;
/** `allow`: before any rule, while the guard `allow_verified` is on; `rules`: the rules decide. */
export type SignedAgentPolicy = (typeof signedAgentPolicies)[number];

/** The five categories of verified bots; each is one of `botCategories`. */
export const verifiedBotCategories = ["search", "ai_crawler", "ai_search", "monitoring", "seo"] as const;
/** What a verified bot is for. */
export type VerifiedBotCategory = (typeof verifiedBotCategories)[number];

/** Answer of the verdict read. `verified_bot_category` is present only on a verified bot. */
export interface Verdict {
  verdict: Band;
  /** 0 (not computed) or 1 to 99; the lower, the stronger the evidence of a bot. */
  score: number & tags.Type<"uint32"> & tags.Maximum<99>;
  action: Action;
  /** Stable ids explaining the score; empty for clean humans. */
  detection_ids: (number & tags.Type<"uint32">)[];
  /** Plain-English summary. */
  reason: string;
  /** Of a bot on the verified-bot list, one of its five categories; of a signed agent, any. */
  verified_bot_category?: BotCategory;
}

/** What a verdict is on: a scored session, or the request alone. */
export type VerdictSubject = "session" | "request";

/** Answer of `POST /v1/verdict`. */
export interface RequestVerdict extends Verdict {
  /** `session`: a scored session was found. */
  subject: VerdictSubject;
  /** Only where a signature was verified: host of its `Signature-Agent`, and what the agent is for. */
  signed_agent?: { agent: string; category: BotCategory };
  /** The agent, crawler or library that the visitor is, where one is known. */
  agent?: KnownAgent;
  /** Only where `issue_token` asked for one: a token for the visitor's cookie, who brought none of use with this navigation. */
  session_token?: string;
}

/** What the customer's backend knows of the visitor's request that asks for the verdict. A missing value is undefined. */
export interface RequestContext {
  path?: string | undefined;
  method?: string | undefined;
  host?: string | undefined;
  ip?: string | undefined;
  userAgent?: string | undefined;
}
