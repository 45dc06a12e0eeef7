/** What rules may cost: searches read a text once whatever it is, and an evaluation ends when its budget is used up. Counted, not timed. */
import t from "tap";
import { limits } from "../../src/limits.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { type EvaluatedRule, evaluateRules } from "../../src/rules/evaluate.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { compileGlob } from "../../src/rules/glob.js";
import { RuleInput } from "../../src/rules/input.js";
import { containsSearch, literalSearch } from "../../src/rules/text-search.js";

/** The longest text that a rule can see, without the character that patterns look for. */
const longest = "a".repeat(limits.contextValueMax);

function inputOf(text: string): RuleInput {
  return new RuleInput({
    score: 4,
    band: "definite",
    verifiedBot: false,
    path: text,
    userAgent: text,
    detectionIds: [],
    jsDetected: false,
    eventCount: 1,
    sessionAgeSeconds: 1,
    likelyBotThreshold: 30,
  });
}

function rule(id: number, source: string, action: EvaluatedRule["action"] = "block"): EvaluatedRule {
  const compiled = compileRule(source);
  if (isRuleFault(compiled)) throw new Error(compiled.message);
  return { id, action, isActive: true, sortOrder: id, matches: compiled.matches };
}

/** A string that counts how often one of its units is read. */
class CountedText {
  reads = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.reads++;
    return this.#text.charCodeAt(at);
  }

  codePointAt(at: number): number | undefined {
    this.reads++;
    return this.#text.codePointAt(at);
  }

  indexOf(part: string): number {
    return this.#text.indexOf(part);
  }
}

function reads(text: string, search: (text: string) => unknown): number {
  const counted = new CountedText(text);
  search(counted as unknown as string);
  return counted.reads;
}

const attacks = [
  `*${"a".repeat(255)}b`,
  `*${"a".repeat(255)}b*`,
  `*${"a".repeat(20)}?${"a".repeat(235)}b*`,
  `*${"?".repeat(255)}b*`,
  `${"*a".repeat(255)}b`,
  `${"*a?".repeat(150)}*b*`,
  `*${"ab".repeat(120)}*`,
];

t.test("a wildcard reads each character of a text at most twice, whatever both are", async (t) => {
  for (const pattern of attacks)
    for (const text of [longest, "ab".repeat(longest.length / 2), `${longest.slice(1)}b`]) {
      const count = reads(text, compileGlob(pattern).matches);
      t.ok(count <= 2 * text.length, `${pattern.slice(0, 12)}… on ${text.slice(0, 4)}…: ${count}`);
    }
});

t.test("contains and the searches of a wildcard read each character at most once", async (t) => {
  for (const part of [`${"a".repeat(255)}b`, `b${"a".repeat(255)}`, `${"a".repeat(100)}b${"a".repeat(155)}`])
    t.ok(reads(longest, containsSearch(part)) <= longest.length, part.slice(0, 3));
  const units = Uint16Array.from({ length: 256 }, (_, at) => (at === 255 ? 0x62 : 0x61));
  t.equal(
    reads(longest, (text) => literalSearch(units)(text, 0)),
    longest.length,
  );
});

t.test("steps are those of the rules and the input, and cover what is read", async (t) => {
  for (const pattern of attacks) {
    const one = inputOf(longest);
    const two = inputOf(longest);
    const { matches } = rule(1, `user_agent wildcard "${pattern}"`);
    matches(one);
    matches(two);
    t.equal(one.steps, two.steps);
    t.ok(one.steps >= reads(longest, compileGlob(pattern).matches), pattern.slice(0, 12));
  }
});

/** As many of a comparison as a rule takes. */
function filled(comparison: string): string {
  const count = Math.floor((limits.ruleSourceMax + 4) / (comparison.length + 4));
  return Array(Math.min(count, limits.ruleNodesMax - 1))
    .fill(comparison)
    .join(" OR ");
}

const costly = [
  filled('path wildcard "*b*"'),
  filled('path wildcard "*?b*"'),
  filled('path contains "b"'),
  filled(`path wildcard "*?${"a".repeat(32)}b*"`),
  `user_agent wildcard "*${"?".repeat(500)}b*"`,
];

t.test("no single rule takes more than a tenth of the budget, so that a backtest never ends for it", async (t) => {
  for (const source of costly) {
    const input = inputOf(longest);
    t.equal(rule(1, source).matches(input), false);
    t.ok(input.steps <= limits.ruleStepsMax / 10, `${source.slice(0, 24)}…: ${input.steps}`);
  }
});

t.test("a thousand rules with a wildcard over a usual user agent are all asked", async (t) => {
  const userAgent =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";
  const rules = Array.from({ length: limits.rulesPerProjectMax }, (_, id) =>
    rule(id, 'user_agent wildcard "*headless*"'),
  );
  const last = rule(limits.rulesPerProjectMax, "score < 99");
  const input = inputOf(userAgent);
  t.match(evaluateRules([...rules, last], input), {
    action: "block",
    terminating: { id: last.id },
    isOverBudget: false,
  });
});

t.test("a thousand of the costliest rules end with the budget, fail-open, the same each time", async (t) => {
  for (const source of costly.slice(0, 3)) {
    const rules = Array.from({ length: limits.rulesPerProjectMax - 1 }, (_, id) => rule(id, source));
    rules.push(rule(rules.length, "score < 99"));
    const [first, second] = [inputOf(longest), inputOf(longest)];
    const outcome = evaluateRules(rules, first);
    t.match(outcome, { action: "allow", terminating: null, isOverBudget: true });
    t.same(evaluateRules(rules, second), outcome);
    t.equal(first.steps, second.steps);
    t.ok(first.steps <= limits.ruleStepsMax * 1.1, `${first.steps} steps`);
  }
});

t.test("what matched before the budget was used up holds: a log rule, and a rule that decides", async (t) => {
  const costlyRules = Array.from({ length: 200 }, (_, id) => rule(id + 10, costly[0]!));
  const log = rule(1, "score < 99", "log");
  t.match(evaluateRules([log, ...costlyRules], inputOf(longest)), {
    action: "log",
    logged: [{ id: 1 }],
    isOverBudget: true,
  });
  t.match(evaluateRules([rule(1, "score < 99"), ...costlyRules], inputOf(longest)), {
    action: "block",
    isOverBudget: false,
  });
});
