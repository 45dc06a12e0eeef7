/** Conditions as chips, what may come next in an expression, and files for spreadsheets. */
import t from "tap";
import { completionsAt } from "../../src/console/completion.js";
import { csvOf } from "../../src/console/csv.js";
import {
  conditionsOf,
  doubtsOf,
  equalTo,
  nameOfCondition,
  negated,
  searchFieldsOf,
  withCondition,
  withToggled,
} from "../../src/console/expression.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";

t.test("a condition is added, and taken away by adding it again", async (t) => {
  const path = equalTo("path", '/say "hi"\\');
  t.equal(withToggled("", path), path);
  t.equal(withToggled(path, path), "");
  t.equal(withToggled("score < 30", "js_detected"), "score < 30 AND js_detected");
  t.equal(withToggled("score < 30 OR cleared", "js_detected"), "(score < 30 OR cleared) AND js_detected");
  t.equal(withToggled("cleared AND score<30", "score < 30"), "cleared", "however it was written");
  const family = 'user_agent starts_with "Mozilla/" AND user_agent contains "Edg"';
  const joined = withToggled("cleared", family);
  t.same(conditionsOf(joined), ["cleared", family], "a condition of several parts is one chip");
  t.equal(withToggled(joined, family), "cleared");
  t.equal(withToggled(withToggled(family, "cleared"), family), "cleared", "also where it was all");
  t.equal(nameOfCondition(family), "User agent: Edge");
  t.equal(nameOfCondition(negated(family)), "User agent: not Edge");
  t.equal(nameOfCondition("cleared"), null);
  t.equal(withToggled("score <", "cleared"), "score <", "what has a fault stays as it is");
  t.equal(conditionsOf("score <"), null);
  t.same(conditionsOf("  "), []);
  t.equal(negated("cleared"), "NOT cleared");
  t.equal(negated("NOT cleared"), "cleared");
  t.equal(negated(family), `NOT (${family})`);
  for (const text of [path, joined, negated(family)]) t.notOk(isRuleFault(compileRule(text)), text);
});

t.test("fields of searches alone, and values that no field has, are told", async (t) => {
  t.same(searchFieldsOf('action == "block" AND NOT (rule_id == 3 OR cleared)'), ["action", "rule_id"]);
  t.same(searchFieldsOf("cleared"), []);
  t.same(searchFieldsOf("action =="), []);
  t.equal(withCondition("cleared", "cleared"), "cleared");
  t.equal(withCondition("cleared", "js_detected"), "cleared AND js_detected");
  t.same(doubtsOf('path contains "?" OR score < 150'), [
    "The expression always matches.",
    'path contains "?" never matches: a path has no query and no fragment.',
    "score < 150 always matches: score is 0 to 99.",
  ]);
  t.same(doubtsOf('path == "/x" AND declared_bot_category == "library" AND band == "definite"'), []);
});

t.test("what may come next follows from what stands before", async (t) => {
  const offered = (source: string, isAsked = false) =>
    completionsAt(source, source.length, isAsked).options.map(({ text }) => text);
  t.same(offered("ver"), ["verified_bot", "verified_bot_category"]);
  t.same(offered("act"), []);
  t.match(completionsAt("act", 3, false, "search"), { options: [{ text: "action" }] });
  t.same(offered('signature == "un'), ['"unverified"']);
  t.same(offered("score < 30 AND hos"), ["host"]);
  t.same(offered("path st"), ["starts_with"]);
  t.same(offered('band == "l'), ['"likely_automated"', '"likely_human"']);
  t.same(offered('band in {"definite", "v'), ['"verified"']);
  t.same(offered("cleared "), [], "nothing is offered before something is written, unless asked");
  t.same(offered("score < 30 ", true), ["AND", "OR"]);
  t.same(offered("cleared a"), ["AND"]);
  t.same(offered("cleared == t"), ["true"]);
  t.same(offered("score < 3"), []);
  t.same(offered('path == "/a'), []);
  t.same(offered("score $ a"), [], "nothing after a fault");
  t.same(offered("score"), [], "nothing for what is complete");
  const source = "NOT ver AND score < 30";
  t.match(completionsAt(source, 7, false), { from: 4, to: 7, options: [{ text: "verified_bot" }, {}] });
});

t.test("cells are quoted where they must be, and formulas stay text", async (t) => {
  const rows = [{ a: 'say "hi", you', b: "=1+1", c: [1, 2], d: null, e: -5 }];
  t.equal(csvOf(["a", "b", "c", "d", "e"], rows), `a,b,c,d,e\r\n"say ""hi"", you",'=1+1,1 2,,-5\r\n`);
  t.equal(csvOf(["a"], [{ a: "x;=1+1" }, { a: "/a;x=1" }]), `a\r\n"x;'=1+1"\r\n"/a;x=1"\r\n`);
});
