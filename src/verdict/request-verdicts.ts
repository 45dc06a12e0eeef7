/**
 * Answers questions about a visitor's request, with or without a session. While a project has request scoring off, the answer is that of the verdict
 * read. Otherwise each verdict is computed, because a request's evidence differs from one to the next. Any failure answers fail-open.
 */
import type { KnownAgent } from "../contract/bots/agents.js";
import type { ProjectSettings, ScoredState } from "../contract/sessions/session.js";
import { defaultRequestScoring } from "../contract/sessions/session.js";
import type { ExaminedRequest, VerdictQuestion } from "../contract/verdicts/judged-request.js";
import type { RequestVerdict, Verdict, VerdictSubject } from "../contract/verdicts/verdict.js";
import { knownAgent } from "./known-agent.js";
import { unansweredReason } from "./reason.js";
import { decide, failOpenVerdict } from "./resolve.js";
import { unjudged } from "./unjudged.js";
import { askedWith, type DecidedOn, type VerdictReader, type VerdictSources, verifiedBotOf } from "./verdict-reader.js";
import { type VerdictText, VerdictTexts, verdictTextOf } from "./verdict-text.js";

/** What judging requests needs besides the sources of verdict reads. */
export interface RequestVerdictSources extends VerdictSources {
  /**
   * Returns the request's evidence; a promise if a signature or a host name has to be checked first. `state`: of its session, null for none.
   * `freshToken`: the token that its answer gives, null for none.
   */
  readonly examine: (
    project: ProjectSettings,
    question: VerdictQuestion,
    state: ScoredState | null,
    freshToken: string | null,
    nowMs: number,
  ) => ExaminedRequest | Promise<ExaminedRequest>;
  /** Returns the slugs of the signs that the behavior of a session's agent is known by. If absent, reasons don't name them. */
  readonly agentSigns?: (projectId: number, token: string) => readonly string[];
  /** Returns a new token of the project, unless the one that was brought, null for none, may still be used; null then. */
  readonly freshToken: (project: ProjectSettings, brought: string | null, nowMs: number) => string | null;
}

/** A verdict and its subject. Shared by all answers with the same content: do not change it. */
export interface RequestAnswer {
  readonly text: VerdictText;
  readonly subject: VerdictSubject;
  readonly signedAgent: RequestVerdict["signed_agent"] | undefined;
  /** Undefined where none is known, and while request scoring is off. */
  readonly agent: KnownAgent | undefined;
  /** For the visitor's cookie; null if none is handed out. */
  readonly freshToken: string | null;
}

/** Judges requests, for `POST /v1/verdict` and forward-auth. Keeps no request; reuses the words of recent verdicts. */
export class RequestVerdicts {
  readonly #sources: RequestVerdictSources;
  readonly #reader: VerdictReader;
  readonly #texts: VerdictTexts;

  constructor(sources: RequestVerdictSources, reader: VerdictReader) {
    this.#sources = sources;
    this.#reader = reader;
    this.#texts = new VerdictTexts(sources.meaningOf);
  }

  /** Never throws and never rejects. */
  judge(project: ProjectSettings, question: VerdictQuestion): RequestAnswer | Promise<RequestAnswer> {
    const text = this.#unjudged(project, question);
    if (text !== null) return { text, subject: "request", signedAgent: undefined, agent: undefined, freshToken: null };
    const { sessionToken } = question;
    const loading = sessionToken === null ? null : (this.#sources.load?.(project, sessionToken) ?? null);
    return loading === null ? this.#judge(project, question) : loading.then(() => this.#judge(project, question));
  }

  /** Null also where the rules can't be read: that is told when the request is judged. */
  #unjudged(project: ProjectSettings, question: VerdictQuestion): VerdictText | null {
    try {
      return unjudged(project, question, () => this.#sources.rulesOf(project));
    } catch {
      return null;
    }
  }

  #judge(
    project: ProjectSettings,
    question: VerdictQuestion,
    isSecond = false,
  ): RequestAnswer | Promise<RequestAnswer> {
    const { sessionToken, request } = question;
    const freshToken = this.#freshToken(project, question);
    if (!(project.requestScoring ?? defaultRequestScoring).enabled) {
      const text = this.#reader.answer(project, sessionToken, askedWith(request.context));
      const answered = (told: VerdictText): RequestAnswer => ({
        text: told,
        subject: told.verdict.score > 0 ? "session" : "request",
        signedAgent: undefined,
        agent: undefined,
        freshToken,
      });
      return text instanceof Promise ? text.then(answered) : answered(text);
    }
    const nowMs = this.#sources.now();
    try {
      // Its login, its pass and its score may let the visitor in: without them the request alone must not refuse him.
      if (sessionToken !== null && this.#sources.isUnanswered?.(project.id, sessionToken) === true)
        return this.#unanswered(project, question, nowMs);
      const state = sessionToken === null ? null : this.#sources.scoredState(project.id, sessionToken);
      const later = state !== null || sessionToken === null || isSecond ? null : (this.#sources.later?.() ?? null);
      if (later !== null) return later.then(() => this.#judge(project, question, true));
      const evidence = this.#sources.examine(project, question, state, freshToken, nowMs);
      const answer =
        evidence instanceof Promise
          ? evidence.then((found) => this.#resolve(project, question, state, found, freshToken, nowMs))
          : this.#resolve(project, question, state, evidence, freshToken, nowMs);
      if (!(answer instanceof Promise)) return answer;
      return answer.catch((error: unknown) => this.#failedOpen(project, question, error, nowMs));
    } catch (error) {
      return this.#failedOpen(project, question, error, nowMs);
    }
  }

  #resolve(
    project: ProjectSettings,
    question: VerdictQuestion,
    state: ScoredState | null,
    evidence: ExaminedRequest,
    freshToken: string | null,
    nowMs: number,
  ): RequestAnswer | Promise<RequestAnswer> {
    const sources = this.#sources;
    const { sessionToken, request } = question;
    const { context } = request;
    const { addresses } = sources;
    const ofSession = state === null ? null : verifiedBotOf(state, context, sources.verifiedBotAt);
    const verifiedBot = ofSession ?? evidence.verifiedBot;
    const rules = sources.rulesOf(project);
    const exceptions = sources.exceptionsOf(project);
    const agent = knownAgent({ state, request: evidence, verifiedBot }, sources.agents);
    const agentOf = () => agent;
    // Field by field: spreads of objects, here and where records are decoded, cost a computed read 0.10 µs.
    const decision = decide({
      state,
      request: evidence,
      project,
      rules,
      context,
      verifiedBot,
      addresses,
      exceptions,
      sessionToken,
      agent: agentOf,
      agentSigns: agent?.certainty === "behavior" ? signsOf(sources, project.id, sessionToken) : undefined,
      nowMs,
    });
    if (decision === null) throw new Error("a request was not judged");
    const { clearanceUse } = decision;
    if (clearanceUse !== undefined && sources.useClearance !== undefined && state !== null && sessionToken !== null) {
      return sources
        .useClearance(project, sessionToken, clearanceUse)
        .then((clearance) => this.#resolve(project, question, { ...state, clearance }, evidence, freshToken, nowMs));
    }
    const text = this.#texts.of(decision.verdict);
    const { rule, logged, blocked, isOverBudget } = decision;
    const token = state === null ? null : sessionToken;
    const subject = state?.scored === true ? "session" : "request";
    const proved = evidence.signedAgent ?? verifiedBot;
    const on: DecidedOn = { subject, state, request: evidence, proved, agent: agentOf };
    sources.onComputed(project, token, context, { verdict: text.verdict, rule, logged, blocked, isOverBudget }, on);
    sources.onAnswer(project, text.verdict, "computed", subject, token, askedWith(context), nowMs);
    const { signedAgent: signer } = evidence;
    const signedAgent = signer && { agent: signer.host, category: signer.category };
    return { text, subject, signedAgent, agent, freshToken };
  }

  /** A session that could not be looked up may exist, and keeps its token. */
  #freshToken(project: ProjectSettings, { sessionToken, wantsToken }: VerdictQuestion): string | null {
    if (!wantsToken) return null;
    const sources = this.#sources;
    try {
      if (sessionToken !== null && sources.isUnanswered?.(project.id, sessionToken) === true) return null;
      return sources.freshToken(project, sessionToken, sources.now());
    } catch (error) {
      sources.onFailure(error);
      return null;
    }
  }

  #failedOpen(project: ProjectSettings, question: VerdictQuestion, error: unknown, nowMs: number): RequestAnswer {
    this.#sources.onFailure(error);
    return this.#letIn(failOpenAnswer, project, question, nowMs);
  }

  #unanswered(project: ProjectSettings, question: VerdictQuestion, nowMs: number): RequestAnswer {
    this.#sources.onUnanswered?.();
    return this.#letIn(unansweredAnswer, project, question, nowMs);
  }

  #letIn(answer: RequestAnswer, project: ProjectSettings, question: VerdictQuestion, nowMs: number): RequestAnswer {
    const asked = askedWith(question.request.context);
    this.#sources.onAnswer(project, answer.text.verdict, "fail_open", "session", question.sessionToken, asked, nowMs);
    return answer;
  }
}

function signsOf({ agentSigns }: RequestVerdictSources, projectId: number, sessionToken: string | null) {
  return sessionToken === null ? undefined : () => agentSigns?.(projectId, sessionToken) ?? [];
}

/** For requests that could not be judged, and for sources that could not be asked. */
export const failOpenAnswer = answerOf(failOpenVerdict());
/** Where the store did not say in time whether it has the session. */
const unansweredAnswer = answerOf(failOpenVerdict(unansweredReason));

function answerOf(verdict: Verdict): RequestAnswer {
  return {
    text: verdictTextOf(verdict),
    subject: "request",
    signedAgent: undefined,
    agent: undefined,
    freshToken: null,
  };
}

/** The answer as JSON text: a `RequestVerdict`. */
export function requestVerdictText({ text, subject, signedAgent, agent, freshToken }: RequestAnswer): string {
  const signer = signedAgent === undefined ? "" : `,"signed_agent":${JSON.stringify(signedAgent)}`;
  const known = agent === undefined ? "" : `,"agent":${JSON.stringify(agent)}`;
  const token = freshToken === null ? "" : `,"session_token":"${freshToken}"`;
  return `${text.body.slice(0, -1)},"subject":"${subject}"${signer}${known}${token}}`;
}
