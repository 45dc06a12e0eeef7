/** What rules mean: one claim a table, each row an expression, the facts that differ from the usual ones, and the answer. */
import t from "tap";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { fields } from "../../src/rules/fields.js";
import { type RuleFacts, RuleInput } from "../../src/rules/input.js";

const usual: RuleFacts = {
  score: 12,
  band: "confident_automated",
  verifiedBot: false,
  path: "/Login/step",
  method: "POST",
  host: "shop.example",
  userAgent: "Mozilla/5.0 HeadlessChrome",
  ip: "203.0.113.7",
  staticResource: false,
  detectionIds: [100101, 200201],
  jsDetected: true,
  heuristicsScore: 12,
  behavioralScore: null,
  eventCount: 40,
  sessionAgeSeconds: 90,
  likelyBotThreshold: 30,
};

function ask(source: string, facts: Partial<RuleFacts> = {}): boolean {
  const rule = compileRule(source);
  if (isRuleFault(rule)) throw new Error(`${source}: ${rule.message}`);
  return rule.matches(new RuleInput({ ...usual, ...facts }));
}

type Row = readonly [source: string, answer: boolean, facts?: Partial<RuleFacts>];

function claim(name: string, rows: readonly Row[]): void {
  t.test(name, async (t) => {
    for (const [source, answer, facts] of rows) {
      t.equal(ask(source, facts), answer, `${source} ${JSON.stringify(facts ?? {})}`);
    }
  });
}

claim("a path is one path, however the rule and the visitor spell it", [
  ...['"/café"', '"/caf%C3%A9"', '"/caf%c3%a9"', '"/x/../caf%C3%A9"', '"//café"'].flatMap((literal): Row[] => [
    [`path == ${literal}`, true, { path: "/café" }],
    [`path == ${literal}`, true, { path: "/caf%c3%a9" }],
    [`path != ${literal}`, false, { path: "/caf%c3%a9" }],
    [`path in {"/x", ${literal}}`, true, { path: "/café" }],
  ]),
  ['path starts_with "/caf%C3%A9"', true, { path: "/café/x" }],
  ['path ends_with "%C3%A9"', true, { path: "/café" }],
  ['path contains "f%c3%a9/"', true, { path: "/café/x" }],
  ['path contains "%40"', true, { path: "/@me" }],
  ['path wildcard "/*f%C3%A9"', true, { path: "/café" }],
  ['path wildcard "/caf?"', true, { path: "/caf%C3%A9" }],
  ['path wildcard "/a%2Ab"', true, { path: "/a*b" }],
  ['path wildcard "/a%2ab"', false, { path: "/axb" }],
  ['path contains "%2f"', true, { path: "/a%2Fb" }],
  ['path contains "//"', false, { path: "/a" }],
  ['path starts_with "//"', false, { path: "/a" }],
  ['path contains "\\\\"', false, { path: "/a" }],
  ['path == "/a?b"', false, { path: "/a" }],
  ['path == "checkout"', false, { path: "/checkout" }],
]);

claim("a host is one host, however the rule and the visitor spell it", [
  ...['"shop.example"', '"SHOP.example."', '"shop.example:8443"', '"shop.example.:443"'].flatMap((literal): Row[] => [
    [`host == ${literal}`, true],
    [`host == ${literal}`, true, { host: "Shop.Example.:8080" }],
    [`host != ${literal}`, false, { host: "shop.example." }],
    [`host in {${literal}}`, true, { host: "shop.example:80" }],
    [`host ends_with ${literal}`, true, { host: "shop.example:80" }],
    [`host wildcard ${literal}`, true, { host: "shop.example:80" }],
  ]),
  ['host == "müller.example"', true, { host: "xn--mller-kva.example" }],
  ['host == "xn--mller-kva.example"', true, { host: "MÜLLER.example" }],
  ['host wildcard "*.müller.example"', true, { host: "www.xn--mller-kva.example" }],
  ['host ends_with ".MÜLLER.example"', true, { host: "www.xn--mller-kva.example" }],
  ['host == "[::1]"', true, { host: "[::1]:8080" }],
  ['host ends_with ":8080"', false],
  ['host ends_with "."', false],
  ['host wildcard "*."', false],
  ['host wildcard "*:443"', false],
]);

claim("every field reads its own fact", [
  ["score == 12", true],
  ['band == "confident_automated"', true],
  ["verified_bot", true, { verifiedBot: true }],
  ['verified_bot_category == "seo"', true, { verifiedBotCategory: "seo" }],
  ['path == "/Login/step"', true],
  ['method == "POST"', true],
  ['host == "shop.example"', true],
  ['user_agent contains "Headless"', true],
  ['ip == "203.0.113.7"', true],
  ["static_resource", true, { staticResource: true }],
  ["detection_ids contains 200201", true],
  ["detection_ids contains 200202", false],
  ["js_detected", true],
  ["heuristics_score == 12", true],
  ["behavioral_score == 7", true, { behavioralScore: 7 }],
  ["event_count == 40", true],
  ["session_age == 90", true],
  ["likely_bot_threshold == 30", true],
  ["cleared", false],
  ["cleared", true, { isCleared: () => true }],
]);

claim("integers compare at their edges", [
  ["score < 12", false],
  ["score < 13", true],
  ["score <= 12", true],
  ["score <= 11", false],
  ["score > 12", false],
  ["score > 11", true],
  ["score >= 12", true],
  ["score >= 13", false],
  ["score != 12", false],
  ["score != 13", true],
  ["score in {1, 12}", true],
  ["score in {1, 2}", false],
  ["score > -1", true],
]);

claim("text compares with its case, host and method without", [
  ['path == "/login/step"', false],
  ['path contains "login"', false],
  ['path contains "Login"', true],
  ['path starts_with "/Login"', true],
  ['path starts_with "Login"', false],
  ['path ends_with "step"', true],
  ['path ends_with "/Login"', false],
  ['path contains ""', true],
  ['path in {"/a", "/Login/step"}', true],
  ['host == "SHOP.Example"', true, { host: "Shop.EXAMPLE" }],
  ['host ends_with ".EXAMPLE"', true],
  ['host in {"SHOP.example"}', true],
  ['host != "SHOP.example"', false],
  ['method == "post"', true],
  ['method in {"get", "post"}', true, { method: "Post" }],
]);

claim("wildcard is a glob over the whole value and ignores the case of ASCII letters", [
  ['path wildcard "/login*"', true],
  ['path wildcard "/login"', false],
  ['path wildcard "*"', true],
  ['path wildcard "**STEP"', true],
  ['path wildcard "/?????/*"', true],
  ['path wildcard "/????/*"', false],
  ['path wildcard ""', false],
  ['path wildcard "*.p?p"', true, { path: "/x/index.php" }],
  ['path wildcard "*.p?p"', false, { path: "/x/index.pp" }],
  ['path wildcard "/?"', true, { path: "/🤖" }],
  ['path wildcard "/??"', false, { path: "/🤖" }],
  ['path wildcard "/[a-z]+(.*)$"', false, { path: "/abc" }],
  ['path wildcard "/[a-z]+(.*)$"', true, { path: "/[a-z]+(.zzz)$" }],
]);

claim("a range holds its addresses, whatever the notation, and none of the other family", [
  ['ip == "203.0.113.0/24"', true],
  ['ip == "203.0.113.99/24"', true],
  ['ip == "203.0.113.8/29"', false],
  ['ip == "203.0.113.0/29"', true],
  ['ip == "203.0.112.0/24"', false],
  ['ip != "203.0.113.0/24"', false],
  ['ip != "203.0.112.0/24"', true],
  ['ip == "0.0.0.0/0"', true],
  ['ip == "::/0"', false],
  ['ip == "0.0.0.0/0"', false, { ip: "2001:db8::1" }],
  ['ip == "::/0"', true, { ip: "2001:db8::1" }],
  ['ip == "2001:DB8:0:0::/32"', true, { ip: "2001:db8:0:ffff::1" }],
  ['ip == "2001:db8::/33"', false, { ip: "2001:db8:8000::1" }],
  ['ip == "2001:db8::1"', true, { ip: "2001:0db8:0000:0000:0000:0000:0000:0001" }],
  ['ip == "203.0.113.7"', true, { ip: "::ffff:203.0.113.7" }],
  ['ip == "203.0.113.7"', true, { ip: "::FFFF:cb00:7107" }],
  ['ip == "::ffff:203.0.113.7"', true],
  ['ip == "::ffff:203.0.113.0/120"', true],
  ['ip == "::ffff:203.0.112.0/120"', false],
  ['ip == "::ffff:0:0/96"', true],
  ['ip in {"10.0.0.0/8", "203.0.113.7", "::1"}', true],
  ['ip in {"10.0.0.0/8", "203.0.113.8", "::1"}', false],
  ['ip in {"203.0.113.0/24", "203.0.113.8/32", "0.0.0.0/1"}', true],
  ['ip in {"0.0.0.0/0", "::/0"}', true, { ip: "::1" }],
  ['ip == "255.255.255.255"', true, { ip: "255.255.255.255" }],
]);

claim("NOT binds tighter than AND, AND tighter than OR", [
  ["js_detected OR verified_bot AND verified_bot", true],
  ["(js_detected OR verified_bot) AND verified_bot", false],
  ["NOT verified_bot AND js_detected", true],
  ["NOT (verified_bot AND js_detected)", true],
  ["NOT js_detected OR js_detected", true],
  ["NOT (js_detected OR js_detected)", false],
  ["NOT NOT js_detected", true],
  ["NOT score < 10", true],
]);

const nothing: Partial<RuleFacts> = {
  verifiedBotCategory: undefined,
  path: undefined,
  method: undefined,
  host: undefined,
  userAgent: undefined,
  ip: undefined,
  staticResource: undefined,
  heuristicsScore: null,
  behavioralScore: undefined,
};

claim("a missing value makes every comparison false, != too, and so its NOT true", [
  ["behavioral_score < 50", false, nothing],
  ["behavioral_score >= 0", false, nothing],
  ["behavioral_score != 50", false, nothing],
  ["NOT behavioral_score < 50", true, nothing],
  ["NOT behavioral_score != 50", true, nothing],
  ["heuristics_score == 0", false, nothing],
  ['path != "/a"', false, nothing],
  ['path contains ""', false, nothing],
  ['path wildcard "*"', false, nothing],
  ['path in {"", "undefined"}', false, nothing],
  ['method != "GET"', false, nothing],
  ['host != "a"', false, nothing],
  ['user_agent != "a"', false, nothing],
  ['ip != "10.0.0.0/8"', false, nothing],
  ['ip in {"0.0.0.0/0", "::/0"}', false, nothing],
  ["static_resource", false, nothing],
  ["static_resource == false", false, nothing],
  ["static_resource != true", false, nothing],
  ['verified_bot_category != "seo"', false, nothing],
]);

claim("an empty value of the request context, or an address that is none, is missing", [
  ['path == ""', false, { path: "" }],
  ['method != "GET"', false, { method: "" }],
  ['host != "a"', false, { host: "" }],
  ['user_agent == ""', false, { userAgent: "" }],
  ['ip != "10.0.0.0/8"', false, { ip: "" }],
  ['ip != "10.0.0.0/8"', false, { ip: "1.2.3.4:80" }],
  ['ip != "10.0.0.0/8"', false, { ip: "300.1.1.1" }],
  ['ip != "10.0.0.0/8"', false, { ip: `${":".repeat(5000)}1` }],
]);

claim("not_computed is accepted and never matches", [
  ['band == "not_computed"', false, { band: "not_computed", score: 0 }],
  ['band == "not_computed"', false],
  ['band in {"not_computed"}', false, { band: "not_computed", score: 0 }],
]);

t.test("no field tells of the logged-in assertion", async (t) => {
  t.notOk(fields.some((field) => /log|login|assert/.test(field.name)));
});

t.test("globs made to be slow are answered", async (t) => {
  const text = "a".repeat(5000);
  for (const [pattern, answer] of [
    ["*a".repeat(900), true],
    [`${"*a".repeat(900)}b`, false],
    [`${"a*".repeat(900)}*?b`, false],
    [`*${"a".repeat(1900)}b`, false],
    [`${"*?".repeat(900)}*`, true],
    ["*".repeat(1900), true],
    ["?".repeat(1900), false],
  ] as const) {
    t.equal(ask(`path wildcard "${pattern}"`, { path: text }), answer, pattern.slice(0, 8));
  }
});

t.test("a set of many ranges finds its first, last and middle member and misses between", async (t) => {
  const ranges = Array.from({ length: 80 }, (_, index) => `"10.${index}.0.0/17"`).reverse();
  const source = `ip in {${ranges.join(",")}}`;
  for (const index of [0, 1, 40, 79]) {
    t.ok(ask(source, { ip: `10.${index}.0.0` }));
    t.ok(ask(source, { ip: `10.${index}.127.255` }));
    t.notOk(ask(source, { ip: `10.${index}.128.0` }));
  }
  t.notOk(ask(source, { ip: "9.255.255.255" }));
  t.notOk(ask(source, { ip: "10.80.0.0" }));
});
