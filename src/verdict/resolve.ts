/**
 * Decides a verdict from a stored session, a visitor's request or both, in the contract's order: verified bot, static resource, rules, allow; then
 * the logged-in policy. Pure: time, rules and results of look-ups are arguments.
 */
import { isStanding, networkMark, networkUse, userAgentHash } from "../challenge/clearance.js";
import { agentDetections, agentWords, type KnownAgent } from "../contract/bots/agents.js";
import type { DeclaredBot } from "../contract/bots/declared-bots.js";
import type { VerifiedBot } from "../contract/bots/verified-bots.js";
import type { ExceptionLookup, LetThrough } from "../contract/configuration/exceptions.js";
import { type LastRequest, neutralScore } from "../contract/evidence/evidence.js";
import type { AddressLookup } from "../contract/evidence/network-fact.js";
import { defaultRequestScoring, type ProjectSettings, type ScoredState } from "../contract/sessions/session.js";
import type { Clearance } from "../contract/verdicts/challenge.js";
import type { ExaminedRequest } from "../contract/verdicts/judged-request.js";
import type { Action, Band, LoggedInPolicy, RequestContext, Verdict } from "../contract/verdicts/verdict.js";
import { noUserAgent } from "../contract/verdicts/visitor-request.js";
import { limits } from "../limits.js";
import { type EvaluatedRule, evaluateRules } from "../rules/evaluate.js";
import { type RuleFacts, RuleInput, type SearchFacts } from "../rules/input.js";
import { bandOf, bandOfScore } from "./bands.js";
import { failOpenReason } from "./reason.js";
import { isStaticResource } from "./static-resource.js";
import { testScores } from "./test-verdict.js";
import { describe, type MeaningOf, type ProvedBot, type UnwordedVerdict } from "./verdict-text.js";

/** An active rule in the form that a decision needs. */
export interface NamedRule extends EvaluatedRule {
  readonly name: string;
  /** Whether it names the method of CORS preflights; absent: no. */
  readonly asksForPreflights?: boolean;
  /** From then on it is inactive, ms; absent: it never expires. */
  readonly expiresAtMs?: number;
}

/** What was decided, before it is worded. */
export interface Decision {
  readonly verdict: UnwordedVerdict;
  /** The rule that decided the enforced action, and the log rules that matched before it. */
  readonly rule: NamedRule | null;
  readonly logged: readonly NamedRule[];
  /** True when a rule caused the verdict's action and it is a block: it is recorded. */
  readonly blocked: boolean;
  /** Set if the session's clearance was asked for from a network that it does not have yet: store that, and decide again with what it is then. */
  readonly clearanceUse?: ClearanceUse;
  /** Whether the rules exceeded a verdict's budget (`limits.ruleStepsMax`) before one decided. */
  readonly isOverBudget: boolean;
  /** When the exception that decided ends, ms; absent: none did. */
  readonly letThroughUntilMs?: number;
}

/** A use of a clearance from a further network. */
export interface ClearanceUse {
  readonly clearance: Clearance;
  /** The network's `networkMark`. */
  readonly mark: number;
}

/** A worded decision. */
export interface WordedDecision extends Omit<Decision, "verdict" | "clearanceUse"> {
  readonly verdict: Verdict;
}

/** All inputs of a decision. `nowMs` is ms since the epoch. */
export interface DecideInput {
  /** null means that there is no session. */
  readonly state: ScoredState | null;
  /** If absent, only the session is judged. */
  readonly request?: ExaminedRequest;
  readonly project: ProjectSettings;
  /** In the order of evaluation, active ones only. */
  readonly rules: readonly NamedRule[];
  readonly context: RequestContext;
  /** The verified bot at the address of the context, or the session's own. */
  readonly verifiedBot: VerifiedBot | null;
  /** The token that `state` was found by; absent where it does not count. */
  readonly sessionToken?: string | null;
  /** Absent, or null: the project has none. */
  readonly exceptions?: ExceptionLookup | null;
  /** If absent, nothing is known about addresses. */
  readonly addresses?: AddressLookup;
  /** The bot that the session's user agent names, for searches of stored sessions; absent for a verdict, which takes it from its request. */
  readonly declaredBot?: () => DeclaredBot | undefined;
  /**
   * The agent that the visitor is. Without a request, it is asked only if a rule reads it, or refuses one that marks or behavior tell. If absent, none is
   * known.
   */
  readonly agent?: () => KnownAgent | undefined;
  /** The slugs of the signs that an agent's behavior is known by; asked only to tell them. If absent, they are not told. */
  readonly agentSigns?: (() => readonly string[]) | undefined;
  readonly nowMs: number;
}

/** The same, with the meanings of detections. */
interface ResolveInput extends DecideInput {
  readonly meaningOf: MeaningOf;
}

/** Returns the body for a session that is unknown, foreign, not yet scored or can't be read. A fresh object each time. */
export function failOpenVerdict(reason = failOpenReason): Verdict {
  return { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], reason };
}

/** Words the result of `decide`; if that is null, returns the fail-open body with no rule. */
export function resolve(input: ResolveInput): WordedDecision {
  const decision = decide(input);
  if (decision === null) return { verdict: failOpenVerdict(), ...undecided };
  return { ...decision, verdict: describe(decision.verdict, input.meaningOf) };
}

/** Returns null for a session that has no verdict yet and no judged request: the answer is the fail-open body. */
export function decide(input: DecideInput): Decision | null {
  const { state, request, project, context } = input;
  const test = testScores(project);
  const scored = test ?? scoredOf(state, request);
  const verifiedBot = test === null ? input.verifiedBot : null;
  // A signature names the agent, while several bots of one operator may share an address.
  const proved: ProvedBot | null = test === null ? (request?.signedAgent ?? verifiedBot) : null;
  if (scored === null && proved === null) return null;
  const { engineScores, score, detectionIds } = scored ?? unscored;
  const band: UnwordedVerdict["band"] =
    proved === null ? bandOf(engineScores, score, project.likelyBotThreshold) : "verified";
  const unworded = (action: Action, because: string): UnwordedVerdict => ({
    band,
    score,
    isCapped: proved === null && band !== bandOfScore(score, project.likelyBotThreshold),
    action,
    detectionIds,
    verifiedBot: proved,
    because,
  });

  if (project.botSettings.allowVerified) {
    if (verifiedBot !== null) {
      const who = agentReason(input, proved, "allow");
      return unruled(unworded("allow", `${who}Allowed: verified bots are let through.`));
    }
    const { signedAgents } = project.requestScoring ?? defaultRequestScoring;
    if (proved !== null && signedAgents === "allow") {
      return unruled(unworded("allow", "Allowed: signed agents are let through."));
    }
  }
  const through = letThrough(input, proved);
  if (through !== null) {
    const verdict = { ...unworded("allow", through.reason), isLetThrough: true };
    return { ...unruled(verdict), letThroughUntilMs: through.expiresAtMs };
  }
  // Uses only the path that the asking backend sends: the session's last path comes from the visitor's own event.
  if (!project.botSettings.protectStatic && context.path !== undefined && isStaticResource(context.path)) {
    const who = agentReason(input, proved, "allow");
    return unruled(unworded("allow", `${who}Allowed: static resources are not protected.`));
  }
  const clearance = new ClearanceQuestion(input, band);
  const facts = ruleFacts(input, { engineScores, score, detectionIds }, band, proved, clearance);
  const { action, terminating, logged, isOverBudget } = evaluateRules(input.rules, new RuleInput(facts));
  const softened = state !== null && isShelterable(band) && isLoggedIn(state, input.nowMs);
  const asked = softened ? softenedAction(project.botSettings.loggedInPolicy, action) : action;
  const rule = terminating ?? logged[0] ?? null;
  const words = ruleReason(rule, action, asked, project.botSettings.loggedInPolicy);
  const passed = asked === "challenge" ? clearance.held() : null;
  const enforced = passed === null ? asked : "allow";
  const who = agentReason(input, proved, enforced);
  const ruled = passed === null ? words : `${words} Passed at ${new Date(passed.atMs).toISOString()}.`;
  const decided = who === "" ? ruled : `${who}${ruled}`.trimEnd();
  const because = isOverBudget ? `${decided} ${overBudgetReason}`.trimStart() : decided;
  const blocked = enforced === "block" && terminating !== null;
  const { use } = clearance;
  const decision: Decision = { verdict: unworded(enforced, because), rule, logged, blocked, isOverBudget };
  return use === null ? decision : { ...decision, clearanceUse: use };
}

/**
 * Returns the input of the rules, even if a guard would decide first; null if no rule is asked, because nothing is known. For searches of stored
 * sessions, which add their own fields: a verdict uses `decide`.
 */
export function ruleInput(input: DecideInput, search?: SearchFacts): RuleInput | null {
  const { state, request, project, verifiedBot } = input;
  const scored = scoredOf(state, request);
  const proved: ProvedBot | null = request?.signedAgent ?? verifiedBot;
  if (scored === null && proved === null) return null;
  const known = scored ?? unscored;
  const band = proved === null ? bandOf(known.engineScores, known.score, project.likelyBotThreshold) : "verified";
  return new RuleInput({ ...ruleFacts(input, known, band, proved, new ClearanceQuestion(input, band)), search });
}

/** The engines' results for a session, a request or both. */
interface Scored extends Pick<ScoredState, "engineScores" | "score"> {
  readonly detectionIds: readonly number[];
}

/** For a verified bot before its first score. */
const unscored: Scored = {
  engineScores: { heuristics: null, js_detection: null, behavioral: null },
  score: 0,
  detectionIds: [],
};

/** For a session and its request, the lower score counts, with the detections of both. A request without evidence has the neutral score. */
function scoredOf(state: ScoredState | null, request: ExaminedRequest | undefined): Scored | null {
  const session = state?.scored === true ? state : null;
  if (request === undefined) return session;
  const { score: heuristics, detectionIds } = request;
  const score = heuristics ?? neutralScore;
  if (session === null) {
    return { engineScores: { heuristics, js_detection: null, behavioral: null }, score, detectionIds };
  }
  const isLower = score < session.score;
  return {
    engineScores: { ...session.engineScores, heuristics: lowerOf(session.engineScores.heuristics, heuristics) },
    score: isLower ? score : session.score,
    detectionIds: isLower ? union(detectionIds, session.detectionIds) : union(session.detectionIds, detectionIds),
  };
}

/** null means that the engine abstained. */
function lowerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function union(first: readonly number[], second: readonly number[]): number[] {
  return [...first, ...second.filter((id) => !first.includes(id))];
}

/** The project's exception for this visitor, by what the asking side says of him or else by what his session last reported. */
function letThrough(
  { exceptions = null, state, sessionToken, context, agent, nowMs }: DecideInput,
  proved: ProvedBot | null,
): LetThrough | null {
  if (exceptions === null) return null;
  const last = state?.last;
  // Not every name that a user agent has: a spoofed one is nobody's.
  const agents = [proved?.name, agent?.()?.name].filter((name) => name !== undefined);
  const visitor = {
    sessionToken: state === null ? undefined : (sessionToken ?? undefined),
    ip: context.ip ?? last?.ip,
    userAgent: context.userAgent ?? last?.userAgent,
    agents,
  };
  return exceptions.find(visitor, nowMs);
}

const undecided = { rule: null, logged: [], blocked: false, isOverBudget: false } as const;
const overBudgetReason = "The last rules were not evaluated: those before them used up the budget of one verdict.";

/** Whether the session's clearance holds for this request; answered once, and only on demand. */
class ClearanceQuestion {
  /** Set by the answer, if the network is not one of the clearance's. */
  use: ClearanceUse | null = null;
  /** Of a session that has none: `cleared` is missing then. */
  readonly isPossible: boolean;
  readonly #input: DecideInput;
  #held: Clearance | null | undefined;

  /** `band`: of session and request together, since a person's clearance must not serve a program that has only the token. */
  constructor(input: DecideInput, band: Band) {
    const { state, project, nowMs } = input;
    const clearance = state?.clearance ?? null;
    const { challenge } = project;
    this.#input = input;
    this.isPossible = clearance !== null && challenge !== undefined && isStanding(clearance, band, challenge, nowMs);
    if (!this.isPossible) this.#held = null;
  }

  held(): Clearance | null {
    if (this.#held === undefined) this.#held = this.#answer();
    return this.#held;
  }

  #answer(): Clearance | null {
    const { state, request, project, context } = this.#input;
    const clearance = state?.clearance ?? null;
    if (clearance === null || project.challenge === undefined) return null;
    // A visitor without a user agent does not count as the one who passed.
    const missing = request?.hasHeaders === true ? noUserAgent : (state?.last.userAgent ?? "");
    if (userAgentHash(context.userAgent ?? missing) !== clearance.userAgentHash) return null;
    // A backend that tells no address can't be helped.
    const mark = context.ip === undefined ? null : networkMark(context.ip, clearance.userAgentHash);
    const use = mark === null ? "known" : networkUse(clearance, mark, project.challenge);
    if (mark !== null && use !== "known") this.use = { clearance, mark };
    return use === "over" ? null : clearance;
  }
}

function unruled(verdict: UnwordedVerdict): Decision {
  return { verdict, ...undecided };
}

const noRequest: LastRequest = { ip: "", userAgent: "", path: "", host: "" };

function ruleFacts(
  { state, request, project, context, addresses, declaredBot, agent, nowMs }: DecideInput,
  { engineScores, score, detectionIds }: Scored,
  band: Band,
  proved: ProvedBot | null,
  clearance: ClearanceQuestion,
): RuleFacts {
  const last = state?.last ?? noRequest;
  const path = context.path ?? last.path;
  return {
    score,
    band,
    verifiedBot: proved !== null,
    verifiedBotCategory: proved?.category,
    path,
    method: context.method,
    host: context.host ?? last.host,
    userAgent: context.userAgent ?? last.userAgent,
    ip: context.ip ?? last.ip,
    staticResource: path === "" ? undefined : isStaticResource(path),
    detectionIds,
    jsDetected: engineScores.js_detection !== null,
    heuristicsScore: engineScores.heuristics,
    behavioralScore: engineScores.behavioral,
    eventCount: state?.eventCount,
    sessionAgeSeconds: state === null ? undefined : Math.max(0, Math.floor((nowMs - state.firstSeenMs) / 1000)),
    likelyBotThreshold: project.likelyBotThreshold,
    isCleared: clearance.isPossible ? () => clearance.held() !== null : undefined,
    hasSession: state !== null,
    addresses,
    request,
    declaredBot,
    agent,
  };
}

/** No policy protects proven automation. */
function isShelterable(band: Band): boolean {
  return band !== "definite" && band !== "confident_automated";
}

/** Whether the logged-in assertion still holds: 24 hours from the most recent call. */
export function isLoggedIn(state: Pick<ScoredState, "loggedInAtMs">, nowMs: number): boolean {
  return state.loggedInAtMs > 0 && nowMs - state.loggedInAtMs < limits.loggedInMs;
}

/** The logged-in policy's table: what an action turns into while the assertion holds. */
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

/** How many signs of an agent's behavior a reason names. */
const namedSignsMax = 2;

/**
 * The sentence about who the visitor is, with a space at its end; "" where no agent is known, and where the band names the same one. An answer about a
 * request has it with each agent; one about a session alone, where an agent is refused that only the session tells: the score may be a person's, and a
 * user agent's name is a detection of its own.
 */
function agentReason({ state, request, agent, agentSigns }: DecideInput, proved: ProvedBot | null, enforced: Action) {
  if (request === undefined) {
    if (proved !== null || enforced === "allow" || enforced === "log" || state === null) return "";
    if (state.agentMarks === undefined && !state.detectionIds.includes(agentDetections.acting)) return "";
  }
  const known = agent?.();
  if (known === undefined || known.name === proved?.name) return "";
  const { certainty } = known;
  if (request === undefined && certainty !== "marked" && certainty !== "behavior") return "";
  const signs = certainty === "behavior" ? (agentSigns?.() ?? []).slice(0, namedSignsMax) : [];
  const shown = signs.length === 0 ? "" : `: ${signs.map((slug) => slug.replaceAll("-", " ")).join(" and ")}`;
  return `The visitor is ${agentWords(known)}${shown}. `;
}

function ruleReason(rule: NamedRule | null, action: Action, enforced: Action, policy: LoggedInPolicy): string {
  if (rule === null) return "";
  const decided = `${actionWords[action]} by rule "${rule.name}".`;
  return action === enforced
    ? decided
    : `${decided} Softened to ${enforced}: the visitor is logged in and the policy is ${policy}.`;
}
