/** What an operator and a customer configure, in the form of code and store. Times are ISO-8601 strings, as in the API. */
import type { KnownAgent } from "../bots/agents.js";
import type { ProjectSettings } from "../sessions/session.js";
import type { Action } from "../verdicts/verdict.js";

/** Whether the account may use the data plane; the command line sets it, not the API. */
export type SubscriptionState = "active" | "inactive";
/** The highest rank first. */
export const roles = ["owner", "admin", "member", "viewer"] as const;
/** What a user may do on an account. */
export type Role = (typeof roles)[number];

/** The owner of projects: one person alone (`isPersonal`) or a team. `plan` is a name of `defaultPlans`. */
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

/** An account API token. The secret is stored nowhere: `hash` is its SHA-256 in hex. */
export interface AccountToken {
  id: number;
  accountId: number;
  userId: number;
  hash: string;
  abilities: string[];
  createdAt: string;
  /** Its purpose; absent if none was stated. */
  name?: string;
  /** Its user was removed from the account: it is bound to none any more, also when he is a member again. */
  isUnbound?: true;
}

/** A site that is scored, with hashes of its keys and with its settings. */
export interface Project extends ProjectSettings {
  accountId: number;
  name: string;
  /** Public key; null until scoring is enabled. */
  siteKey: string | null;
  /** SHA-256 in hex of the private key; null until scoring is enabled. */
  privateKeyHash: string | null;
  createdAt: string;
  /** Rotated keys that still work until their end, the earliest rotated first; may include ended ones. Absent if there are none. */
  oldKeys?: OldKey[];
}

/** `site` is public and sends events; `private` belongs to the backend and reads verdicts. */
export type KeyKind = "site" | "private";
/** The record under a key's hash: one read finds the project of a request. */
export interface KeyOwner {
  projectId: number;
  kind: KeyKind;
  /** When a rotated key ends, ms; absent for the current key. */
  untilMs?: number;
}

/** A rotated key that still works for some time. */
export interface OldKey {
  kind: KeyKind;
  /** SHA-256 in hex. */
  hash: string;
  rotatedAt: string;
  endsAt: string;
}

/** A stored rule. Only its source is kept; every evaluator compiles it. Lower `sortOrder` first. */
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
  /** From then on it is inactive; absent: it never expires. */
  expiresAt?: string;
}

/** An enforced block, kept for audit. It stands for further ones of the same subject, rule and minute (`blocks.ts`). */
export interface Block {
  id: number;
  projectId: number;
  /** `null` means that the visitor's request was judged without a session. */
  sessionToken: string | null;
  verdict: string;
  score: number;
  reason: string;
  detectionIds: number[];
  source: "rule";
  ruleId: number;
  path: string | null;
  createdAt: string;
  /** How many blocks it stands for; absent in rows of older versions, which means 1. */
  count?: number;
  /** The visitor was challenged, not blocked: known by reference, in no list of blocks; absent for a block. */
  action?: "challenge";
  /** Ids of answers with this block, as block pages show them, the latest last; absent if none is known. */
  references?: string[];
  /** Address of a request without a session, as far as addresses are stored; absent if unknown, or for a session's block. */
  ip?: string;
  /** Who the visitor was, as far as it was known then; absent for nobody, and in rows of older versions. */
  agent?: KnownAgent;
}

/** Counts of one project in one hour. */
export interface Traffic {
  events: number;
  sessions: number;
  verdicts: Record<string, number>;
  actions: Record<string, number>;
  /** How many of the verdicts and actions above were for requests without a scored session; absent if none. */
  requests?: Pick<Traffic, "verdicts" | "actions">;
  /** By the rule that requested them, "0" if that is unknown; absent if none. */
  challenges?: Record<string, StoredChallengeCounts>;
  /** By rule; absent if none matched. */
  rules?: Record<string, StoredRuleHits>;
}

/** Computed verdicts that a rule decided or logged; cached answers are not counted. */
export interface StoredRuleHits {
  /** Verdicts on sessions, and on requests without one. */
  sessions: number;
  requests: number;
  /** The last of them. */
  lastMs: number;
}

/** Outcomes of challenges. */
export interface StoredChallengeCounts {
  issued: number;
  passed: number;
  failed: number;
  /** Sum of the times from issuing to passing. */
  passedMs: number;
}
