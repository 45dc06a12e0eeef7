/**
 * Finds out what a visitor's request shows: who is at its address, whom its user agent names, what its signature is worth, how many there were
 * recently, and what the heuristics say of its headers. Most of that is known at once; a signature is verified elsewhere, and a crawler's host
 * name is waited for a short time.
 */
import type { DeclaredBot } from "../contract/bots/declared-bots.js";
import type { SignatureJudgement } from "../contract/bots/signed-agents.js";
import type { LastRequest } from "../contract/evidence/evidence.js";
import { noVisitEvidence, type VisitFacts } from "../contract/evidence/visit-facts.js";
import type { VisitorIdentity } from "../contract/evidence/visitor.js";
import type {
  ExaminedRequest,
  HeaderMemo,
  JudgedRequest,
  RequestFindings,
  RequestScore,
  VerdictQuestion,
} from "../contract/verdicts/judged-request.js";
import { limits } from "../limits.js";

/** A request as `SignedAgents.judge` takes it. */
interface SignedQuestion {
  readonly headers: JudgedRequest["headers"];
  readonly isPartial: boolean;
  readonly authority: string | undefined;
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly ip: string | undefined;
  readonly projectId: number;
  readonly nowMs: number;
  /** Whether the host is none of the project's own: then no signature counts. Asked only if there is one. */
  readonly isForeign?: () => boolean | Promise<boolean>;
}

/** Says which bot a user agent names. */
interface DeclaredBotLookup {
  of(userAgent: string): DeclaredBot | undefined;
}

/** Each is cheap, and only the promises wait. */
export interface ExaminerSources {
  /** The list of declared bots in force: the same object until another one is. */
  readonly declaredBots: () => DeclaredBotLookup;
  readonly identities: {
    peek(ip: string, userAgent: string): VisitorIdentity;
    resolve(ip: string, userAgent: string): Promise<VisitorIdentity>;
  };
  readonly judgeSignature: (request: SignedQuestion) => SignatureJudgement | Promise<SignatureJudgement>;
  readonly countRequest: (projectId: number, ip: string, nowMs: number) => number | undefined;
  readonly score: (request: JudgedRequest, findings: RequestFindings) => RequestScore;
}

/** `last`: what its session last reported, whose user agent stands for one that is not told; null without a session. `visit`: that of the request. */
export function examine(
  sources: ExaminerSources,
  projectId: number,
  { request, hasHeaders, target, authority }: VerdictQuestion,
  last: LastRequest | null,
  nowMs: number,
  visit: VisitFacts | undefined,
  isForeign?: (host: string | undefined) => boolean | Promise<boolean>,
): ExaminedRequest | Promise<ExaminedRequest> {
  const { context, headers, isAsReceived, ja4, httpVersion, memo } = request;
  // Not the session's address: what is kept of it may be its network alone.
  const ip = context.ip ?? "";
  const userAgent = context.userAgent ?? last?.userAgent ?? "";
  const requestsPerMinute = ip === "" ? undefined : sources.countRequest(projectId, ip, nowMs);
  const judgement =
    memo !== undefined
      ? unsigned
      : sources.judgeSignature({
          headers,
          isPartial: !isAsReceived || headers.length >= limits.requestHeadersMax,
          authority,
          method: context.method,
          path: target,
          ip: context.ip,
          projectId,
          nowMs,
          ...(isForeign !== undefined && { isForeign: () => isForeign(context.host) }),
        });
  const identity = sources.identities.peek(ip, userAgent);
  const conclude = (
    { signature, agent }: SignatureJudgement,
    { verifiedBot, crawlerClaim }: VisitorIdentity,
  ): ExaminedRequest => {
    const declaredBot = declaredBotOf(
      sources.declaredBots(),
      userAgent,
      context.userAgent === undefined ? undefined : memo,
    );
    // Of headers that nobody told nothing can be said.
    const scored = hasHeaders
      ? sources.score(request, { declaredBot, crawlerClaim, signature, visit: visit?.evidence ?? noVisitEvidence })
      : neutral;
    return {
      score: scored.score,
      detectionIds: scored.detectionIds,
      verifiedBot,
      declaredBot,
      ...(crawlerClaim === "spoofed" && { isSpoofed: true }),
      signature,
      signedAgent: agent,
      requestsPerMinute,
      visit,
      ja4,
      httpVersion,
      hasHeaders,
    };
  };
  const isPending = identity.crawlerClaim === "pending";
  if (!isPending && !(judgement instanceof Promise)) return conclude(judgement, identity);
  const known = isPending ? inTime(sources.identities.resolve(ip, userAgent), identity) : identity;
  return Promise.all([judgement, known]).then(([signature, visitor]) => conclude(signature, visitor));
}

const neutral: RequestScore = { score: null, detectionIds: [] };
const unsigned: SignatureJudgement = Object.freeze({ signature: "none" });

/** `memo` is that of the lines that the user agent is from; undefined for others. */
function declaredBotOf(bots: DeclaredBotLookup, userAgent: string, memo: HeaderMemo | undefined): DeclaredBot | null {
  if (memo === undefined) return bots.of(userAgent) ?? null;
  if (memo.declared?.by !== bots) memo.declared = { by: bots, bot: bots.of(userAgent) };
  return memo.declared.bot ?? null;
}

/** What is found within `limits.requestDnsMs`; else what is known now: DNS goes on, and a later request has its answer. */
function inTime(found: Promise<VisitorIdentity>, known: VisitorIdentity): Promise<VisitorIdentity> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limits.requestDnsMs, known);
    void found.then((identity) => {
      clearTimeout(timer);
      resolve(identity);
    });
  });
}
