/**
 * From a stored session to a verdict, in the contract's order: verified bot, static resource, rules, allow; then the logged-in
 * policy. Pure: time, rules and the verified-bot look-up come as arguments.
 */
import { isStanding, userAgentHash } from "../challenge/clearance.js";
import type { Clearance } from "../contract/challenge.js";
import type { ProjectSettings, VerdictPart } from "../contract/session.js";
import type { Action, Band, LoggedInPolicy, RequestContext, Verdict } from "../contract/verdict.js";
import type { VerifiedBot } from "../contract/verified-bots.js";
import { limits } from "../limits.js";
import { type EvaluatedRule, evaluateRules } from "../rules/evaluate.js";
import { type RuleFacts, RuleInput } from "../rules/input.js";
import { bandOf } from "./bands.js";
import { describe, type Finding, type MeaningOf } from "./finding.js";
import { failOpenReason } from "./reason.js";
import { isStaticResource } from "./static-resource.js";

/** An active rule as resolution needs it. */
export interface NamedRule extends EvaluatedRule {
  readonly name: string;
}

/** What was found and decided, not yet in words. */
export interface Decision {
  readonly finding: Finding;
  /** The rule whose action was enforced, and the log rules that matched before it. */
  readonly rule: NamedRule | null;
  readonly logged: readonly NamedRule[];
  /** True when the verdict's action is a block that a rule caused: it is recorded. */
  readonly blocked: boolean;
  /** Whether the rules cost more than a verdict may before one decided (`limits.ruleStepsMax`). */
  readonly isOverBudget: boolean;
}

/** A decision in words. */
export interface Resolution extends Omit<Decision, "finding"> {
  readonly verdict: Verdict;
}

export interface DecideInput {
  readonly part: VerdictPart;
  readonly project: ProjectSettings;
  /** In the order of evaluation, active ones only. */
  readonly rules: readonly NamedRule[];
  readonly context: RequestContext;
  /** The verified bot at the address of the context, or the session's own. */
  readonly verifiedBot: VerifiedBot | null;
  readonly nowMs: number;
}

export interface ResolveInput extends DecideInput {
  readonly meaningOf: MeaningOf;
}

/** The body for a session that is unknown, foreign, not yet scored or can't be read. A fresh object each time. */
export function failOpenVerdict(): Verdict {
  return { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], reason: failOpenReason };
}

export function resolve(input: ResolveInput): Resolution {
  const decision = decide(input);
  if (decision === null) return { verdict: failOpenVerdict(), ...undecided };
  const { finding, ...rest } = decision;
  return { verdict: describe(finding, input.meaningOf), ...rest };
}

/** Null for a session that has no verdict yet: it answers the fail-open body. */
export function decide(input: DecideInput): Decision | null {
  const { part, project, context, verifiedBot } = input;
  if (!part.scored && verifiedBot === null) return null;
  const score = part.scored ? part.score : 0;
  const band: Finding["band"] =
    verifiedBot === null ? bandOf(part.engineScores, score, project.likelyBotThreshold) : "verified";
  const { detectionIds } = part;
  const finding = (action: Action, because: string): Finding => ({
    band,
    score,
    action,
    detectionIds,
    verifiedBot,
    because,
  });

  if (verifiedBot !== null && project.botSettings.allowVerified) {
    return unruled(finding("allow", "Allowed: verified bots are let through."));
  }
  // By the path that the asking backend sends alone: the session's last path is what the visitor's own event said.
  if (!project.botSettings.protectStatic && context.path !== undefined && isStaticResource(context.path)) {
    return unruled(finding("allow", "Allowed: static resources are not protected."));
  }
  const path = context.path ?? part.last.path;
  const isStatic = path === "" ? undefined : isStaticResource(path);
  const clearance = clearanceFor(input, band);
  const facts = ruleFacts(input, band, score, path, isStatic, clearance);
  const { action, terminating, logged, isOverBudget } = evaluateRules(input.rules, new RuleInput(facts));
  const softened = isShelterable(band) && isLoggedIn(part, input.nowMs);
  const asked = softened ? softenedAction(project.botSettings.loggedInPolicy, action) : action;
  const rule = terminating ?? logged[0] ?? null;
  const words = ruleReason(rule, action, asked, project.botSettings.loggedInPolicy);
  const passed = asked === "challenge" ? clearance() : null;
  const enforced = passed === null ? asked : "allow";
  const decided = passed === null ? words : `${words} Passed at ${new Date(passed.atMs).toISOString()}.`;
  const because = isOverBudget ? `${decided} ${overBudgetReason}`.trimStart() : decided;
  const blocked = enforced === "block" && terminating !== null;
  return { finding: finding(enforced, because), rule, logged, blocked, isOverBudget };
}

const undecided = { rule: null, logged: [], blocked: false, isOverBudget: false } as const;
const overBudgetReason = "The last rules were not asked: those before them cost more than one verdict may.";

/** The session's clearance where it holds for this request, worked out once and only if somebody asks. */
function clearanceFor({ part, project, context, nowMs }: DecideInput, band: Band): () => Clearance | null {
  const { clearance } = part;
  const { challenge } = project;
  if (clearance === null || challenge === undefined || !isStanding(clearance, band, challenge, nowMs))
    return noClearance;
  let isSameAgent: boolean | undefined;
  return () => {
    isSameAgent ??= userAgentHash(context.userAgent ?? part.last.userAgent) === clearance.userAgentHash;
    return isSameAgent ? clearance : null;
  };
}

const noClearance = (): null => null;

function unruled(finding: Finding): Decision {
  return { finding, ...undecided };
}

function ruleFacts(
  { part, project, context, verifiedBot, nowMs }: DecideInput,
  band: Band,
  score: number,
  path: string,
  isStatic: boolean | undefined,
  clearance: () => Clearance | null,
): RuleFacts {
  return {
    score,
    band,
    verifiedBot: verifiedBot !== null,
    verifiedBotCategory: verifiedBot?.category,
    path,
    method: context.method,
    host: context.host ?? part.last.host,
    userAgent: context.userAgent ?? part.last.userAgent,
    ip: context.ip ?? part.last.ip,
    staticResource: isStatic,
    detectionIds: part.detectionIds,
    jsDetected: part.engineScores.js_detection !== null,
    heuristicsScore: part.engineScores.heuristics,
    behavioralScore: part.engineScores.behavioral,
    eventCount: part.eventCount,
    sessionAgeSeconds: Math.max(0, Math.floor((nowMs - part.firstSeenMs) / 1000)),
    likelyBotThreshold: project.likelyBotThreshold,
    isCleared: clearance === noClearance ? undefined : () => clearance() !== null,
  };
}

/** No policy shelters proven automation. */
function isShelterable(band: Band): boolean {
  return band !== "definite" && band !== "confident_automated";
}

/** Whether the logged-in assertion still holds: 24 hours from the most recent call. */
export function isLoggedIn(part: Pick<VerdictPart, "loggedInAtMs">, nowMs: number): boolean {
  return part.loggedInAtMs > 0 && nowMs - part.loggedInAtMs < limits.loggedInMs;
}

/** The logged-in policy's table: what becomes of an action while the assertion holds. */
export function softenedAction(policy: LoggedInPolicy, action: Action): Action {
  switch (policy) {
    case "observe":
      return action;
    case "never_block":
      return action === "block" ? "challenge" : action;
    case "never_challenge":
      return action === "challenge" ? "allow" : action;
    case "whitelist":
      return "allow";
  }
}

const actionWords: Record<Action, string> = {
  allow: "Allowed",
  challenge: "Challenged",
  block: "Blocked",
  log: "Logged",
  delay: "Delayed",
};

function ruleReason(rule: NamedRule | null, action: Action, enforced: Action, policy: LoggedInPolicy): string {
  if (rule === null) return "";
  const decided = `${actionWords[action]} by rule "${rule.name}".`;
  return action === enforced
    ? decided
    : `${decided} Softened to ${enforced}: the visitor is logged in and the policy is ${policy}.`;
}
