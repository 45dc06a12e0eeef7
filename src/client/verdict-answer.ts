/**
 * Verdicts as the customer's backend gets them: checked, with what to do and why there is none. The border where the wire form
 * enters the client; makes no requests.
 */
import type { KnownAgent } from "../contract/bots/agents.js";
import { wellFormedToken } from "../contract/sessions/session-cookie.js";
import type { Action, Verdict } from "../contract/verdicts/verdict.js";

/** Why there is no verdict. `circuit_open`: verdictd failed so often recently that it was not asked. */
export type FailureReason =
  | "timeout"
  | "network"
  | "unauthenticated"
  | "no_subscription"
  | "bad_status"
  | "malformed"
  | "circuit_open"
  | "hook_threw";

/** Whether verdicts are acted upon. `monitor`: they are read and attached, and `action` always says `allow`. */
export const modes = ["enforce", "monitor"] as const;
/** One of `modes`. */
export type Mode = (typeof modes)[number];

/** A verdict and what became of the reading. */
export interface CheckedVerdict extends Readonly<Verdict> {
  /** What to do: verdictd's action, or `allow` in monitor mode and after a failure. */
  readonly action: Action;
  /** What verdictd said, in monitor mode too. */
  readonly resolvedAction: Action;
  /** verdictd's `X-Request-Id`: the verdict's id for support. Null when it was not asked or did not answer. */
  readonly requestId: string | null;
  /** Null for a verdict that verdictd gave, and for a visitor without a session, for whom it isn't asked. */
  readonly failed: FailureReason | null;
  /** Of a judged request: the agent, crawler or library that the visitor is, where one is known. */
  readonly agent?: KnownAgent;
  /** A token for the visitor's cookie, where one was asked for and the visitor brought none of use with a navigation. */
  readonly session_token?: string;
}

/** Exhaustive by its type: an action added to the contract has to be added here. */
const knownActions: Readonly<Record<Action, true>> = {
  allow: true,
  challenge: true,
  block: true,
  log: true,
  delay: true,
};

/** The verdict that stands in for one that can't be had: not computed, allowed. */
export function failOpen(failed: FailureReason | null): CheckedVerdict {
  return {
    verdict: "not_computed",
    score: 0,
    action: "allow",
    resolvedAction: "allow",
    detection_ids: [],
    reason: failed === null ? "No verdict: the visitor has no session yet." : `No verdict: ${failed}.`,
    requestId: null,
    failed,
  };
}

/** Whether all is there that a site may read of it: a category or certainty that a newer verdictd has added passes as it is. */
function isKnownAgent(value: unknown): value is KnownAgent {
  if (typeof value !== "object" || value === null) return false;
  const { name, category, certainty } = value as Partial<KnownAgent>;
  return typeof name === "string" && typeof category === "string" && typeof certainty === "string";
}

/**
 * The body of a verdict read, or null when it is none. Strict in what is acted upon (the action); a band that a newer verdictd
 * has added passes as it is.
 */
export function decodeVerdict(text: string, mode: Mode, requestId: string | null): CheckedVerdict | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { verdict, score, action, detection_ids, reason } = value as Partial<Verdict>;
  if (typeof verdict !== "string" || typeof reason !== "string") return null;
  if (typeof score !== "number" || !(score >= 0 && score <= 99)) return null;
  if (typeof action !== "string" || !Object.hasOwn(knownActions, action)) return null;
  if (!Array.isArray(detection_ids) || !detection_ids.every((id) => typeof id === "number")) return null;
  const {
    session_token: token,
    agent,
    ...others
  } = value as Verdict & Partial<Record<"session_token" | "agent", unknown>>;
  return {
    ...others,
    ...(isKnownAgent(agent) && { agent }),
    ...(typeof token === "string" && wellFormedToken.test(token) && { session_token: token }),
    action: mode === "monitor" ? "allow" : action,
    resolvedAction: action,
    requestId,
    failed: null,
  };
}
