/** Rules in order: who is asked, who decides, what is logged. */
import t from "tap";
import { type Action, actions } from "../../src/contract/verdicts/verdict.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { type EvaluatedRule, evaluateRules, orderRules } from "../../src/rules/evaluate.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { RuleInput } from "../../src/rules/input.js";

const input = new RuleInput({
  score: 4,
  band: "definite",
  verifiedBot: false,
  path: "/login",
  detectionIds: [],
  jsDetected: false,
  eventCount: 1,
  sessionAgeSeconds: 1,
  likelyBotThreshold: 30,
});

function rule(id: number, action: Action, source: string, sortOrder = 0, isActive = true): EvaluatedRule {
  const compiled = compileRule(source);
  if (isRuleFault(compiled)) throw new Error(compiled.message);
  return { id, action, sortOrder, isActive, matches: compiled.matches };
}

function decide(...rules: EvaluatedRule[]): { action: Action; by: number | null; logged: number[] } {
  const { action, terminating, logged } = evaluateRules(orderRules(rules), input);
  return { action, by: terminating?.id ?? null, logged: logged.map((each) => each.id) };
}

const bot = 'band == "definite"';

t.test("no rule, or none that matches, allows", async (t) => {
  t.strictSame(decide(), { action: "allow", by: null, logged: [] });
  t.strictSame(decide(rule(1, "block", "verified_bot")), { action: "allow", by: null, logged: [] });
});

t.test("the first matching rule by sort_order decides, an allow above a block too", async (t) => {
  t.strictSame(decide(rule(1, "block", bot, 5), rule(2, "allow", 'path == "/login"', -5)), {
    action: "allow",
    by: 2,
    logged: [],
  });
  t.strictSame(decide(rule(1, "block", bot, 5), rule(2, "allow", 'path == "/other"', -5)), {
    action: "block",
    by: 1,
    logged: [],
  });
});

t.test("equal sort_order: the lower id is asked first, whatever order they come in", async (t) => {
  t.equal(decide(rule(9, "block", bot), rule(10, "challenge", bot)).by, 9);
  t.equal(decide(rule(10, "challenge", bot), rule(9, "block", bot)).by, 9);
});

t.test("sort_order at the ends of 32 bits orders", async (t) => {
  t.equal(decide(rule(1, "block", bot, 2 ** 31 - 1), rule(2, "delay", bot, -(2 ** 31))).by, 2);
});

t.test("every action but log terminates", async (t) => {
  for (const action of actions) {
    const outcome = decide(rule(1, action, bot), rule(2, "block", bot));
    if (action === "log") t.strictSame(outcome, { action: "block", by: 2, logged: [1] });
    else t.strictSame(outcome, { action, by: 1, logged: [] });
  }
});

t.test("log rules are recorded up to the deciding rule, not beyond", async (t) => {
  t.strictSame(
    decide(
      rule(1, "log", bot),
      rule(2, "log", "verified_bot"),
      rule(3, "log", bot),
      rule(4, "allow", bot),
      rule(5, "log", bot),
    ),
    {
      action: "allow",
      by: 4,
      logged: [1, 3],
    },
  );
});

t.test("only log rules matching makes the action log", async (t) => {
  t.strictSame(decide(rule(1, "log", bot), rule(2, "block", "verified_bot"), rule(3, "log", bot)), {
    action: "log",
    by: null,
    logged: [1, 3],
  });
});

t.test("an inactive rule is never asked", async (t) => {
  let asked = false;
  const inactive: EvaluatedRule = {
    id: 1,
    action: "block",
    sortOrder: 0,
    isActive: false,
    matches: () => (asked = true),
  };
  t.strictSame(decide(inactive, rule(2, "log", bot, 1)), { action: "log", by: null, logged: [2] });
  t.notOk(asked);
});

t.test("rules after the deciding one are not asked", async (t) => {
  let asked = false;
  const later: EvaluatedRule = { id: 2, action: "block", sortOrder: 0, isActive: true, matches: () => (asked = true) };
  t.equal(decide(rule(1, "challenge", bot), later).action, "challenge");
  t.notOk(asked);
});

t.test("ordering leaves the given rules as they were and keeps the caller's records", async (t) => {
  const rules = [
    { ...rule(2, "block", bot), name: "second" },
    { ...rule(1, "log", bot), name: "first" },
  ];
  t.strictSame(
    orderRules(rules).map((each) => each.name),
    ["first", "second"],
  );
  t.strictSame(
    rules.map((each) => each.name),
    ["second", "first"],
  );
});
