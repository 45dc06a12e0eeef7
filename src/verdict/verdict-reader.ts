/** Answers verdict reads: uses the cache, or decides by the stored session, and reports each answer. Any failure answers fail-open. */
import { clearanceEndMs, isStanding } from "../challenge/clearance.js";
import type { KnownAgent } from "../contract/bots/agents.js";
import type { VerifiedBot } from "../contract/bots/verified-bots.js";
import type { ExceptionLookup } from "../contract/configuration/exceptions.js";
import type { AddressLookup } from "../contract/evidence/network-fact.js";
import { addressProof } from "../contract/sessions/address-proof.js";
import { newScoredState, type ProjectSettings, type ScoredState } from "../contract/sessions/session.js";
import type { Clearance } from "../contract/verdicts/challenge.js";
import type { ExaminedRequest } from "../contract/verdicts/judged-request.js";
import type { VerdictSource } from "../contract/verdicts/live-verdict.js";
import type { RequestContext, Verdict, VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { bandOfSession } from "./bands.js";
import { type AgentLists, knownAgent } from "./known-agent.js";
import { unansweredReason } from "./reason.js";
import {
  type ClearanceUse,
  type Decision,
  decide,
  failOpenVerdict,
  type NamedRule,
  type WordedDecision,
} from "./resolve.js";
import { type CachedVerdict, type SentContext, VerdictCache, type VerdictKey } from "./verdict-cache.js";
import { type MeaningOf, type ProvedBot, type VerdictText, VerdictTexts, verdictTextOf } from "./verdict-text.js";

/** What a decision was made of, besides the asking request's context. */
export interface DecidedOn {
  /** `request` if a request was judged alone. */
  readonly subject: VerdictSubject;
  readonly state: ScoredState | null;
  /** Undefined for a verdict read, which judges no request. */
  readonly request: ExaminedRequest | undefined;
  /** The verified bot, or the signed agent. */
  readonly proved: ProvedBot | null;
  /** Who the visitor is, as answers say it; asked only where it is counted or a rule reads it. */
  readonly agent: () => KnownAgent | undefined;
}

/** What the reader needs from the rest of verdictd; each call is synchronous and cheap. */
export interface VerdictSources {
  /**
   * Loads a session for the reads below; `null` means that it is already available. Never rejects: a session that can't be had in time counts as
   * unknown. If absent, every session is available.
   */
  readonly load?: (project: ProjectSettings, token: string) => Promise<void> | null;
  /** Returns null for an unknown session or one of another project. */
  readonly scoredState: (projectId: number, token: string) => ScoredState | null;
  /** Asked once where `scoredState` found nothing: resolves when it may find the session after all, null if there is none. If absent, there is none. */
  readonly later?: () => Promise<void> | null;
  /** Whether `load` had no answer for this session, so it is unknown whether it exists. If absent, all sessions are available. */
  readonly isUnanswered?: (projectId: number, token: string) => boolean;
  /** Returns the session's current `stateStamp`; 0 for one that is gone. Called for cached answers of projects where it can matter. */
  readonly stateStamp: (project: ProjectSettings, token: string, nowMs: number) => number;
  /** Active rules in the order of evaluation. */
  readonly rulesOf: (project: ProjectSettings) => readonly NamedRule[];
  /** Whom the project lets through; null for nobody. */
  readonly exceptionsOf: (project: ProjectSettings) => ExceptionLookup | null;
  readonly verifiedBotAt: (ip: string) => VerifiedBot | null;
  readonly addresses: AddressLookup;
  readonly meaningOf: MeaningOf;
  /** If absent, agents are known by their signature and address alone. */
  readonly agents?: AgentLists;
  /** Called with every computed decision, not with cached answers. `token` is null without a session. Must not throw. */
  readonly onComputed: (
    project: ProjectSettings,
    token: string | null,
    context: RequestContext,
    decision: WordedDecision,
    on: DecidedOn,
  ) => void;
  /** Called with every answer; `subject` is `request` if a request was judged alone. `token` is the one in the question, null for none. */
  readonly onAnswer: (
    project: ProjectSettings,
    verdict: Verdict,
    source: VerdictSource,
    subject: VerdictSubject,
    token: string | null,
    asked: AskedContext,
    nowMs: number,
  ) => void;
  /** Adds a network to the session's clearance, or ends it if it has too many; resolves with what it is then. If absent, networks don't count. */
  readonly useClearance?: (project: ProjectSettings, token: string, use: ClearanceUse) => Promise<Clearance | null>;
  readonly onFailure: (error: unknown) => void;
  /** Called with every answer that failed open because `isUnanswered`. */
  readonly onUnanswered?: () => void;
  readonly now: () => number;
}

/** The input of a verdict: the context as sent, and a function that parses it. */
export interface AskedContext {
  readonly sent: SentContext;
  /** Returns the same context each time. Call it only if the context is needed: most answers come from the cache. */
  readonly read: () => RequestContext;
}

/** Wraps a context that was already parsed. */
export function askedWith(context: RequestContext): AskedContext {
  return { sent: context, read: () => context };
}

/** How long answers are kept, in ms, and the cache's maximum memory, in bytes. */
interface VerdictReaderOptions {
  readonly sources: VerdictSources;
  /** 0 turns the cache off. */
  readonly ttlMs: number;
  readonly cacheBytesMax: number;
}

/** The reader of one thread, with its own cache. New settings, a login and a clearance take effect at once, a new score after `ttlMs`. */
export class VerdictReader {
  readonly #sources: VerdictSources;
  readonly #ttlMs: number;
  readonly #cache: VerdictCache;
  readonly #texts: VerdictTexts;
  readonly #failOpen = verdictTextOf(failOpenVerdict());
  readonly #unanswered = verdictTextOf(failOpenVerdict(unansweredReason));

  constructor({ sources, ttlMs, cacheBytesMax }: VerdictReaderOptions) {
    this.#sources = sources;
    this.#ttlMs = ttlMs;
    this.#cache = new VerdictCache(cacheBytesMax);
    this.#texts = new VerdictTexts(sources.meaningOf);
  }

  /** Call before reading the verdict, and wait for the returned promise; `null` means that the verdict has everything it needs. */
  load(project: ProjectSettings, token: string, sent: SentContext): Promise<void> | null {
    const sources = this.#sources;
    if (sources.load === undefined) return null;
    const isCached = this.#ttlMs > 0 && this.#cache.get(keyOf(project, token, sent), sources.now()) !== null;
    return isCached && !hasState(project) ? null : sources.load(project, token);
  }

  /** Returns the verdict as JSON text; the fail-open body where `answer` would take its time. Never throws. */
  read(project: ProjectSettings, token: string, context: RequestContext): string {
    const text = this.answer(project, token, askedWith(context));
    return text instanceof Promise ? this.#failOpen.body : text.body;
  }

  /**
   * Returns the verdict of a session, null for none; a promise if a clearance is used from a further network, or the session has to be looked for again.
   * Never throws and never rejects: an error answers the fail-open body.
   */
  answer(project: ProjectSettings, token: string | null, asked: AskedContext): VerdictText | Promise<VerdictText> {
    const nowMs = this.#sources.now();
    try {
      return this.#answer(project, token, asked, nowMs);
    } catch (error) {
      this.#sources.onFailure(error);
      return this.#failedOpen(project, token, asked, nowMs);
    }
  }

  #answer(
    project: ProjectSettings,
    token: string | null,
    asked: AskedContext,
    nowMs: number,
    isSecond = false,
  ): VerdictText | Promise<VerdictText> {
    if (token === null) return this.#failedOpen(project, token, asked, nowMs);
    const sources = this.#sources;
    const key = keyOf(project, token, asked.sent);
    const cached = this.#ttlMs === 0 ? null : this.#cache.get(key, nowMs);
    if (cached !== null && this.#stillHolds(cached, project, token, nowMs)) {
      sources.onAnswer(project, cached.text.verdict, "cached", "session", token, asked, nowMs);
      return cached.text;
    }
    const known = sources.scoredState(project.id, token);
    const state = known === null && project.testOutcome !== undefined ? newScoredState(nowMs) : known;
    if (state === null) {
      const later = isSecond ? null : (sources.later?.() ?? null);
      if (later === null) return this.#failedOpen(project, token, asked, nowMs);
      const again = later.then(() => this.#answer(project, token, asked, nowMs, true));
      return this.#orFailedOpen(again, project, token, asked, nowMs);
    }
    return this.#decide(project, token, asked, state, nowMs);
  }

  #decide(
    project: ProjectSettings,
    token: string,
    asked: AskedContext,
    state: ScoredState,
    nowMs: number,
  ): VerdictText | Promise<VerdictText> {
    const sources = this.#sources;
    const context = asked.read();
    const rules = sources.rulesOf(project);
    const verifiedBot = verifiedBotOf(state, context, sources.verifiedBotAt);
    const exceptions = sources.exceptionsOf(project);
    const agent = () => knownAgent({ state, verifiedBot }, sources.agents);
    const { addresses } = sources;
    // Field by field: spreads of objects, here and where records are decoded, cost a computed read 0.10 µs.
    const decision = decide({
      state,
      project,
      rules,
      context,
      verifiedBot,
      addresses,
      exceptions,
      sessionToken: token,
      agent,
      nowMs,
    });
    if (decision === null) return this.#failedOpen(project, token, asked, nowMs);
    if (decision.clearanceUse !== undefined && sources.useClearance !== undefined) {
      const used = sources
        .useClearance(project, token, decision.clearanceUse)
        .then((clearance) => this.#decide(project, token, asked, { ...state, clearance }, nowMs));
      return this.#orFailedOpen(used, project, token, asked, nowMs);
    }
    const text = this.#texts.of(decision.verdict);
    const { rule, logged, blocked, isOverBudget } = decision;
    const on: DecidedOn = { subject: "session", state, request: undefined, proved: verifiedBot, agent };
    sources.onComputed(project, token, context, { verdict: text.verdict, rule, logged, blocked, isOverBudget }, on);
    sources.onAnswer(project, text.verdict, "computed", "session", token, asked, nowMs);
    if (this.#ttlMs > 0) {
      this.#remember(keyOf(project, token, asked.sent), text, state, project, nowMs, endOf(decision));
    }
    return text;
  }

  #orFailedOpen(
    answer: Promise<VerdictText>,
    project: ProjectSettings,
    token: string,
    asked: AskedContext,
    nowMs: number,
  ): Promise<VerdictText> {
    return answer.catch((error: unknown) => {
      this.#sources.onFailure(error);
      return this.#failedOpen(project, token, asked, nowMs);
    });
  }

  #failedOpen(project: ProjectSettings, token: string | null, asked: AskedContext, nowMs: number): VerdictText {
    const isUnanswered = token !== null && this.#sources.isUnanswered?.(project.id, token) === true;
    if (isUnanswered) this.#sources.onUnanswered?.();
    const text = isUnanswered ? this.#unanswered : this.#failOpen;
    this.#sources.onAnswer(project, text.verdict, "fail_open", "session", token, asked, nowMs);
    return text;
  }

  /** A logged-in assertion and a clearance take effect at once, and a clearance ends at once. */
  #stillHolds(entry: CachedVerdict, project: ProjectSettings, token: string, nowMs: number): boolean {
    return !hasState(project) || this.#sources.stateStamp(project, token, nowMs) === entry.stateStamp;
  }

  #remember(
    key: VerdictKey,
    text: VerdictText,
    state: ScoredState,
    project: ProjectSettings,
    nowMs: number,
    decidedUntilMs: number,
  ): void {
    let endsMs = Math.min(nowMs + this.#ttlMs, decidedUntilMs);
    const windowEndMs = state.loggedInAtMs + limits.loggedInMs;
    if (windowEndMs > nowMs) endsMs = Math.min(endsMs, windowEndMs);
    if (state.clearance !== null && project.challenge !== undefined) {
      const clearedUntilMs = clearanceEndMs(state.clearance, project.challenge);
      if (clearedUntilMs > nowMs) endsMs = Math.min(endsMs, clearedUntilMs);
    }
    const stamp = hasState(project) ? stateStamp(state, project, nowMs) : 0;
    this.#cache.set(key, { text, stateStamp: stamp }, nowMs, endsMs);
  }
}

/** When what decided expires, ms: a cached answer ends with it. */
function endOf({ rule, logged, letThroughUntilMs = Number.POSITIVE_INFINITY }: Decision): number {
  return [rule, ...logged].reduce((end, each) => Math.min(end, each?.expiresAtMs ?? end), letThroughUntilMs);
}

function keyOf({ id: projectId, settingsRevision }: ProjectSettings, token: string, sent: SentContext): VerdictKey {
  return { projectId, settingsRevision, token, sent };
}

/** Uses the address of the asking request, if it differs from the one that proved the session's identity. */
export function verifiedBotOf(
  { verifiedBot, addressProof: proof, last }: ScoredState,
  { ip }: RequestContext,
  verifiedBotAt: (ip: string) => VerifiedBot | null,
): VerifiedBot | null {
  if (ip === undefined) return verifiedBot;
  const isKnown = verifiedBot === null ? ip === last.ip : proof === addressProof(ip);
  return isKnown ? verifiedBot : verifiedBotAt(ip);
}

/** Whether the parts of a session's state that take effect at once (not its score) can change its verdict. */
export function hasState({ botSettings, challenge }: ProjectSettings): boolean {
  return botSettings.loggedInPolicy !== "observe" || challenge?.enabled === true;
}

/**
 * Returns one number for the session's assertion and clearance, which changes whenever one of them begins or ends. Both times only grow, and the end
 * of a clearance subtracts more than either ever adds.
 */
export function stateStamp(state: ScoredState, project: ProjectSettings, nowMs: number): number {
  const { loggedInAtMs, clearance } = state;
  const { challenge } = project;
  if (clearance === null || challenge === undefined) return loggedInAtMs;
  const band = bandOfSession(state, project.likelyBotThreshold);
  return isStanding(clearance, band, challenge, nowMs) ? loggedInAtMs + 2 * clearance.atMs : loggedInAtMs;
}
