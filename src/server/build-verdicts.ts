/** Composes what answers verdict reads and judged requests: its sources, and what it records of each answer. */
import { bytesOfMib } from "../config/config.js";
import type { VerifiedBot } from "../contract/bots/verified-bots.js";
import { neutralScore } from "../contract/evidence/evidence.js";
import { isIssuedToken, issueToken } from "../contract/sessions/issued-token.js";
import { defaultRequestScoring, type ProjectSettings, type ScoredState } from "../contract/sessions/session.js";
import { decodeSessionToken } from "../contract/sessions/session-token.js";
import type { VerdictQuestion } from "../contract/verdicts/judged-request.js";
import { isNavigationOf } from "../contract/verdicts/navigation.js";
import type { RequestContext } from "../contract/verdicts/verdict.js";
import type { Exceptions } from "../control-plane/exceptions/exceptions.js";
import type { Rules } from "../control-plane/rules/rules.js";
import { ProjectHosts } from "../control-plane/sessions/project-hosts.js";
import type { Sessions } from "../control-plane/sessions/sessions.js";
import { detections } from "../detections/catalogue.js";
import { strengths } from "../detections/detection.js";
import type { OnDenied } from "../http/handlers/data-plane/verdict.js";
import { findIdempotent } from "../ingest/idempotency.js";
import { liveVerdict } from "../live/verdict-feed.js";
import { subscriberNetwork } from "../net/network.js";
import { storedAddress } from "../net/stored-address.js";
import {
  addressSubject,
  type BlockSubject,
  type Blocks,
  challengeSubject,
  sessionSubject,
} from "../recording/blocks.js";
import { examine } from "../requests/examiner.js";
import type { VisitQuestion } from "../requests/visits.js";
import { LongWork } from "../runtime/long-work.js";
import { erasedTokenHash } from "../store/erased-token.js";
import { bandOf } from "../verdict/bands.js";
import { type RequestVerdictSources, RequestVerdicts } from "../verdict/request-verdicts.js";
import { isLoggedIn, ruleInput } from "../verdict/resolve.js";
import { type DecidedOn, hasState, VerdictReader } from "../verdict/verdict-reader.js";
import type { Alerting } from "./build-alerting.js";
import type { Recording } from "./build-recording.js";
import type { ThreadContext } from "./thread-context.js";
import type { VisitorFacts } from "./visitor-facts.js";

/** The services that `buildVerdicts` returns. */
export type Verdicts = ReturnType<typeof buildVerdicts>;

/** The parts of the control plane that verdicts read. */
interface Stored {
  readonly sessions: Sessions;
  readonly rules: Rules;
  readonly exceptions: Exceptions;
}

/** Builds the reader of sessions' verdicts, the judge of requests, and the recorder of blocked answers. */
export function buildVerdicts(
  thread: ThreadContext,
  stored: Stored,
  visitors: VisitorFacts,
  recording: Recording,
  alerting: Alerting,
) {
  const { config } = thread;
  const tokens = tokensInUse(thread, stored.sessions);
  const sources: RequestVerdictSources = {
    ...whatVerdictsRead(thread, stored, tokens, visitors),
    onComputed: computedRecorder(thread, recording, alerting, visitors),
    onAnswer: answerRecorder(thread, recording),
    onUnanswered: () => thread.meters.services.add("verdictsUnanswered"),
    onFailure: (err) => {
      thread.meters.services.add("verdictFailures");
      thread.log.error({ err }, "a verdict failed open");
    },
  };
  const verdicts = new VerdictReader({
    ttlMs: config.verdictTtl * 1000,
    cacheBytesMax: bytesOfMib(config.verdictCacheMb),
    sources,
  });
  return {
    verdicts,
    mayReport: (project: ProjectSettings, token: string) => tokens.mayBeUsed(token, project, thread.now()),
    requestVerdicts: new RequestVerdicts(sources, verdicts),
    /** The band of a request by itself, null where the project does not judge requests. */
    bandOfRequest: async (project: ProjectSettings, question: VerdictQuestion, state: ScoredState) => {
      if (!(project.requestScoring ?? defaultRequestScoring).enabled || project.testOutcome !== undefined) return null;
      // Nothing of the site: it counts for no visit.
      const { score } = await sources.examine(project, { ...question, isAskedAgain: true }, state, null, thread.now());
      const engineScores = { heuristics: score, js_detection: null, behavioral: null };
      return bandOf(engineScores, score ?? neutralScore, project.likelyBotThreshold);
    },
    onDenied: denialReferrer(recording.blocks),
  };
}

const meanings = new Map(
  detections
    .filter(({ state, strength }) => state === "scoring" && strengths[strength] > 0)
    .map(({ id, meaning }) => [id, meaning]),
);

/** Returns the meaning of a detection by its id; "" for an unknown one, and for one that lowers no score: a reason tells the causes of the score. */
export function meaningOf(id: number): string {
  return meanings.get(id) ?? "";
}

/** Returns the session, the rules and the facts about the visitor. On a cluster, it loads the session first. */
function whatVerdictsRead(
  { config, log, now }: ThreadContext,
  { sessions, rules, exceptions }: Stored,
  { isUsable, mayBeUsed }: ReturnType<typeof tokensInUse>,
  { verifiedBotAt, addresses, examiner, visits, agents }: VisitorFacts,
): Omit<RequestVerdictSources, "onComputed" | "onAnswer" | "onFailure" | "onUnanswered"> {
  const hosts = new ProjectHosts(sessions, new LongWork(), now, (err) =>
    log.warn({ err }, "the hosts that sessions reported could not be read: signatures count for any"),
  );
  return {
    ...(config.store !== "" && {
      load: (project, token) => sessions.load(project.id, token, hasState(project) ? "now" : "recent"),
      isUnanswered: (projectId, token) => sessions.isUnanswered(projectId, token),
    }),
    scoredState: (projectId, token) => sessions.scoredState(projectId, token),
    later: () => sessions.later(),
    agentSigns: (projectId, token) => sessions.agentSigns(projectId, token),
    useClearance: (project, token, use) => sessions.useClearance(project, token, use),
    stateStamp: (project, token, nowMs) => sessions.stateStamp(project, token, nowMs),
    rulesOf: (project) => rules.ready(project),
    exceptionsOf: (project) => exceptions.ready(project),
    verifiedBotAt,
    addresses,
    agents,
    examine: (project, question, state, freshToken, nowMs) => {
      const { sessionToken: brought } = question;
      const isKept = brought !== null && (state !== null || mayBeUsed(brought, project, nowMs));
      const visit = visits.look(askedVisit(project.id, question, isKept ? brought : null, freshToken, state), nowMs);
      const last = state?.last ?? null;
      return examine(examiner, project.id, question, last, nowMs, visit, (host) => hosts.isForeign(project, host));
    },
    freshToken: (project, brought, nowMs) =>
      brought !== null && isUsable(brought, project, nowMs) ? null : issueToken(project, nowMs),
    meaningOf,
    now,
  };
}

/** Says of a token whether a session is under it, or the next report makes one. */
function tokensInUse({ config, store }: ThreadContext, sessions: Sessions) {
  // On a cluster ingest alone knows what was erased: it gives such a visitor another token with the first report.
  const rows = { idempotent: (key: Buffer) => store.idempotency.getBinary(key) };
  const isUsable = (token: string, project: ProjectSettings, nowMs: number): boolean => {
    if (sessions.exists(project.id, token)) return true;
    const bytes = decodeSessionToken(token);
    if (bytes === null || !isIssuedToken(project, bytes, nowMs)) return false;
    return config.store !== "" || findIdempotent(rows, project.id, erasedTokenHash(bytes), nowMs) === null;
  };
  /** A session that could not be looked up may exist. */
  const mayBeUsed = (token: string, project: ProjectSettings, nowMs: number): boolean =>
    (config.store !== "" && sessions.isUnanswered(project.id, token)) || isUsable(token, project, nowMs);
  return { isUsable, mayBeUsed };
}

/** The visit's side of a question. `kept`: the token that came back. */
function askedVisit(
  projectId: number,
  { request: { context, headers, memo }, target, isAskedAgain }: VerdictQuestion,
  kept: string | null,
  given: string | null,
  state: ScoredState | null,
): VisitQuestion {
  return {
    projectId,
    address: context.ip ?? "",
    userAgent: context.userAgent ?? state?.last.userAgent ?? "",
    token: kept,
    given,
    isNavigation: memo?.isNavigation ?? isNavigationOf(headers),
    method: context.method,
    path: context.path,
    target,
    lastReportMs: state?.lastSeenMs ?? 0,
    isAskedAgain: isAskedAgain === true,
  };
}

/** Counts the rules that matched, remembers which one asks for a challenge, and records a block. */
function computedRecorder(
  { config, log, meters, disk, now }: ThreadContext,
  { traffic, judged, judgedRecords, blocks, overBudget, challengingRules }: Recording,
  { matcher }: Alerting,
  { addresses, declaredBotOf }: VisitorFacts,
): RequestVerdictSources["onComputed"] {
  const askedInput = (project: ProjectSettings, context: RequestContext, on: DecidedOn, nowMs: number) => {
    const { state, request, proved, agent } = on;
    return ruleInput({
      state,
      ...(request && { request }),
      project,
      rules: [],
      context,
      // A signed agent is in `request`.
      verifiedBot: request?.signedAgent === undefined ? (proved as VerifiedBot | null) : null,
      addresses,
      declaredBot: () => declaredBotOf(context.userAgent ?? state?.last.userAgent ?? ""),
      agent,
      nowMs,
    });
  };
  const nameOf = (agent: DecidedOn["agent"]): ReturnType<DecidedOn["agent"]> => {
    try {
      return agent();
    } catch (err) {
      log.error({ err }, "a recorded block has no name of its agent");
      return undefined;
    }
  };
  return (project, token, context, { blocked, rule, logged, verdict, isOverBudget }, on) => {
    const nowMs = now();
    const { subject, state, request, proved, agent } = on;
    try {
      const weight = judged.weightOf(project.id, subject, verdict, proved, nowMs);
      if (weight > 0) {
        // Field by field: a spread of objects costs V8 a microsecond.
        const told = {
          projectId: project.id,
          subject,
          sessionToken: token,
          state,
          request,
          proved,
          agent,
          context,
          verdict,
          rule,
          isLoggedIn: state !== null && isLoggedIn(state, nowMs),
          atMs: nowMs,
        };
        judged.record(told, weight);
      }
      if (matcher.isAsked(project.id))
        matcher.record(project.id, subject, () => askedInput(project, context, on, nowMs));
    } catch (err) {
      // What is counted behind an answer never changes it.
      log.error({ err }, "a verdict could not be counted by value");
    }
    if (isOverBudget) overBudget.record(project.id, now());
    if (rule !== null) {
      const matched = logged.includes(rule) ? logged : [...logged, rule];
      const of = token === null ? "request" : "session";
      traffic.countRules(project.id, matched, of, nowMs);
      judgedRecords.countRules(project.id, matched, of, nowMs);
    }
    const isChallenge = verdict.action === "challenge" && rule !== null;
    if (isChallenge) {
      const { ip = "", userAgent = "" } = context;
      challengingRules.record({ projectId: project.id, token, ip, userAgent }, rule.id, verdict.verdict);
    }
    if (rule === null || !(blocked || isChallenge)) return;
    if (!disk.hasRoom) {
      meters.services.add("blocksFailed");
      return;
    }
    const who = nameOf(agent);
    const ip = token === null ? storedAddress(context.ip ?? "", config.ipStorage) : "";
    const block = {
      projectId: project.id,
      sessionToken: token,
      verdict: verdict.verdict,
      score: verdict.score,
      reason: verdict.reason,
      detectionIds: verdict.detection_ids,
      source: "rule",
      ruleId: rule.id,
      path: context.path ?? null,
      createdAt: new Date(now()).toISOString(),
      ...(isChallenge && ({ action: "challenge" } as const)),
      ...(ip !== "" && { ip }),
      ...(who && { agent: who }),
    } as const;
    const network = subscriberNetwork(context.ip ?? "");
    const of = token === null ? addressSubject(network) : sessionSubject(token);
    if (isChallenge) blocks.record(block, challengeSubject(of), network);
    else if (!blocks.record(block, of, network)) meters.services.add("blocksFailed");
  };
}

/** Counts an answer, and sends it to everyone who follows verdicts. */
function answerRecorder({ meters }: ThreadContext, { traffic, feed }: Recording): RequestVerdictSources["onAnswer"] {
  return (project, verdict, source, subject, token, asked, nowMs) => {
    traffic.countVerdict(project.id, verdict.verdict, verdict.action, subject, nowMs);
    meters.services.countVerdict(verdict.verdict, verdict.action, source, subject);
    if (feed.isFollowed) feed.show(liveVerdict(project.id, token, verdict, source, asked.read(), nowMs));
  };
}

/** Stores the request id of an answer that blocks or challenges with the record of its session, or of its address if the session has none. */
function denialReferrer(blocks: Blocks): OnDenied {
  return (projectId, token, ip, requestId, action) => {
    if (action !== "block" && action !== "challenge") return;
    const refer = (subject: BlockSubject): boolean =>
      blocks.refer(projectId, action === "block" ? subject : challengeSubject(subject), requestId);
    if (token !== null && refer(sessionSubject(token))) return;
    refer(addressSubject(subscriberNetwork(ip ?? "")));
  };
}
