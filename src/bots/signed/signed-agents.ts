/**
 * Judges the signatures of a request (Web Bot Auth): which agent signed it, if any. Most requests are done with at a look at one header; a
 * signature that was verified before costs no wait either. Never throws, never fetches: keys come from the allow-list as it is.
 */
import type { KeyedAgent, SignatureJudgement, SignedAgent } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";
import { type AgentKey, keysById } from "./jwks.js";
import type { Nonces } from "./nonces.js";
import { canonicalAuthority, ReadMessage, type SignedMessage, signatureBase } from "./signature-base.js";
import {
  type AgentField,
  fieldValue,
  type HeaderLines,
  mayBeTagged,
  readAgentField,
  readSignatures,
  type TaggedSignature,
} from "./signature-fields.js";
import { createVerifier } from "./verification.js";

/** A visitor's request as the proxy or backend reports it. Undefined: not reported. */
export interface SignedRequest {
  /** Lines as received, names in any case. */
  readonly headers: HeaderLines;
  /** Whether the request may have further lines: a covered field that is not among them is then not known, instead of missing. */
  readonly isPartial?: boolean;
  /** The visitor's `Host`; default: the header of that name. */
  readonly authority?: string | undefined;
  readonly method?: string | undefined;
  /** A query that is part of it counts when `query` is not given. */
  readonly path?: string | undefined;
  /** With or without its `?`. */
  readonly query?: string | undefined;
  readonly ip?: string | undefined;
  readonly projectId: number;
  /** Ms since the epoch. */
  readonly nowMs: number;
  /** Whether the host is none of the project's own: then each signature is unverified. Asked only if there is one; never rejects. */
  readonly isForeign?: () => boolean | Promise<boolean>;
}

/** What judging signatures works with. */
interface SignedAgentsParts {
  /** The allow-list with keys; the same array until it changes. */
  readonly agents: () => readonly KeyedAgent[];
  readonly nonces: Nonces;
  /** `--allow-test-keys`. */
  readonly allowTestKeys: boolean;
  /** Told of each request with a signature of the tag, and of each that was too much to verify. */
  readonly onJudged?: (state: "verified" | "unverified" | "invalid") => void;
  readonly onShed?: () => void;
  /** Told of each request with a signature of the tag for a host that is none of the project's own. */
  readonly onForeign?: () => void;
}

/** Judges requests by the allow-list as it is at the time. */
interface SignedAgents {
  /** Answers at once unless a signature has to be verified. Never throws, never rejects. */
  judge(request: SignedRequest): SignatureJudgement | Promise<SignatureJudgement>;
}

const none: SignatureJudgement = Object.freeze({ signature: "none" });
const unverified: SignatureJudgement = Object.freeze({ signature: "unverified" });
const invalid: SignatureJudgement = Object.freeze({ signature: "invalid" });

interface ReadyAgent {
  readonly agent: SignedAgent;
  readonly keys: ReadonlyMap<string, AgentKey>;
  readonly verified: SignatureJudgement;
}

/** A signature of a known key whose fields are in order: what is left is to verify it. */
interface Candidate {
  readonly from: ReadyAgent;
  readonly key: AgentKey;
  readonly base: string;
  readonly bytes: Uint8Array;
  readonly nonce: string | undefined;
  readonly expiresAtMs: number;
}

/** The judge of one thread. Keys are prepared again only when `agents` gives another array. */
export function createSignedAgents(parts: SignedAgentsParts): SignedAgents {
  const { nonces, allowTestKeys, onJudged = () => {}, onShed = () => {}, onForeign = () => {} } = parts;
  const verifier = createVerifier();
  let ready: { readonly of: readonly KeyedAgent[]; readonly byUrl: ReadonlyMap<string, ReadyAgent> } | null = null;

  const agentsByUrl = (): ReadonlyMap<string, ReadyAgent> => {
    const agents = parts.agents();
    if (ready?.of !== agents)
      ready = { of: agents, byUrl: new Map(agents.map((each) => [each.url, readyAgent(each)])) };
    return ready.byUrl;
  };

  const answer = (judgement: SignatureJudgement): SignatureJudgement => {
    if (judgement.signature !== "none") onJudged(judgement.signature);
    return judgement;
  };

  /** After all signatures were found good: each nonce is recorded, and none may have been seen. The first signer is the agent. */
  const accept = (request: SignedRequest, path: string, candidates: readonly Candidate[]): SignatureJudgement => {
    for (const { from, key, nonce, expiresAtMs } of candidates) {
      if (nonce === undefined) continue;
      const isFirst = nonces.use({
        projectId: request.projectId,
        agentUrl: from.agent.url,
        thumbprint: key.thumbprint,
        nonce,
        ip: request.ip ?? "",
        path,
        nowMs: request.nowMs,
        expiresAtMs,
      });
      if (!isFirst) return invalid;
    }
    return candidates[0]!.from.verified;
  };

  const judgeOwn = (
    request: SignedRequest,
    signatures: readonly TaggedSignature[],
  ): SignatureJudgement | Promise<SignatureJudgement> => {
    const { headers, nowMs } = request;
    const byUrl = agentsByUrl();
    const agentText = fieldValue(headers, "signature-agent");
    const agentField = agentText === undefined ? null : readAgentField(agentText);
    const message = new ReadMessage(messageOf(request));
    const candidates: Candidate[] = [];
    // With more signatures than are looked at, not every one can verify: that is a failure of the request.
    const isTooMany = signatures.length > limits.signaturesMax;
    let isUnverified = false;
    for (const signature of signatures.slice(0, limits.signaturesMax)) {
      const found = candidate(signature, agentField, byUrl, message, nowMs, allowTestKeys);
      if (found === "invalid" || (isTooMany && found !== "unverified")) return answer(invalid);
      if (found === "unverified") isUnverified = true;
      else candidates.push(found);
    }
    const checks = candidates.map(({ key, base, bytes }) => verifier.check(key, base, bytes));
    const conclude = (results: readonly (boolean | null)[]): SignatureJudgement => {
      if (results.includes(false)) return answer(invalid);
      if (results.includes(null)) onShed();
      if (isUnverified || results.includes(null)) return answer(unverified);
      return answer(accept(request, message.message.path ?? "", candidates));
    };
    return checks.every(isSettled) ? conclude(checks) : Promise.all(checks).then(conclude);
  };

  return {
    judge(request) {
      const { headers, isForeign } = request;
      const input = fieldValue(headers, "signature-input");
      if (input === undefined || !mayBeTagged(input)) return none;
      const signatures = readSignatures(input, fieldValue(headers, "signature"));
      if (signatures.length === 0) return none;
      const judgeAt = (foreign: boolean) => {
        if (!foreign) return judgeOwn(request, signatures);
        onForeign();
        return answer(unverified);
      };
      const foreign = isForeign?.() ?? false;
      return typeof foreign === "boolean" ? judgeAt(foreign) : foreign.then(judgeAt);
    },
  };
}

function isSettled(check: boolean | null | Promise<boolean>): check is boolean | null {
  return check === null || typeof check === "boolean";
}

function readyAgent(agent: KeyedAgent): ReadyAgent {
  const { url, name, category } = agent;
  const verified = { signature: "verified", agent: { host: new URL(url).host, name, category } } as const;
  return { agent, keys: keysById(agent.keys), verified };
}

function messageOf({
  headers,
  isPartial = false,
  authority,
  method,
  path: given,
  query: givenQuery,
}: SignedRequest): SignedMessage {
  // Longer than any server takes: parsing it would cost more than its signature is worth.
  if ((given?.length ?? 0) + (givenQuery?.length ?? 0) > limits.signedTargetMax) given = undefined;
  const mark = given === undefined || givenQuery !== undefined ? -1 : given.indexOf("?");
  const path = mark < 0 ? given : given!.slice(0, mark);
  const query = mark < 0 ? (givenQuery ?? "") : given!.slice(mark);
  return {
    headers,
    isPartial,
    method,
    authority: canonicalAuthority(authority ?? fieldValue(headers, "host")),
    path: path === "" ? "/" : path,
    query: query === "" || query.startsWith("?") ? query : `?${query}`,
  };
}

/** Everything that is held against a signature but the verification itself. Without a known key nothing is. */
function candidate(
  signature: TaggedSignature,
  agentField: AgentField | null,
  byUrl: ReadonlyMap<string, ReadyAgent>,
  message: ReadMessage,
  nowMs: number,
  allowTestKeys: boolean,
): Candidate | "invalid" | "unverified" {
  const { created, expires, keyId, algorithm, bytes, nonce } = signature;
  if (agentField === null || keyId === undefined) return "unverified";
  const url = coveredAgent(signature, agentField);
  if (url === null) {
    // The agent is named and not signed for: anybody could have written its name there.
    const isKnown = [...agentField.origins.values()].some((origin) => byUrl.get(origin)?.keys.has(keyId));
    return isKnown ? "invalid" : "unverified";
  }
  const from = byUrl.get(url);
  const key = from?.keys.get(keyId);
  if (from === undefined || key === undefined) return "unverified";
  const covers = (name: string): boolean => signature.components.some(([each]) => each === name);
  if (!covers("@authority") && !covers("@target-uri")) return "invalid";
  if (bytes === null || created === undefined || expires === undefined) return "invalid";
  if (created * 1000 > nowMs + limits.signatureSkewMs || expires * 1000 < nowMs) return "invalid";
  if (expires < created || (expires - created) * 1000 > limits.signatureAgeMsMax) return "invalid";
  if (nowMs < key.notBeforeMs || nowMs > key.expiresAtMs) return "invalid";
  if (key.isTestKey && !allowTestKeys) return "invalid";
  if (algorithm !== undefined && algorithm !== key.algorithm) return "invalid";
  const built = signatureBase(message, signature.components, signature.params);
  if ("fault" in built) return built.fault === "unverifiable" ? "unverified" : "invalid";
  return { from, key, base: built.base, bytes, nonce, expiresAtMs: expires * 1000 };
}

/**
 * The origin of the member of `Signature-Agent` that the signature covers; null when it covers none. In the dictionary form that is the one
 * of the signature's own label, else the only one; a signature over the whole field covers each member.
 */
function coveredAgent({ label, components }: TaggedSignature, { form, origins }: AgentField): string | null {
  const covering = components.filter(([name]) => name === "signature-agent");
  const isWhole = covering.some(([, params]) => params.size === 0);
  if (form === "string") return isWhole ? (origins.get("") ?? null) : null;
  const keys = isWhole ? [...origins.keys()] : covering.map(([, params]) => params.get("key")).filter(isText);
  const key = keys.includes(label) ? label : keys.length === 1 ? keys[0]! : null;
  return key === null ? null : (origins.get(key) ?? null);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
