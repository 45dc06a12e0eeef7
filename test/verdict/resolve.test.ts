/** From a session to an action: the order of resolution, the logged-in policy's table, reasons, what counts as a block. */
import t from "tap";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import { type Action, actions, loggedInPolicies, type RequestContext } from "../../src/contract/verdicts/verdict.js";
import { limits } from "../../src/limits.js";
import {
  failOpenVerdict,
  isLoggedIn,
  type NamedRule,
  resolve,
  softenedAction,
  type WordedDecision,
} from "../../src/verdict/resolve.js";
import { nowMs, project, rule, session } from "./material.js";

const bot = { name: "Googlebot", category: "search" } as const;

interface Given {
  readonly state?: ScoredState;
  readonly settings?: Parameters<typeof project>[0];
  readonly rules?: readonly NamedRule[];
  readonly context?: RequestContext;
  readonly isVerified?: boolean;
  readonly atMs?: number;
}

function decide({
  state = session(3),
  settings,
  rules = [],
  context = {},
  isVerified = false,
  atMs = nowMs,
}: Given): WordedDecision {
  return resolve({
    state,
    project: project(settings),
    rules,
    context,
    verifiedBot: isVerified ? bot : null,
    meaningOf: (id) => `Meaning of ${id}.`,
    nowMs: atMs,
  });
}

t.test("a session that is not scored answers the fail-open body, and no rule is asked", async (t) => {
  const asked: NamedRule = { ...rule(1, "score < 99", "block"), matches: () => t.fail("a rule was asked") as never };
  t.strictSame(decide({ state: session(0, { scored: false, score: 0 }), rules: [asked] }).verdict, failOpenVerdict());
  t.match(failOpenVerdict(), { verdict: "not_computed", score: 0, action: "allow", detection_ids: [] });
});

t.test("without a matching rule the action is allow, for every band", async (t) => {
  for (const score of [1, 10, 20, 80]) {
    const {
      verdict,
      blocked,
      rule: decided,
    } = decide({ state: session(score), rules: [rule(1, "score > 98", "block")] });
    t.equal(verdict.action, "allow");
    t.equal(blocked, false);
    t.equal(decided, null);
  }
});

t.test("a verified bot is allowed before any rule, whatever its score, while allow_verified is true", async (t) => {
  const rules = [rule(1, "score < 99", "block")];
  for (const state of [session(1), session(90), session(0, { scored: false, score: 0 })]) {
    const { verdict, blocked } = decide({ state, rules, isVerified: true });
    t.match(verdict, { verdict: "verified", action: "allow", verified_bot_category: "search" });
    t.equal(blocked, false);
    t.match(verdict.reason, "Googlebot");
  }
  const guarded = decide({ state: session(1), rules, isVerified: true, settings: { allowVerified: false } });
  t.match(
    guarded.verdict,
    { verdict: "verified", action: "block", verified_bot_category: "search" },
    "else rules decide",
  );
});

t.test("the verified-bot guard comes before the static-resource skip", async (t) => {
  const { verdict } = decide({ isVerified: true, settings: { protectStatic: false }, context: { path: "/a.js" } });
  t.match(verdict.reason, /verified bots/);
});

t.test("verified_bot_category is absent for anybody else", async (t) => {
  t.notOk("verified_bot_category" in decide({}).verdict);
});

t.test("static resources are skipped before rules only while protect_static is false", async (t) => {
  const rules = [rule(1, "score < 99", "block")];
  const context = { path: "/app.js?v=1" };
  t.equal(decide({ rules, context }).verdict.action, "block", "protected by default");
  const skipped = decide({ rules, context, settings: { protectStatic: false } });
  t.equal(skipped.verdict.action, "allow");
  t.equal(skipped.verdict.verdict, "definite", "the band stays");
  t.equal(decide({ rules, context: { path: "/login" }, settings: { protectStatic: false } }).verdict.action, "block");
});

t.test("the guard for static resources does not believe what the visitor's own event said of the path", async (t) => {
  const rules = [rule(1, "score < 99", "block")];
  const state = session(3, { last: { ip: "", userAgent: "", path: "/last.css", host: "" } });
  const settings = { protectStatic: false };
  t.equal(decide({ state, rules, settings }).verdict.action, "block");
  t.equal(decide({ state, rules, settings, context: { path: "/checkout" } }).verdict.action, "block");
  t.equal(decide({ state, rules, settings, context: { path: "/x.css" } }).verdict.action, "allow");
});

t.test("the first matching rule with a terminating action wins", async (t) => {
  for (const action of ["allow", "challenge", "block", "delay"] as const) {
    const { verdict, rule: decided } = decide({
      rules: [rule(1, "score > 98", "block"), rule(2, "score < 5", action), rule(3, "score < 5", "block")],
    });
    t.equal(verdict.action, action);
    t.equal(decided?.id, 2);
    t.match(verdict.reason, '"Rule 2"', "the reason names the rule");
  }
});

t.test("an allow rule above a band rule overrides it", async (t) => {
  const rules = [rule(1, 'path starts_with "/open"', "allow"), rule(2, 'band == "definite"', "block")];
  t.equal(decide({ rules, context: { path: "/open/a" } }).verdict.action, "allow");
  t.equal(decide({ rules, context: { path: "/closed" } }).verdict.action, "block");
});

t.test("log is recorded and evaluation goes on; log alone is the action log", async (t) => {
  const both = decide({ rules: [rule(1, "score < 5", "log"), rule(2, "score < 5", "challenge")] });
  t.equal(both.verdict.action, "challenge");
  t.same(
    both.logged.map(({ id }) => id),
    [1],
  );
  const alone = decide({
    rules: [rule(1, "score < 5", "log"), rule(2, "score > 98", "block"), rule(3, "score < 5", "log")],
  });
  t.equal(alone.verdict.action, "log");
  t.same(
    alone.logged.map(({ id }) => id),
    [1, 3],
  );
  t.match(alone.verdict.reason, '"Rule 1"');
  t.equal(alone.blocked, false);
});

t.test("no rule can tell whether the visitor is logged in", async (t) => {
  const seen: unknown[] = [];
  const spy: NamedRule = {
    ...rule(1, "score < 5", "block"),
    matches: (input) => {
      seen.push({ ...input.facts });
      return false;
    },
  };
  decide({ rules: [spy], state: session(3, { loggedInAtMs: nowMs }) });
  decide({ rules: [spy], state: session(3) });
  t.strictSame(seen[0], seen[1]);
});

/** What each policy makes of each action, for a visitor asserted to be logged in. */
const softened: Record<(typeof loggedInPolicies)[number], Record<Action, Action>> = {
  observe: { block: "block", challenge: "challenge", delay: "delay", log: "log", allow: "allow" },
  never_block: { block: "challenge", challenge: "challenge", delay: "delay", log: "log", allow: "allow" },
  never_challenge: { block: "block", challenge: "allow", delay: "delay", log: "log", allow: "allow" },
  whitelist: { block: "allow", challenge: "allow", delay: "allow", log: "allow", allow: "allow" },
};

t.test("logged_in_policy: the whole table of policies, actions and bands, asserted or not", async (t) => {
  const scores = { definite: 3, confident_automated: 10, likely_automated: 20, likely_human: 80 };
  for (const loggedInPolicy of loggedInPolicies) {
    for (const action of actions) {
      t.equal(softenedAction(loggedInPolicy, action), softened[loggedInPolicy][action]);
      for (const [band, score] of Object.entries(scores)) {
        for (const isAsserted of [true, false]) {
          const { verdict, blocked } = decide({
            state: session(score, { loggedInAtMs: isAsserted ? nowMs - 1000 : 0 }),
            rules: [rule(1, "score < 99", action)],
            settings: { loggedInPolicy },
          });
          const sheltered = isAsserted && (band === "likely_automated" || band === "likely_human");
          const expected = sheltered ? softened[loggedInPolicy][action] : action;
          const what = `${loggedInPolicy}, ${action}, ${band}, ${isAsserted ? "asserted" : "not asserted"}`;
          t.equal(verdict.verdict, band, what);
          t.equal(verdict.score, score, "the assertion does not change the score");
          t.equal(verdict.action, expected, what);
          t.equal(blocked, expected === "block", "a softened block is none");
          if (expected !== action) t.match(verdict.reason, loggedInPolicy, "the reason names the policy");
        }
      }
    }
  }
});

t.test("the assertion holds for 24 hours from the most recent call, to the millisecond", async (t) => {
  const day = limits.loggedInMs;
  t.equal(day, 24 * 3_600_000);
  t.equal(isLoggedIn({ loggedInAtMs: 0 }, nowMs), false, "never asserted");
  t.equal(isLoggedIn({ loggedInAtMs: nowMs }, nowMs), true);
  t.equal(isLoggedIn({ loggedInAtMs: nowMs }, nowMs + day - 1), true);
  t.equal(isLoggedIn({ loggedInAtMs: nowMs }, nowMs + day), false);
  const given = {
    state: session(20, { loggedInAtMs: nowMs }),
    rules: [rule(1, "score < 99", "block")],
    settings: { loggedInPolicy: "whitelist" },
  } as const;
  t.equal(decide({ ...given, atMs: nowMs + day - 1 }).verdict.action, "allow");
  t.equal(decide({ ...given, atMs: nowMs + day }).verdict.action, "block");
});

t.test("detection ids are empty for clean humans, there for bot bands and for enforced verdicts", async (t) => {
  const weak = session(80, { detectionIds: [100301] });
  t.same(decide({ state: weak }).verdict.detection_ids, []);
  t.same(decide({ state: weak, rules: [rule(1, "score < 99", "log")] }).verdict.detection_ids, []);
  for (const action of ["block", "challenge", "delay"] as const) {
    t.same(decide({ state: weak, rules: [rule(1, "score < 99", action)] }).verdict.detection_ids, [100301], action);
  }
  for (const score of [3, 10, 20]) t.same(decide({ state: session(score) }).verdict.detection_ids, [100101, 100201]);
});

t.test("the reason is plain English: band, score and the strongest detections", async (t) => {
  const { reason } = decide({ state: session(3, { detectionIds: [1, 2, 3, 4, 5] }) }).verdict;
  t.match(reason, /^Definitely automated \(score 3\): /);
  for (const id of [1, 2, 3]) t.match(reason, `meaning of ${id}`);
  t.match(reason, "2 more");
  t.match(decide({ state: session(80) }).verdict.reason, /^Likely human \(score 80\)/);
});

t.test("a new threshold applies to a stored session without scoring again", async (t) => {
  const bands = [10, 30, 60, 99].map(
    (likelyBotThreshold) =>
      resolve({
        state: session(25),
        project: project({}, { likelyBotThreshold }),
        rules: [],
        context: {},
        verifiedBot: null,
        meaningOf: () => "",
        nowMs,
      }).verdict.verdict,
  );
  t.same(bands, ["likely_human", "likely_automated", "confident_automated", "confident_automated"]);
});

t.test("the request's own context outweighs what the session last reported", async (t) => {
  const rules = [
    rule(
      1,
      'path == "/now" AND host == "now.example" AND user_agent == "Now" AND ip == "198.51.100.1" AND method == "PUT"',
      "block",
    ),
  ];
  const context = { path: "/now", host: "now.example", userAgent: "Now", ip: "198.51.100.1", method: "PUT" };
  t.equal(decide({ rules, context }).verdict.action, "block");
  t.equal(decide({ rules }).verdict.action, "allow");
  const last = [
    rule(1, 'path == "/last" AND host == "shop.example" AND user_agent == "UA" AND ip == "203.0.113.7"', "block"),
  ];
  t.equal(decide({ rules: last }).verdict.action, "block", "what is missing falls back");
});

t.test("exceptions come after verified bots and before static resources, rules and the logged-in policy", async (t) => {
  const exceptions = { find: () => ({ expiresAtMs: nowMs + 1, reason: "Let through until then: note" }) };
  const block = rule(1, "score < 99", "block");
  const asked = { project: project(), rules: [block], context: {}, verifiedBot: null, meaningOf: () => "", nowMs };
  const state = session(3);
  t.match(resolve({ ...asked, state, exceptions }), {
    verdict: { verdict: "definite", score: 3, action: "allow", reason: "Let through until then: note" },
    rule: null,
    blocked: false,
    letThroughUntilMs: nowMs + 1,
  });
  t.match(resolve({ ...asked, state, exceptions, verifiedBot: bot }).verdict.reason, /verified bots are let through/);
  const toRules = { ...asked, state, exceptions, verifiedBot: bot, project: project({ allowVerified: false }) };
  t.match(resolve(toRules).verdict, { verdict: "verified", action: "allow", reason: "Let through until then: note" });
  const unscored = session(0, { scored: false, score: 0 });
  t.strictSame(resolve({ ...asked, state: unscored, exceptions }).verdict, failOpenVerdict());
  const nobody = { find: () => null };
  t.equal(resolve({ ...asked, state, exceptions: nobody }).verdict.action, "block");
});
