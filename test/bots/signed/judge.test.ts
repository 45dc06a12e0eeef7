// The sentences of requests.md, section 6, on requests signed here in both forms.
import t from "tap";
import { Nonces } from "../../../src/bots/signed/nonces.js";
import { createSignedAgents, type SignedRequest } from "../../../src/bots/signed/signed-agents.js";
import type { KeyedAgent, SignatureJudgement } from "../../../src/contract/bots/signed-agents.js";
import { limits } from "../../../src/limits.js";
import { agentUrl, newKey, requestWith, type SignOptions, signatureFields, signedRequest } from "./signer.js";

const nowMs = Date.UTC(2026, 10, 22, 12);
const key = newKey();
const forms = ["string", "dictionary"] as const;
const agent: KeyedAgent = { url: agentUrl, name: "Example", category: "ai_agent", keys: [key.jwk] };
const verified: SignatureJudgement = {
  signature: "verified",
  agent: { host: "agent.example", name: "Example", category: "ai_agent" },
};

function service(agents: readonly KeyedAgent[] = [agent], nonces = new Nonces()) {
  return createSignedAgents({ agents: () => agents, nonces, allowTestKeys: false });
}

/** What a request signed with these options comes to. */
async function stateOf(options: Partial<SignOptions>, more: Partial<SignedRequest> = {}, agents = [agent]) {
  return (await service(agents).judge(signedRequest({ key, nowMs, ...options }, more))).signature;
}

t.test("a request signed in either form is verified, with the agent's host, name and category", async (t) => {
  for (const form of forms) t.same(await service().judge(signedRequest({ key, nowMs, form })), verified, form);
});

t.test("the draft's second label: a member that is not named like the signature", async (t) => {
  const covered = ['"@authority"', '"signature-agent";key="agent2"'];
  const values = { '"signature-agent";key="agent2"': `"${agentUrl}"` };
  const fields = signatureFields({ key, nowMs, form: "dictionary", label: "sig2", covered, values });
  const request = requestWith({ ...fields, agent: `agent2="${agentUrl}"` }, nowMs);
  t.same(await service().judge(request), verified);
});

t.test("requests without a signature of the tag are none, at once", async (t) => {
  const judged = (headers: [string, string][]) => service().judge({ headers, projectId: 1, nowMs });
  t.same(judged([["User-Agent", "x"]]), { signature: "none" });
  t.same(judged([["Signature-Agent", `"${agentUrl}"`]]), { signature: "none" });
  const other = signedRequest({ key, nowMs, params: { tag: '"other"' } });
  t.same(service().judge(other), { signature: "none" }, "other tags are not looked at");
  const token = signedRequest({ key, nowMs, params: { tag: "web-bot-auth" } });
  t.same(service().judge(token), { signature: "none" }, "a tag is a string");
});

t.test("for a host that is none of the project's own a signature is unverified", async (t) => {
  const at = async (isForeign: () => boolean | Promise<boolean>) =>
    (await service().judge({ ...signedRequest({ key, nowMs }), isForeign })).signature;
  t.equal(await at(() => true), "unverified");
  t.equal(await at(() => Promise.resolve(true)), "unverified");
  t.equal(await at(() => Promise.resolve(false)), "verified");
});

t.test("what verdictd does not implement, and more than it works on, is unverified and no forgery", async (t) => {
  const own = ['"@authority"', '"signature-agent"'];
  for (const more of ['"user-agent";sf', '"user-agent";tr', '"@unheard-of"']) {
    const values = { [more]: "*/*" };
    t.equal(await stateOf({ covered: [...own, more], values }), "unverified", more);
  }
  const covered = [...own, ...Array.from({ length: 63 }, (_, index) => `"x-${index}"`)];
  const values = Object.fromEntries(covered.slice(2).map((each) => [each, ""]));
  t.equal(await stateOf({ covered, values }), "unverified", "65 components");
});

t.test("however many components ask for it, a query is parsed once", async (t) => {
  const names = Array.from({ length: 61 }, (_, index) => `p${index}`);
  const query = `?${names.map((name) => `${name}=1`).join("&")}&${"x=&".repeat(1900)}`;
  const covered = ['"@authority"', '"signature-agent"', ...names.map((name) => `"@query-param";name="${name}"`)];
  const values = Object.fromEntries(covered.slice(2).map((each) => [each, "1"]));
  const request = { ...signedRequest({ key, nowMs, covered, values }), path: "/", query };
  let parsed = 0;
  const Original = globalThis.URLSearchParams;
  globalThis.URLSearchParams = class extends Original {
    constructor(init?: ConstructorParameters<typeof Original>[0]) {
      super(init);
      parsed++;
    }
  } as typeof Original;
  t.teardown(() => {
    globalThis.URLSearchParams = Original;
  });
  t.equal((await service().judge(request)).signature, "verified");
  t.equal(parsed, 1);
  const long = { ...request, query: `${query}${"y".repeat(8192)}` };
  t.equal((await service().judge(long)).signature, "unverified", "longer than any server takes");
  t.equal(parsed, 1);
});

t.test("a second look at the same signature answers at once", async (t) => {
  const judge = service().judge;
  const request = signedRequest({ key, nowMs });
  t.ok(judge(request) instanceof Promise);
  await judge(request);
  t.same(judge(request), verified);
  t.same(judge({ ...request, nowMs: nowMs + 700_000 }), { signature: "invalid" }, "and its time is looked at anew");
  t.ok(judge({ ...request, authority: "other.example" }) instanceof Promise, "and what it covers counts");
});

t.test("@authority or @target-uri is covered", async (t) => {
  const own = '"signature-agent"';
  t.equal(await stateOf({ covered: [own] }), "invalid");
  t.equal(await stateOf({ covered: ['"@method"', '"@path"', '"@query"', own] }), "invalid");
  t.equal(await stateOf({ covered: ['"@target-uri"', own] }), "verified");
  t.equal(await stateOf({ covered: ['"@authority"', own] }), "verified");
});

t.test("the agent's member is covered where it is sent", async (t) => {
  t.equal(await stateOf({ covered: ['"@authority"'] }), "invalid");
  t.equal(await stateOf({ form: "dictionary", covered: ['"@authority"'] }), "invalid");
  const two = signatureFields({ key, nowMs, form: "dictionary" });
  const other = requestWith({ ...two, agent: `sig1="https://other.example", sig2="${agentUrl}"` }, nowMs);
  t.equal((await service().judge(other)).signature, "unverified", "the covered member is that of a stranger");
});

t.test("a whole dictionary may be covered", async (t) => {
  const text = `sig1="${agentUrl}", b="https://b.example"`;
  const options = { key, nowMs, covered: ['"@authority"', '"signature-agent"'], values: { '"signature-agent"': text } };
  t.same(await service().judge(requestWith({ ...signatureFields(options), agent: text }, nowMs)), verified);
});

t.test("created, expires and keyid are required", async (t) => {
  t.equal(await stateOf({ params: { created: null } }), "invalid");
  t.equal(await stateOf({ params: { expires: null } }), "invalid");
  t.equal(await stateOf({ params: { created: '"1"' } }), "invalid");
  t.equal(await stateOf({ params: { expires: "1.5" } }), "invalid");
  t.equal(await stateOf({ params: { keyid: null } }), "unverified", "without keyid there is no known key");
  t.equal(await stateOf({ params: { keyid: "token" } }), "unverified", "a keyid that is no string is none");
});

t.test("created is at most 60 s ahead, expires not past and at most 24 h after created", async (t) => {
  const at = (created: number, expires: number) =>
    stateOf({ params: { created: `${nowMs / 1000 + created}`, expires: `${nowMs / 1000 + expires}` } });
  t.equal(await at(60, 120), "verified");
  t.equal(await at(61, 120), "invalid");
  t.equal(await at(-600, 0), "verified");
  t.equal(await at(-600, -1), "invalid");
  t.equal(await at(0, 86_400), "verified");
  t.equal(await at(0, 86_401), "invalid");
  t.equal(await at(-86_000, 401), "invalid");
  t.equal(await at(50, 10), "invalid", "expires before created");
});

t.test("the key is that of directory and keyid, never of keyid alone", async (t) => {
  const other: KeyedAgent = { url: "https://other.example", name: "Other", category: "search", keys: [newKey().jwk] };
  t.equal(await stateOf({ agent: other.url }, {}, [agent, other]), "unverified", "another agent's key");
  t.equal(await stateOf({ agent: "https://unknown.example" }), "unverified", "an agent that is not listed");
  t.equal(await stateOf({ key: newKey() }), "unverified", "a key that the agent does not have");
  const both = [agent, { ...other, keys: [key.jwk] }];
  const judged = await service(both).judge(signedRequest({ key, nowMs, agent: other.url }));
  t.equal(judged.agent?.name, "Other", "two agents may have one key");
});

t.test("keyid is the thumbprint, or a short label of the agent's own directory", async (t) => {
  const params = { keyid: '"g1"' };
  t.equal(await stateOf({ params }, {}, [{ ...agent, keys: [{ ...key.jwk, kid: "g1" }] }]), "verified");
  t.equal(await stateOf({ params }), "unverified");
  const lie = newKey().thumbprint;
  const lying = { ...agent, keys: [{ ...key.jwk, kid: lie }] };
  t.equal(await stateOf({ params: { keyid: `"${lie}"` } }, {}, [lying]), "unverified", "no key passes for another");
});

t.test("a key signs from nbf to exp", async (t) => {
  const withTimes = (times: object) => stateOf({}, {}, [{ ...agent, keys: [{ ...key.jwk, ...times }] }]);
  const nowS = nowMs / 1000;
  t.equal(await withTimes({ nbf: nowS - 10, exp: nowS + 10 }), "verified");
  t.equal(await withTimes({ nbf: nowS + 1 }), "invalid");
  t.equal(await withTimes({ exp: nowS - 1 }), "invalid");
  t.equal(await withTimes({ exp: nowMs + 1000 }), "verified", "in milliseconds, as some write it");
});

t.test("whatever fails with a known key is invalid", async (t) => {
  const fields = signatureFields({ key, nowMs });
  const judged = async (more: object, rest: Partial<SignedRequest> = {}) =>
    (await service().judge(requestWith({ ...fields, ...more }, nowMs, rest))).signature;
  t.equal(await judged({}), "verified");
  t.equal(
    await judged({ signature: fields.signature.replace("sig1=", "sig2=") }),
    "invalid",
    "no signature of the label",
  );
  t.equal(await judged({ signature: "sig1=:AAAA:" }), "invalid", "too short to be one");
  t.equal(await judged({ signature: "sig1=(" }), "invalid", "a broken Signature");
  t.equal(await judged({ signature: 'sig1="text"' }), "invalid", "no bytes");
  t.equal(await judged({}, { authority: "evil.example" }), "invalid", "signed for another host");
  t.equal(await stateOf({ params: { alg: '"rsa-pss-sha512"' } }), "invalid", "an algorithm that is not the key's");
  t.equal(await stateOf({ params: { alg: "ed25519" } }), "invalid", "an algorithm that is no string");
  t.equal(await stateOf({ params: { alg: '"ed25519"' } }), "verified");
  const twice = ['"@authority"', '"@authority"', '"signature-agent"'];
  t.equal(await stateOf({ covered: twice }), "invalid", "a component that is covered twice");
  for (const bad of ['"@status"', '"@signature-params"', '"@authority";req', '"x-absent"', '"User-Agent"', "token"]) {
    t.equal(await stateOf({ covered: ['"@authority"', bad, '"signature-agent"'] }), "invalid", bad);
  }
});

t.test("every component of a request can be covered", async (t) => {
  const covered = [
    '"@method"',
    '"@authority"',
    '"@scheme"',
    '"@target-uri"',
    '"@request-target"',
    '"@path"',
    '"@query"',
    '"@query-param";name="q"',
    '"user-agent"',
    '"user-agent";bs',
    '"signature-agent"',
  ];
  const values = { '"user-agent";bs': `:${Buffer.from("Agent/1.0").toString("base64")}:` };
  t.equal(await stateOf({ covered, values }), "verified");
  t.equal(
    await stateOf({ covered, values }, { query: undefined, path: "/search?q=1" }),
    "verified",
    "query in the path",
  );
  t.equal(await stateOf({ covered, values }, { query: "q=1" }), "verified", "query without its mark");
  t.equal(await stateOf({ covered, values }, { query: "?q=2" }), "invalid");
  t.equal(await stateOf({ covered, values }, { method: "POST" }), "invalid");
  const bare = { '"@query"': "?", '"@target-uri"': "https://shop.example/" };
  const own = ['"@query"', '"@target-uri"', '"signature-agent"'];
  t.equal(await stateOf({ covered: own, values: bare }, { path: "", query: "" }), "verified", "an empty path is /");
});

t.test("what whoever asks does not know of the request makes it unverified", async (t) => {
  const covered = ['"@authority"', '"@method"', '"@path"', '"signature-agent"'];
  t.equal(await stateOf({ covered }), "verified");
  t.equal(await stateOf({ covered }, { method: undefined }), "unverified");
  t.equal(await stateOf({ covered }, { path: undefined }), "unverified");
  const hostless = signedRequest({ key, nowMs });
  const headers = hostless.headers.filter(([name]) => name !== "Host");
  t.equal((await service().judge({ ...hostless, headers })).signature, "unverified");
  const long = "x".repeat(limits.contextValueMax);
  const cut = signedRequest({ key, nowMs, covered: ['"@authority"', '"x-long"', '"signature-agent"'] });
  t.equal(
    (await service().judge({ ...cut, headers: [...cut.headers, ["X-Long", long]] })).signature,
    "unverified",
    "a value that may have been cut",
  );
});

t.test(
  "the authority is the reported host, else the Host header, in lower case, without the default port",
  async (t) => {
    t.equal(await stateOf({}, { authority: "SHOP.example:443" }), "verified");
    t.equal(await stateOf({}, { authority: "shop.example:8443" }), "invalid");
    const eight = { '"@authority"': "shop.example:8443" };
    t.equal(await stateOf({ values: eight }, { authority: "Shop.Example:8443" }), "verified");
    t.equal(await stateOf({}, { authority: undefined }), "verified", "from the Host header");
    t.equal(await stateOf({ values: { '"@authority"': "evil.example" } }, { authority: "shop.example" }), "invalid");
  },
);

t.test("every signature of the tag must verify", async (t) => {
  const good = signatureFields({ key, nowMs, form: "dictionary", label: "a" });
  const second = newKey();
  const landlord: KeyedAgent = { url: "https://b.example", name: "B", category: "other", keys: [second.jwk] };
  const other = signatureFields({ key: second, nowMs, form: "dictionary", label: "b", agent: landlord.url });
  const joined = (more: Partial<typeof other> = {}) =>
    requestWith(
      {
        agent: `${good.agent}, ${more.agent ?? other.agent}`,
        input: `${good.input}, ${more.input ?? other.input}`,
        signature: `${good.signature}, ${more.signature ?? other.signature}`,
      },
      nowMs,
    );
  const both = [agent, landlord];
  t.same(await service(both).judge(joined()), verified, "the first signer is the agent");
  t.equal((await service().judge(joined())).signature, "unverified", "one of an unknown agent");
  const broken = { signature: "b=:AAAA:" };
  t.equal((await service(both).judge(joined(broken))).signature, "invalid", "one that fails");
  const untagged = { input: other.input.replace("web-bot-auth", "other") };
  t.same(await service(both).judge(joined({ ...untagged, signature: "b=:AAAA:" })), verified, "other tags don't count");
  const lines = joined();
  const split: [string, string][] = [
    ["signature-agent", good.agent],
    ["SIGNATURE-AGENT", other.agent],
    ["Signature-Input", good.input],
    ["signature-input", other.input],
    ["Signature", good.signature],
    ["Signature", other.signature],
  ];
  t.same(
    await service(both).judge({ ...lines, authority: "shop.example", headers: split }),
    verified,
    "on lines of their own",
  );
});

t.test("with more signatures than are looked at a request is not verified", async (t) => {
  const all = Array.from({ length: limits.signaturesMax + 1 }, (_, index) =>
    signatureFields({ key, nowMs, form: "dictionary", label: `s${index}` }),
  );
  const request = (count: number) => {
    const some = all.slice(0, count);
    const text = (name: "agent" | "input" | "signature") => some.map((each) => each[name]).join(", ");
    return requestWith({ agent: text("agent"), input: text("input"), signature: text("signature") }, nowMs);
  };
  t.equal((await service().judge(request(limits.signaturesMax))).signature, "verified");
  t.equal((await service().judge(request(limits.signaturesMax + 1))).signature, "invalid");
  t.equal((await service([]).judge(request(limits.signaturesMax + 1))).signature, "unverified", "of unknown agents");
});

t.test("a nonce that was seen before is invalid, but for the same request within 10 s", async (t) => {
  const { judge } = service();
  const sent = (more: Partial<SignedRequest> = {}, nonce = "n1") =>
    signedRequest({ key, nowMs, params: { nonce: `"${nonce}"` } }, more);
  const state = async (request: SignedRequest) => (await judge(request)).signature;
  const first = sent();
  t.equal(await state(first), "verified");
  t.equal(await state({ ...first, nowMs: nowMs + 10_000 }), "verified", "asked again by the middleware");
  t.equal(await state({ ...first, nowMs: nowMs + 10_001 }), "invalid", "10 s later");
  t.equal(await state({ ...first, ip: "198.51.100.1" }), "invalid", "from another address");
  t.equal(await state({ ...first, path: "/other" }), "invalid", "for another path");
  t.equal(await state({ ...first, projectId: 2, nowMs: nowMs + 60_000 }), "verified", "in another project");
  t.equal(await state(sent({ ip: "198.51.100.1" }, "n2")), "verified", "another nonce");
  const unsigned = { ...sent({}, "n3"), authority: "evil.example" };
  t.equal(await state(unsigned), "invalid");
  t.equal(await state(sent({ ip: "198.51.100.1" }, "n3")), "verified", "what fails uses no nonce up");
  t.equal(await state(signedRequest({ key, nowMs })), "verified");
  t.equal(
    await state(signedRequest({ key, nowMs }, { ip: "198.51.100.1" })),
    "verified",
    "without a nonce nothing is held",
  );
});

t.test("test keys of RFC 9421 are invalid, whoever publishes them, unless they are allowed", async (t) => {
  const jwk = { kty: "OKP", crv: "Ed25519", x: "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs" };
  const request = signedRequest({ key, nowMs, params: { keyid: '"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"' } });
  t.same(service([{ ...agent, keys: [jwk] }]).judge(request), { signature: "invalid" }, "without verifying anything");
});

t.test("changes of the allow-list count from the next request on", async (t) => {
  let agents: readonly KeyedAgent[] = [];
  const { judge } = createSignedAgents({ agents: () => agents, nonces: new Nonces(), allowTestKeys: false });
  const state = async () => (await judge(signedRequest({ key, nowMs }))).signature;
  t.equal(await state(), "unverified");
  agents = [agent];
  t.equal(await state(), "verified");
  agents = [{ ...agent, keys: [] }];
  t.equal(await state(), "unverified");
});

t.test("each request with a signature is counted once, and too many at once are not waited for", async (t) => {
  const counts: Record<string, number> = {};
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const { judge } = createSignedAgents({
    agents: () => agents,
    nonces: new Nonces(),
    allowTestKeys: false,
    onJudged: count,
    onShed: () => count("shed"),
    onForeign: () => count("foreign"),
  });
  const agents = [agent];
  judge({ headers: [], projectId: 1, nowMs });
  judge({ headers: [], projectId: 1, nowMs, isForeign: () => true });
  judge({ ...requestWith(signatureFields({ key, nowMs }), nowMs), isForeign: () => true });
  const flood = Array.from({ length: limits.signatureChecksMax + 5 }, (_, index) => {
    const fields = signatureFields({ key, nowMs, params: { nonce: `"${index}"` } });
    return judge(requestWith(fields, nowMs));
  });
  const states = (await Promise.all(flood)).map(({ signature }) => signature);
  t.equal(states.filter((state) => state === "unverified").length, 5);
  t.same(counts, { verified: limits.signatureChecksMax, unverified: 6, shed: 5, foreign: 1 });
});
