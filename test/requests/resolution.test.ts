/** How a request's evidence and its session's become one verdict. */
import t from "tap";
import { networkMark, userAgentHash } from "../../src/challenge/clearance.js";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import type { ExaminedRequest } from "../../src/contract/verdicts/judged-request.js";
import { noUserAgent } from "../../src/contract/verdicts/visitor-request.js";
import { decide, type NamedRule } from "../../src/verdict/resolve.js";
import { plainRequest as nothing, nowMs, project, rule, session } from "../verdict/material.js";

const agent = { host: "chatgpt.com", name: "ChatGPT", category: "ai_agent" } as const;
const signed: ExaminedRequest = { ...nothing, signature: "verified", signedAgent: agent };

function judged(
  request: ExaminedRequest,
  state: ScoredState | null = null,
  settings: Parameters<typeof project> = [],
  rules: readonly NamedRule[] = [],
) {
  const decision = decide({
    state,
    request,
    project: project(...settings),
    rules,
    context: {},
    verifiedBot: null,
    nowMs,
  });
  return decision!.verdict;
}

t.test("a request alone is banded by its own score, 60 where nothing speaks against it", async (t) => {
  t.match(judged(nothing), { band: "likely_human", score: 60, detectionIds: [] });
  t.match(judged({ ...nothing, score: 3, detectionIds: [100201] }), { band: "definite", score: 3 });
  t.match(judged({ ...nothing, score: 20, detectionIds: [1] }), { band: "likely_automated", score: 20 });
  t.match(judged(nothing, null, [{}, { likelyBotThreshold: 70 }]), { band: "likely_automated", score: 60 });
});

t.test("of a session and its request the lower score counts, and the ids of both are there, each once", async (t) => {
  const found: ExaminedRequest = { ...nothing, score: 10, detectionIds: [7, 100101] };
  t.match(judged(found, session(3)), { score: 3, detectionIds: [100101, 100201, 7] });
  t.match(judged(found, session(20)), { score: 10, band: "confident_automated", detectionIds: [7, 100101, 100201] });
  t.match(judged(found, session(90)), { score: 10, detectionIds: [7, 100101] });
  t.match(judged({ ...nothing, score: 40, detectionIds: [7] }, session(20)), { score: 20 });
  t.match(judged(nothing, session(90)), { score: 60, band: "likely_human" }, "a request without evidence scores 60");
  t.match(judged(nothing, session(20)), { score: 20, detectionIds: [100101, 100201] });
  t.match(judged(found, session(0, { scored: false, score: 0 })), { score: 10, detectionIds: [7, 100101] });
});

t.test("what the request shows takes the cap off a session that JS detection alone speaks against", async (t) => {
  const state = session(3, { engineScores: { heuristics: null, js_detection: 3, behavioral: null } });
  t.equal(judged(nothing, state).band, "likely_automated");
  t.equal(judged({ ...nothing, score: 4, detectionIds: [7] }, state).band, "definite");
});

t.test("a verified signed agent is verified, and allowed before rules as its setting and the guard say", async (t) => {
  const block = [rule(1, 'band == "verified" AND verified_bot_category == "ai_agent"', "block")];
  const how = (signedAgents: "allow" | "rules", allowVerified: boolean) => {
    const requestScoring = { enabled: true, signedAgents };
    return judged(signed, null, [{ allowVerified }, { requestScoring }], block);
  };
  t.match(how("allow", true), { band: "verified", action: "allow", verifiedBot: agent, because: /signed agents/ });
  t.equal(how("rules", true).action, "block");
  t.equal(how("allow", false).action, "block");
  t.equal(judged({ ...signed, score: 3 }, session(3)).band, "verified", "it outranks all bands");
});

t.test("a missing value makes a comparison false without a session", async (t) => {
  for (const expression of ["event_count >= 0", "session_age >= 0", 'ip != "192.0.2.1"', 'path != "/"', "cleared"]) {
    t.equal(judged(nothing, null, [], [rule(1, expression, "block")]).action, "allow", expression);
  }
  t.equal(judged(nothing, null, [], [rule(1, "NOT has_session AND request_score == 60", "block")]).action, "block");
  t.equal(judged(nothing, session(80), [], [rule(1, "has_session", "block")]).action, "block");
});

t.test("a clearance is not carried to whoever sends no user agent", async (t) => {
  const clearance = {
    atMs: nowMs - 1000,
    band: "likely_human",
    userAgentHash: userAgentHash("UA"),
    networks: [],
  } as const;
  const action = (hasHeaders: boolean, userAgent?: string) =>
    decide({
      state: session(80, { clearance }),
      request: { ...nothing, hasHeaders },
      project: project({}, { challenge: { enabled: true, difficulty: "low", clearanceMinutes: 60 } }),
      rules: [rule(1, "score < 100", "challenge")],
      context: userAgent === undefined ? {} : { userAgent },
      verifiedBot: null,
      nowMs,
    })?.verdict.action;
  t.equal(action(true, "UA"), "allow");
  t.equal(action(false), "allow", "what is not told is the session's own");
  t.equal(action(true), "challenge");
  t.equal(action(true, noUserAgent), "challenge");
});

t.test("a clearance holds for session and request together: not for a worse request than at the pass", (t) => {
  const at = (band: "likely_human" | "likely_automated") => ({
    atMs: nowMs - 1000,
    band,
    userAgentHash: userAgentHash("UA"),
    networks: [],
  });
  const action = (score: number, requestScore: number | null, band: "likely_human" | "likely_automated") =>
    decide({
      state: session(score, { clearance: at(band) }),
      request: { ...nothing, score: requestScore, detectionIds: [7] },
      project: project({}, { challenge: { enabled: true, difficulty: "low", clearanceMinutes: 60 } }),
      rules: [rule(1, "score < 30 AND cleared", "log"), rule(2, "score < 100", "challenge")],
      context: { userAgent: "UA" },
      verifiedBot: null,
      nowMs,
    })?.verdict;
  t.match(action(80, null, "likely_human"), { action: "allow", because: /Passed at/ });
  t.match(action(80, 20, "likely_automated"), { action: "allow", band: "likely_automated", because: /Passed at/ });
  t.match(action(80, 20, "likely_human"), { action: "challenge" });
  t.match(action(80, 12, "likely_automated"), { action: "challenge", band: "confident_automated" });
  t.match(action(12, null, "likely_automated"), { action: "challenge" });
  t.end();
});

t.test("a clearance is used from so many networks, IPv4 and IPv6 apart", (t) => {
  const hash = userAgentHash("UA");
  const marks = (...ips: string[]) => ips.map((ip) => networkMark(ip, hash)!);
  const decided = (ip: string | undefined, networks: number[], clearanceNetworks?: number) =>
    decide({
      state: session(80, { clearance: { atMs: nowMs - 1000, band: "likely_human", userAgentHash: hash, networks } }),
      project: project(
        {},
        {
          challenge: {
            enabled: true,
            difficulty: "low",
            clearanceMinutes: 60,
            ...(clearanceNetworks !== undefined && { clearanceNetworks }),
          },
        },
      ),
      rules: [rule(1, "score < 100", "challenge")],
      context: { userAgent: "UA", ...(ip !== undefined && { ip }) },
      verifiedBot: null,
      nowMs,
    });
  const four = marks("192.0.2.1", "198.51.100.1", "203.0.113.1", "10.1.0.1");
  t.equal(decided("192.0.77.77", four)?.verdict.action, "allow", "the same /16");
  t.equal(decided("192.0.77.77", four)?.clearanceUse, undefined);
  t.equal(decided(undefined, four)?.verdict.action, "allow", "of an address that is not told nothing is known");
  t.match(decided("10.2.0.1", four), {
    verdict: { action: "challenge" },
    clearanceUse: { mark: marks("10.2.0.1")[0] },
  });
  t.match(decided("10.2.0.1", four.slice(1)), {
    verdict: { action: "allow" },
    clearanceUse: { mark: marks("10.2.0.1")[0] },
  });
  t.equal(decided("10.2.0.1", four, 5)?.verdict.action, "allow");
  t.equal(decided("10.2.0.1", four.slice(3), 1)?.verdict.action, "challenge");
  t.equal(decided("2001:db8::1", four)?.verdict.action, "allow", "IPv6 is counted apart");
  const six = marks("2001:db8::1", "2001:db9::1", "2001:dba::1", "2001:dbb::1");
  t.equal(decided("2001:db8:ffff::1", [...four, ...six])?.verdict.action, "allow", "the same /32");
  t.equal(decided("2001:dbc::1", [...four, ...six])?.verdict.action, "challenge");
  t.equal(
    decided("::ffff:192.0.2.9", [...four, ...six])?.verdict.action,
    "allow",
    "an IPv4 address in IPv6's form is IPv4",
  );
  t.end();
});
