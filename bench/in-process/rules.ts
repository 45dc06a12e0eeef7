/**
 * Time of a project's rules inside one process: 100 rules compiled, then asked for many visitors. Answers are checked before the clock
 * starts. Not part of the server benches: no HTTP, no store, so its figures are the rules' share of a verdict and nothing else.
 */
import { compileRule } from "../../src/rules/compile-rule.js";
import { type EvaluatedRule, evaluateRules, orderRules } from "../../src/rules/evaluate.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { RuleInput } from "../../src/rules/input.js";
import { type TimedRow, timed } from "./timed.js";

const rulesMax = 100;
const visitors = 256;
const rounds = 150;

/** Rules by kind; `%` is the rule's number. None matches a visitor below, so that all 100 are asked. */
const mixes: Readonly<Record<string, readonly string[]>> = {
  integers: ["score < 1 AND event_count > %"],
  strings: [
    'path == "/admin/%"',
    'path starts_with "/admin/%"',
    'user_agent contains "scraper-%"',
    'host in {"a%.example", "b%.example"}',
  ],
  wildcards: ['path wildcard "*/wp-*%.php"', 'user_agent wildcard "*bot?%*"'],
  addresses: ['ip == "198.51.%.0/24"', 'ip in {"10.%.0.0/16", "192.168.%.0/24", "2001:db8:%::/48"}'],
  mixed: [
    'band == "definite" AND path starts_with "/login/%"',
    'score < 10 AND NOT verified_bot AND ip in {"10.%.0.0/16", "2001:db8:%::/48"}',
    '(path wildcard "*/wp-*%.php" OR path ends_with ".env%") AND method == "GET"',
    'user_agent contains "scraper-%" OR detection_ids contains 2001%',
    "event_count > 100000 AND session_age < % AND behavioral_score < 5",
  ],
};

function rulesOf(templates: readonly string[]): readonly EvaluatedRule[] {
  const rules: EvaluatedRule[] = [];
  for (let id = 0; id < rulesMax; id++) {
    const compiled = compileRule(templates[id % templates.length]!.replaceAll("%", String(id)));
    if (isRuleFault(compiled)) throw new Error(compiled.message);
    rules.push({ id, action: "block", isActive: true, sortOrder: id, matches: compiled.matches });
  }
  return orderRules(rules);
}

function visitor(number: number): RuleInput {
  return new RuleInput({
    score: 40 + (number % 50),
    band: "likely_human",
    verifiedBot: false,
    path: `/products/category-${number % 9}/item-${number}`,
    method: "GET",
    host: "shop.example",
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.${number}.0 Safari/537.36`,
    ip: `203.0.${number % 256}.9`,
    staticResource: false,
    detectionIds: [],
    jsDetected: false,
    heuristicsScore: null,
    behavioralScore: 62,
    eventCount: number,
    sessionAgeSeconds: 30 + number,
    likelyBotThreshold: 30,
  });
}

/** One verdict's worth of rules, a new input each. */
function measure(what: string, rules: readonly EvaluatedRule[]): TimedRow {
  const [, micros] = timed(what, rounds, () => {
    for (let number = 0; number < visitors; number++) {
      if (evaluateRules(rules, visitor(number)).terminating !== null) throw new Error("a rule matched");
    }
  });
  return [what, micros / visitors];
}

export function rulesBench(): TimedRow[] {
  const paths = Array.from({ length: 130 }, (_, index) => `"/page${index}"`).join(",");
  const longest = `path in {${paths}}`;
  return [
    measure("no rules (the input alone)", []),
    ...Object.entries(mixes).map(([name, templates]) => measure(`${rulesMax} rules, ${name}`, rulesOf(templates))),
    timed(`compile a rule of ${longest.length} characters`, rounds, () => {
      if (isRuleFault(compileRule(longest))) throw new Error("refused");
    }),
  ];
}
