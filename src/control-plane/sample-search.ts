/** What an expression of the rules language sees of a sample of a judged request. Pure. */
import type { AddressLookup } from "../contract/network-fact.js";
import type { RequestSample } from "../contract/request-sample.js";
import type { Expression } from "../rules/ast.js";
import { comparedFields } from "../rules/fields.js";
import { RuleInput } from "../rules/input.js";
import { isStaticResource } from "../verdict/static-resource.js";

/** Fields that no sample has: a session's, and a fingerprint that is not kept. */
const unsampledFields: ReadonlySet<string> = new Set(["ja4", "event_count", "session_age", "behavioral_score"]);

/** The fields of an expression that samples don't have, each once, in its order. */
export function unsampled(expression: Expression): string[] {
  return comparedFields(expression).filter((name) => unsampledFields.has(name));
}

/** The input of rules as it was when the request was judged, but for the operator's lists of addresses and the threshold, which are those of now. */
export function sampleInput(
  sample: RequestSample,
  likelyBotThreshold: number,
  listsOf: AddressLookup["listsOf"],
): RuleInput {
  const { declaredBot, declaredBotCategory, verifiedBot, verifiedBotCategory, signedAgent, score } = sample;
  const declared =
    declaredBot === "" || declaredBotCategory === ""
      ? null
      : { name: declaredBot, operator: declaredBot, category: declaredBotCategory };
  const category = verifiedBotCategory || undefined;
  return new RuleInput({
    score,
    band: sample.band,
    verifiedBot: verifiedBot !== "",
    verifiedBotCategory: category,
    path: sample.path,
    method: sample.method,
    host: sample.host,
    userAgent: sample.userAgent,
    ip: sample.ip,
    staticResource: sample.path === "" ? undefined : isStaticResource(sample.path),
    detectionIds: sample.detectionIds,
    jsDetected: false,
    heuristicsScore: score,
    behavioralScore: null,
    eventCount: undefined,
    sessionAgeSeconds: undefined,
    likelyBotThreshold,
    isCleared: undefined,
    hasSession: false,
    addresses: {
      networkOf: () => ({
        country: sample.country || undefined,
        asn: sample.asn ?? undefined,
        asName: sample.asName || undefined,
      }),
      listsOf,
    },
    request: {
      score,
      detectionIds: sample.detectionIds,
      verifiedBot: null,
      declaredBot: declared,
      signature: sample.signature,
      signedAgent:
        signedAgent === "" || category === undefined ? undefined : { host: signedAgent, name: verifiedBot, category },
      requestsPerMinute: sample.requestsPerMinute ?? undefined,
      visit: undefined,
      ja4: undefined,
      httpVersion: sample.httpVersion || undefined,
      hasHeaders: true,
    },
    search: {
      outcome: () => ({ action: sample.action, ruleId: sample.ruleId }),
    },
  });
}
