/** What verdicts and expressions of the rules language see of a sample of a judged request. Pure. */

import { agentDetections } from "../../contract/bots/agents.js";
import { neutralScore } from "../../contract/evidence/evidence.js";
import type { AddressLookup } from "../../contract/evidence/network-fact.js";
import { noVisitEvidence } from "../../contract/evidence/visit-facts.js";
import type { ProjectSettings } from "../../contract/sessions/session.js";
import type { RequestSample } from "../../contract/traffic/request-sample.js";
import type { ExaminedRequest } from "../../contract/verdicts/judged-request.js";
import type { VerifiedBotCategory } from "../../contract/verdicts/verdict.js";
import { RuleInput } from "../../rules/input.js";
import { knownAgent } from "../../verdict/known-agent.js";
import { ruleInput } from "../../verdict/resolve.js";
import type { AskedVisitor } from "./change-effect.js";

/** The request as it was when it was judged, but for the operator's lists of addresses, which are those of now. */
export function askedSample(sample: RequestSample, listsOf: AddressLookup["listsOf"]): AskedVisitor {
  const request = examinedSample(sample);
  const { verifiedBot } = request;
  return {
    state: null,
    request,
    context: {
      path: sample.path || undefined,
      method: sample.method || undefined,
      host: sample.host || undefined,
      userAgent: sample.userAgent || undefined,
      ip: sample.ip || undefined,
    },
    verifiedBot,
    addresses: {
      networkOf: () => ({
        country: sample.country || undefined,
        asn: sample.asn ?? undefined,
        asName: sample.asName || undefined,
      }),
      listsOf,
    },
    agent: () => knownAgent({ state: null, request, verifiedBot }, undefined),
  };
}

/** The input of searches: band, action and rule are those of then, which rows show. */
export function sampleInput(
  sample: RequestSample,
  project: ProjectSettings,
  listsOf: AddressLookup["listsOf"],
): RuleInput {
  const asked = askedSample(sample, listsOf);
  const outcome = () => ({ action: sample.action, ruleId: sample.ruleId });
  const input = ruleInput({ ...asked, project, rules: [], nowMs: sample.atMs }, { outcome })!;
  return new RuleInput({ ...input.facts, band: sample.band });
}

function examinedSample(sample: RequestSample): ExaminedRequest {
  const { detectionIds, declaredBot, declaredBotCategory, verifiedBot, verifiedBotCategory, signedAgent, visit } =
    sample;
  const proved =
    verifiedBot === "" || verifiedBotCategory === "" ? null : { name: verifiedBot, category: verifiedBotCategory };
  const isSigned = signedAgent !== "";
  return {
    // As much as nothing that counts.
    score: sample.score === neutralScore || sample.score === 0 ? null : sample.score,
    detectionIds,
    verifiedBot: isSigned ? null : (proved as { name: string; category: VerifiedBotCategory } | null),
    declaredBot:
      declaredBot === "" || declaredBotCategory === ""
        ? null
        : { name: declaredBot, operator: declaredBot, category: declaredBotCategory },
    isSpoofed: detectionIds.includes(agentDetections.spoofed),
    signature: sample.signature,
    signedAgent: proved !== null && isSigned ? { host: signedAgent, ...proved } : undefined,
    requestsPerMinute: sample.requestsPerMinute ?? undefined,
    visit: visit == null ? undefined : { ...visit, evidence: noVisitEvidence },
    ja4: undefined,
    httpVersion: sample.httpVersion || undefined,
    hasHeaders: true,
  };
}
