/** What is said of comparisons that never or always hold, and that nothing is said of others. */
import t from "tap";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { warningsOf } from "../../src/rules/warnings.js";

function warnings(source: string): string {
  const rule = compileRule(source);
  if (isRuleFault(rule)) throw new Error(`${source}: ${rule.message}`);
  return warningsOf(rule.ast).join(" ");
}

t.test("a comparison that can come out in one way only is told, with the reason", async (t) => {
  for (const [source, said] of [
    ['path contains "?"', "never matches: a path has no query"],
    ['path == "/a?b"', "never matches: a path has no query"],
    ['path == "checkout"', "never matches: a path begins with /"],
    ['path != "checkout"', "always matches: a path begins with /"],
    ['path starts_with "checkout"', "never matches: a path begins with /"],
    ['path wildcard "checkout*"', "never matches: a path begins with /"],
    ['path contains "//"', "never matches: a path has no empty segments"],
    ['path contains "\\\\"', "never matches: a path has / in place"],
    [`path ends_with "${"a".repeat(600)}"`, "never matches: a path is cut"],
    ['path starts_with "/"', "always matches: every path"],
    ['path wildcard "/*"', "always matches: every path"],
    ['user_agent contains ""', "always matches: every text"],
    ['user_agent == ""', "never matches: an empty value"],
    ['user_agent wildcard "*"', "always matches: * stands"],
    ['host == "https://shop.example"', "never matches: a host is a name alone"],
    ['host contains ":8080"', "never matches: a host has no port"],
    ['host ends_with "."', "never matches: a host has no dot"],
    ['method == "M-SEARCH"', "never matches: a method is 1 to 20 letters"],
    ['signature contains "veri"', ""],
    ['signature contains "xyz"', "never matches: signature is one of"],
    ["score < 150", "always matches: score is 0 to 99"],
    ["score >= 0", "always matches: score is 0 to 99"],
    ["score > 99", "never matches: score is 0 to 99"],
    ["score == -1", "never matches: score is 0 to 99"],
    ["score != 100", "always matches"],
    ["heuristics_score < 1", "never matches"],
    ["event_count < 0", "never matches"],
    ['band == "not_computed"', "never matches: such a session is allowed"],
    ['band != "not_computed"', "always matches"],
    ["score < 10 AND score > 20", "never matches: no value is both"],
    ['host == "a.example" AND host == "b.example"', "never matches: no value is both"],
    ['host != "a.example" OR host != "b.example"', "always matches: every value is one of these"],
    ["score < 30 OR score >= 30", "always matches: every value is one of these"],
    ['path contains "?" AND score < 30', "The expression can never match."],
    ['NOT path contains "?"', "The expression always matches."],
  ] as const) {
    if (said === "") t.equal(warnings(source), "", source);
    else t.match(warnings(source), said, source);
  }
});

t.test("nothing is said of an expression that may come out in both ways", async (t) => {
  for (const source of [
    "score < 99",
    "score > 0",
    "score > 10 AND score < 20",
    "score < 10 OR score > 20",
    'path == "/café"',
    'path contains "%3F"',
    'path wildcard "/a?c"',
    'path wildcard "*.php"',
    'path in {"/a", "checkout"}',
    'host == "[::1]:8080"',
    'host wildcard "*.shop.example"',
    'host != "a.example" AND host != "b.example"',
    'method in {"GET", "POST"}',
    'band in {"definite", "verified"}',
    'signature != "verified"',
    'country == "DE"',
    "asn == 64500",
    "cleared",
    'ip == "0.0.0.0/1"',
    "detection_ids contains 100101",
  ]) {
    t.equal(warnings(source), "", source);
  }
});
