// The drafts' published vectors (cloudflare/web-bot-auth, web_bot_auth_architecture_v1.json and _v2.json; the values of both are in the
// drafts' appendices). v1 is the string form, valid for an hour; v2 the dictionary form, valid for a hundred years, which is never accepted.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { agentKey, testKeyThumbprints } from "../../../src/bots/signed/jwks.js";
import { Nonces } from "../../../src/bots/signed/nonces.js";
import { canonicalAuthority, ReadMessage, signatureBase } from "../../../src/bots/signed/signature-base.js";
import { readSignatures } from "../../../src/bots/signed/signature-fields.js";
import { createSignedAgents, type SignedRequest } from "../../../src/bots/signed/signed-agents.js";
import { createVerifier } from "../../../src/bots/signed/verification.js";
import type { PublicJwk } from "../../../src/contract/bots/signed-agents.js";

interface Vector {
  readonly source: string;
  readonly key: PublicJwk;
  readonly target_uri: string;
  readonly created: number;
  readonly expires: number;
  readonly signature_input: string;
  readonly signature: string;
  readonly signature_agent: string | null;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
const vectors: Vector[] = JSON.parse(readFileSync(join(root, "test/bots/signed/published-vectors.json"), "utf8"));

function request({ target_uri, created, signature_input, signature, signature_agent }: Vector): SignedRequest {
  const { host, pathname, search } = new URL(target_uri);
  return {
    headers: [
      ["Signature-Input", signature_input],
      ["Signature", signature],
      ...(signature_agent === null ? [] : [["Signature-Agent", signature_agent] as const]),
    ],
    authority: host,
    method: "GET",
    path: pathname,
    query: search,
    projectId: 1,
    nowMs: created * 1000,
  };
}

function agentsOf(vector: Vector, allowTestKeys = true) {
  const agent = { url: "https://signature-agent.test", name: "Test", category: "other", keys: [vector.key] } as const;
  const agents = [agent];
  return createSignedAgents({ agents: () => agents, nonces: new Nonces(), allowTestKeys });
}

t.test("every published signature verifies, and none with a byte changed", async (t) => {
  t.equal(vectors.length, 8);
  for (const vector of vectors) {
    const { headers, authority, path, query } = request(vector);
    const [read] = readSignatures(vector.signature_input, vector.signature);
    const message = { headers, method: "GET", authority: canonicalAuthority(authority), path, query: query! };
    const built = signatureBase(new ReadMessage(message), read!.components, read!.params);
    if (!("base" in built)) throw new Error(built.fault);
    const key = agentKey(vector.key)!;
    t.equal(key.thumbprint, read!.keyId, "keyid is the thumbprint of RFC 7638");
    t.ok(testKeyThumbprints.has(key.thumbprint), "the key is one of RFC 9421");
    const { check } = createVerifier();
    t.equal(await check(key, built.base, read!.bytes!), true, `${vector.source} ${read!.label} ${key.algorithm}`);
    t.equal(await check(key, `${built.base} `, read!.bytes!), false);
    t.equal(
      await check(
        key,
        built.base,
        read!.bytes!.map((byte, index) => (index === 9 ? byte ^ 1 : byte)),
      ),
      false,
    );
  }
});

/** Vectors by their Signature-Agent; there are some. */
function vectorsWith(t: Test, suits: (agent: (typeof vectors)[number]["signature_agent"]) => boolean): typeof vectors {
  const found = vectors.filter(({ signature_agent }) => suits(signature_agent));
  t.ok(found.length > 0, "there are such vectors");
  return found;
}

t.test("a request of the string form is verified in its time, when test keys are allowed", async (t) => {
  for (const vector of vectorsWith(t, (agent) => agent?.startsWith('"') === true)) {
    const judged = await agentsOf(vector).judge(request(vector));
    t.same(judged, {
      signature: "verified",
      agent: { host: "signature-agent.test", name: "Test", category: "other" },
    });
    t.same(await agentsOf(vector, false).judge(request(vector)), { signature: "invalid" }, "without --allow-test-keys");
    const late = { ...request(vector), nowMs: vector.expires * 1000 + 1 };
    t.same(await agentsOf(vector).judge(late), { signature: "invalid" }, "when it has expired");
  }
});

t.test("a signature that is valid for a hundred years is invalid", async (t) => {
  for (const vector of vectorsWith(t, (agent) => agent?.startsWith("agent2=") === true)) {
    t.same(await agentsOf(vector).judge(request(vector)), { signature: "invalid" });
  }
});

t.test("a signature without Signature-Agent names nobody", async (t) => {
  for (const vector of vectorsWith(t, (agent) => agent === null)) {
    t.same(await agentsOf(vector).judge(request(vector)), { signature: "unverified" });
  }
});
