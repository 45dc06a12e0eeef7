/** Signs requests for tests as an agent would (RFC 9421), with keys made here, apart from the code that verifies. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { SignedRequest } from "../../../src/bots/signed/signed-agents.js";
import type { PublicJwk } from "../../../src/contract/bots/signed-agents.js";

/** An Ed25519 key pair and its thumbprint (RFC 8037, appendix A.3). */
interface TestKey {
  readonly privateKey: KeyObject;
  readonly jwk: PublicJwk;
  readonly thumbprint: string;
}

export function newKey(more: Partial<PublicJwk> = {}): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" }) as { x: string };
  const thumbprint = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
  return { privateKey, jwk: { kty: "OKP", crv: "Ed25519", x, ...more }, thumbprint };
}

/** How a request is signed; each default is right. */
export interface SignOptions {
  readonly key: TestKey;
  readonly nowMs: number;
  readonly agent?: string;
  readonly form?: "string" | "dictionary";
  readonly label?: string;
  /** Serialized component identifiers; default: `"@authority"` and the agent's. */
  readonly covered?: readonly string[];
  /** Values by identifier, for what differs from the request below. */
  readonly values?: Readonly<Record<string, string>>;
  /** Parameters as written, by name; null leaves one out. */
  readonly params?: Readonly<Record<string, string | null>>;
}

const authority = "shop.example";
export const agentUrl = "https://agent.example";

/** The three fields of a signature. */
export function signatureFields(options: SignOptions): { agent: string; input: string; signature: string } {
  const { key, nowMs, agent = agentUrl, form = "string", label = "sig1", values = {}, params = {} } = options;
  const agentComponent = form === "string" ? '"signature-agent"' : `"signature-agent";key="${label}"`;
  const covered = options.covered ?? ['"@authority"', agentComponent];
  const created = Math.floor(nowMs / 1000);
  const all: Record<string, string | null> = {
    created: `${created}`,
    expires: `${created + 600}`,
    keyid: `"${key.thumbprint}"`,
    tag: '"web-bot-auth"',
    ...params,
  };
  const written = Object.entries(all).filter(([, value]) => value !== null);
  const inner = `(${covered.join(" ")})${written.map(([name, value]) => `;${name}=${value}`).join("")}`;
  const known: Record<string, string> = {
    '"@authority"': authority,
    '"@method"': "GET",
    '"@path"': "/search",
    '"@query"': "?q=1",
    '"@scheme"': "https",
    '"@request-target"': "/search?q=1",
    '"@target-uri"': `https://${authority}/search?q=1`,
    '"@query-param";name="q"': "1",
    '"user-agent"': "Agent/1.0",
    [agentComponent]: `"${agent}"`,
    ...values,
  };
  const lines = covered.map((identifier) => `${identifier}: ${known[identifier] ?? ""}`);
  const base = [...lines, `"@signature-params": ${inner}`].join("\n");
  const bytes = sign(null, Buffer.from(base), key.privateKey).toString("base64");
  return {
    agent: form === "string" ? `"${agent}"` : `${label}="${agent}"`,
    input: `${label}=${inner}`,
    signature: `${label}=:${bytes}:`,
  };
}

/** The request that carries these fields: `GET https://shop.example/search?q=1`. */
export function requestWith(
  fields: { agent?: string; input: string; signature: string },
  nowMs: number,
  more: Partial<SignedRequest> = {},
): SignedRequest {
  return {
    headers: [
      ["Host", authority],
      ["User-Agent", "Agent/1.0"],
      ["Signature-Input", fields.input],
      ["Signature", fields.signature],
      ...(fields.agent === undefined ? [] : [["Signature-Agent", fields.agent] as const]),
    ],
    method: "GET",
    path: "/search",
    query: "?q=1",
    ip: "203.0.113.7",
    projectId: 1,
    nowMs,
    ...more,
  };
}

/** A signed request in one go. */
export function signedRequest(options: SignOptions, more: Partial<SignedRequest> = {}): SignedRequest {
  return requestWith(signatureFields(options), options.nowMs, more);
}
