/** How a request's evidence and its session's become one verdict. */
import t from "tap";
import { userAgentHash } from "../../src/challenge/clearance.js";
import type { ExaminedRequest } from "../../src/contract/judged-request.js";
import type { ScoredState } from "../../src/contract/session.js";
import { noUserAgent } from "../../src/contract/visitor-request.js";
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
  const clearance = { atMs: nowMs - 1000, band: "likely_human", userAgentHash: userAgentHash("UA") } as const;
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

t.test(
  "who was challenged for what a request shows gets in by a pass, until the session's own band is worse",
  async (t) => {
    const clearance = { atMs: nowMs - 1000, band: "likely_human", userAgentHash: userAgentHash("UA") } as const;
    const action = (score: number) =>
      decide({
        state: session(score, { clearance }),
        request: { ...nothing, score: 12, detectionIds: [7] },
        project: project({}, { challenge: { enabled: true, difficulty: "low", clearanceMinutes: 60 } }),
        rules: [rule(1, "score < 30 AND cleared", "log"), rule(2, "score < 30", "challenge")],
        context: { userAgent: "UA" },
        verifiedBot: null,
        nowMs,
      })?.verdict;
    t.match(action(80), { action: "allow", band: "confident_automated", because: /Passed at/ });
    t.match(action(20), { action: "challenge" });
  },
);
