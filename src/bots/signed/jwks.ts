/**
 * Key sets (RFC 7517) as directories serve them and files hold them: which of their keys are of use, and what verification needs of
 * each. Private parts are never kept.
 */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { PublicJwk } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";

/** Names of RFC 9421's registry of signature algorithms. */
type SignatureAlgorithm = "ed25519" | "rsa-pss-sha512" | "ecdsa-p256-sha256";

/** A key of one agent, ready to verify. */
export interface AgentKey {
  /** RFC 7638, SHA-256, base64url: what `keyid` is. */
  readonly thumbprint: string;
  readonly algorithm: SignatureAlgorithm;
  readonly key: KeyObject;
  /** When it may sign, ms since the epoch. */
  readonly notBeforeMs: number;
  readonly expiresAtMs: number;
  /** Its private half is printed in RFC 9421, and the drafts' vectors are made with it. */
  readonly isTestKey: boolean;
}

/** What a key set is refused for. */
interface KeySetFault {
  readonly message: string;
}

/** Tells a fault from the keys of a set. */
export function isKeySetFault(value: object): value is KeySetFault {
  return "message" in value;
}

/** Thumbprints of the keys of RFC 9421, appendix B.1: test-key-rsa, -rsa-pss, -ecc-p256 and -ed25519. */
export const testKeyThumbprints: ReadonlySet<string> = new Set([
  "BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",
  "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
  "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",
  "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
]);

/** The members that RFC 7638 hashes, in the order of their names. */
const thumbprintMembers: Readonly<Record<string, readonly (keyof PublicJwk)[]>> = {
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
  EC: ["crv", "kty", "x", "y"],
};

/**
 * The usable keys of a key set, without private and unknown members. Keys of other kinds and broken ones are left out, as RFC 7517 asks;
 * something that is no key set, or has too many keys, is a fault. An empty set is one: then nothing verifies any more.
 */
export function readKeySet(value: unknown): readonly PublicJwk[] | KeySetFault {
  const keys = typeof value === "object" && value !== null ? (value as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys)) return { message: "is no key set: expected {keys: […]}" };
  if (keys.length > limits.agentKeysMax) {
    return { message: `has ${keys.length} keys: at most ${limits.agentKeysMax} are allowed` };
  }
  return keys.map(publicJwk).filter((key) => key !== null && agentKey(key) !== null) as PublicJwk[];
}

/** The public members of a key for signatures; null when it is not one. */
function publicJwk(value: unknown): PublicJwk | null {
  if (typeof value !== "object" || value === null) return null;
  const from = value as Record<string, unknown>;
  if (from["use"] !== undefined && from["use"] !== "sig") return null;
  const operations = from["key_ops"];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return null;
  const kept: Record<string, string | number> = {};
  for (const name of ["kty", "crv", "x", "y", "n", "e", "kid", "alg"]) {
    const text = from[name];
    if (typeof text === "string" && text.length <= limits.agentKeyMemberMax) kept[name] = text;
    else if (text !== undefined) return null;
  }
  for (const name of ["nbf", "exp"]) {
    const time = from[name];
    if (typeof time === "number" && Number.isFinite(time)) kept[name] = time;
    else if (time !== undefined) return null;
  }
  return typeof kept["kty"] === "string" ? (kept as unknown as PublicJwk) : null;
}

/** The key in the form that verifies, null when it is of no kind that does. About 50 us. */
export function agentKey(jwk: PublicJwk): AgentKey | null {
  const algorithm = algorithmOf(jwk);
  if (algorithm === null) return null;
  const members = thumbprintMembers[jwk.kty]!;
  const required = Object.fromEntries(members.map((name) => [name, jwk[name]]));
  let key: KeyObject;
  try {
    key = createPublicKey({ key: required as JsonWebKey, format: "jwk" });
  } catch {
    return null;
  }
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && (bits < limits.agentRsaBitsMin || bits > limits.agentRsaBitsMax)) return null;
  const thumbprint = createHash("sha256").update(JSON.stringify(required)).digest("base64url");
  return {
    thumbprint,
    algorithm,
    key,
    notBeforeMs: jwk.nbf === undefined ? Number.NEGATIVE_INFINITY : timeMs(jwk.nbf),
    expiresAtMs: jwk.exp === undefined ? Number.POSITIVE_INFINITY : timeMs(jwk.exp),
    isTestKey: testKeyThumbprints.has(thumbprint),
  };
}

/**
 * An agent's keys by what may stand in `keyid`: the thumbprint, or the directory's own label where that can't be taken for the
 * thumbprint of another key (Google's labels are short).
 */
export function keysById(jwks: readonly PublicJwk[]): ReadonlyMap<string, AgentKey> {
  const byId = new Map<string, AgentKey>();
  const labelled: [string, AgentKey][] = [];
  for (const jwk of jwks) {
    const key = agentKey(jwk);
    if (key === null) continue;
    byId.set(key.thumbprint, key);
    if (jwk.kid !== undefined && !/^[\w-]{43}$/.test(jwk.kid)) labelled.push([jwk.kid, key]);
  }
  for (const [kid, key] of labelled) if (!byId.has(kid)) byId.set(kid, key);
  return byId;
}

/** Names of `alg` in key sets, by RFC 8037, RFC 7518, RFC 9864 and the registry of RFC 9421, of which all are met. */
const jwkAlgorithms: Readonly<Record<SignatureAlgorithm, readonly string[]>> = {
  ed25519: ["EdDSA", "Ed25519", "ed25519"],
  "rsa-pss-sha512": ["PS512", "rsa-pss-sha512"],
  "ecdsa-p256-sha256": ["ES256", "ecdsa-p256-sha256"],
};

function algorithmOf({ kty, crv, alg }: PublicJwk): SignatureAlgorithm | null {
  const byKind: SignatureAlgorithm | null =
    kty === "OKP" && crv === "Ed25519"
      ? "ed25519"
      : kty === "RSA"
        ? "rsa-pss-sha512"
        : kty === "EC" && crv === "P-256"
          ? "ecdsa-p256-sha256"
          : null;
  return byKind !== null && (alg === undefined || jwkAlgorithms[byKind].includes(alg)) ? byKind : null;
}

/** Seconds, as RFC 7519 counts; some directories have milliseconds, which as seconds would be after the year 5000. */
function timeMs(time: number): number {
  return time > 1e11 ? time : time * 1000;
}
