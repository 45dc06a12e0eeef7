/** Sessions, projects and rules as verdicts are made of them, for tests of this folder. */

import type { ProjectSettings, ScoredState } from "../../src/contract/sessions/session.js";
import type { ExaminedRequest } from "../../src/contract/verdicts/judged-request.js";
import type { Action } from "../../src/contract/verdicts/verdict.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import type { NamedRule } from "../../src/verdict/resolve.js";

export const nowMs = Date.UTC(2026, 10, 21, 12);

/** A scored session; `score` is that of heuristics. */
export function session(score: number, change: Partial<ScoredState> = {}): ScoredState {
  return {
    scored: true,
    engineScores: { heuristics: score, js_detection: null, behavioral: null },
    score,
    detectionIds: score < 60 ? [100101, 100201] : [],
    verifiedBot: null,
    firstSeenMs: nowMs - 60_000,
    lastSeenMs: nowMs,
    loggedInAtMs: 0,
    clearance: null,
    eventCount: 3,
    last: { ip: "203.0.113.7", userAgent: "UA", path: "/last", host: "shop.example" },
    ...change,
  };
}

/** Of a request in which nothing speaks. */
export const plainRequest: ExaminedRequest = {
  score: null,
  detectionIds: [],
  verifiedBot: null,
  declaredBot: null,
  signature: "none",
  signedAgent: undefined,
  requestsPerMinute: undefined,
  visit: undefined,
  ja4: undefined,
  httpVersion: undefined,
  hasHeaders: true,
};

export function project(
  settings: Partial<ProjectSettings["botSettings"]> = {},
  change: Partial<ProjectSettings> = {},
): ProjectSettings {
  return {
    id: 1,
    botSettings: { allowVerified: true, protectStatic: true, loggedInPolicy: "observe", ...settings },
    likelyBotThreshold: 30,
    settingsRevision: 1,
    rulesRevision: 1,
    ...change,
  };
}

/** An active rule; `id` is also its place in the order. */
export function rule(id: number, expression: string, action: Action): NamedRule {
  const compiled = compileRule(expression);
  if (isRuleFault(compiled)) throw new Error(compiled.message);
  return { id, name: `Rule ${id}`, action, isActive: true, sortOrder: id, matches: compiled.matches };
}
