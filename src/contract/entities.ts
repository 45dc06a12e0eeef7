/** The things an operator and a customer configure, as code and store know them. Times are ISO-8601 strings, as the API shows them. */
import type { ProjectSettings } from "./session.js";
import type { Action } from "./verdict.js";

/** Whether the account may use the data plane; set by the command line, not by the API. */
export type SubscriptionState = "active" | "inactive";
/** The highest rank first. */
export const roles = ["owner", "admin", "member", "viewer"] as const;
/** What a user may do on an account. */
export type Role = (typeof roles)[number];

/** Whoever owns projects: one person alone (`isPersonal`) or a team. `plan` is a name of `defaultPlans`. */
export interface Account {
  id: number;
  name: string;
  slug: string;
  isPersonal: boolean;
  plan: string;
  subscription: SubscriptionState;
  createdAt: string;
}

/** A person by one e-mail address; member of one account or several. */
export interface User {
  id: number;
  name: string;
  email: string;
  createdAt: string;
}

/** One user's role on one account; at most one for each pair. */
export interface Membership {
  accountId: number;
  userId: number;
  role: Role;
}

/** An account API token. The secret itself is nowhere: `hash` is its SHA-256 in hex. */
export interface AccountToken {
  id: number;
  accountId: number;
  userId: number;
  hash: string;
  abilities: string[];
  createdAt: string;
  /** What it is for; absent: nothing was said. */
  name?: string;
}

/** A site that is scored, with its keys as hashes and its settings. */
export interface Project extends ProjectSettings {
  accountId: number;
  name: string;
  /** Public key; null until scoring is enabled. */
  siteKey: string | null;
  /** SHA-256 in hex of the private key; null until scoring is enabled. */
  privateKeyHash: string | null;
  createdAt: string;
  /** Rotated keys that go on working until their end, the first to be rotated first; ended ones may be among them. Absent: none. */
  oldKeys?: OldKey[];
}

/** `site` is public and sends events; `private` belongs to the backend and reads verdicts. */
export type KeyKind = "site" | "private";
/** What is stored under a key's hash, so that one read finds the project of a request. */
export interface KeyOwner {
  projectId: number;
  kind: KeyKind;
  /** When a rotated key ends, ms; absent: it is the current one. */
  untilMs?: number;
}

/** A rotated key that its owner lets work for some time. */
export interface OldKey {
  kind: KeyKind;
  /** SHA-256 in hex. */
  hash: string;
  rotatedAt: string;
  endsAt: string;
}

/** A rule as it is stored. Only its source is kept; whoever evaluates it compiles it. Lower `sortOrder` first. */
export interface Rule {
  id: number;
  projectId: number;
  name: string;
  expressionSource: string;
  action: Action;
  isActive: boolean;
  sortOrder: number;
  createdAt: string;
  updatedAt: string;
}

/** An enforced block, kept for audit; it stands for further ones of the same subject, rule and minute (`blocks.ts`). */
export interface Block {
  id: number;
  projectId: number;
  /** Null: the visitor's request was judged without a session. */
  sessionToken: string | null;
  verdict: string;
  score: number;
  reason: string;
  detectionIds: number[];
  source: "rule";
  ruleId: number;
  path: string | null;
  createdAt: string;
  /** Blocks it stands for; absent in rows of older versions: 1. */
  count?: number;
  /** Ids of answers that said so, as block pages show them, the latest last; absent: none is known. */
  references?: string[];
  /** Address of a request without a session, as far as addresses are stored; absent: not known, or a session's. */
  ip?: string;
}

/** Counts of one project in one hour. */
export interface Traffic {
  events: number;
  sessions: number;
  verdicts: Record<string, number>;
  actions: Record<string, number>;
  /** Of the verdicts and actions above those of requests without a scored session; absent: none. */
  requests?: Pick<Traffic, "verdicts" | "actions">;
  /** By the rule that asked for them, "0" where that is not known; absent: none. */
  challenges?: Record<string, StoredChallengeCounts>;
  /** By rule; absent: none matched. */
  rules?: Record<string, StoredRuleHits>;
}

/** Computed verdicts for which a rule decided, or that it logged; cached answers are not counted. */
export interface StoredRuleHits {
  /** Of verdicts on sessions, and on requests without one. */
  sessions: number;
  requests: number;
  /** The last of them. */
  lastMs: number;
}

/** What became of challenges. */
export interface StoredChallengeCounts {
  issued: number;
  passed: number;
  failed: number;
  /** Sum of the times from issuing to passing. */
  passedMs: number;
}
