/** Source to tree and back, the place and wording of faults, and every bound of the language at its edge. */
import t, { type Test } from "tap";
import { limits } from "../../src/limits.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { parse } from "../../src/rules/parse.js";
import { printExpression } from "../../src/rules/print.js";
import { badSources } from "./bad-sources.js";
import { goodSources } from "./good-sources.js";

t.test("a good source gives its tree, and the tree its printed form", async (t) => {
  for (const { source, ast, printed } of goodSources) {
    const outcome = compileRule(source);
    if (isRuleFault(outcome)) t.fail(`${source}: ${outcome.message}`);
    else {
      t.strictSame(outcome.ast, ast, source);
      t.equal(printExpression(outcome.ast), printed);
      t.strictSame(parse(printed), ast, `again: ${printed}`);
    }
  }
});

t.test("a fault that has a near word says what to put there, and that mends it", async (t) => {
  for (const [source, mended] of [
    ["cleared AND scor < 30", "cleared AND score < 30"],
    ['band in {"definite", "likely_humn"}', 'band in {"definite", "likely_human"}'],
    ['user_agent contain "x"', 'user_agent contains "x"'],
  ] as const) {
    const outcome = compileRule(source);
    if (!isRuleFault(outcome) || outcome.fix === null) {
      t.fail(source);
      continue;
    }
    const { from, to, text } = outcome.fix;
    t.equal(source.slice(0, from) + text + source.slice(to), mended);
    t.notOk(isRuleFault(compileRule(mended)));
  }
  for (const source of ["score <", "colour == 1", "score == one"]) t.match(compileRule(source), { fix: null });
});

t.test("a bad source is refused where it is wrong, saying what was expected and found", async (t) => {
  for (const { source, at, expected, found } of badSources) {
    const outcome = compileRule(source);
    if (!isRuleFault(outcome)) t.fail(`accepted: ${JSON.stringify(source)}`);
    else {
      t.equal(`${outcome.line}:${outcome.column}`, at, `${JSON.stringify(source)}: ${outcome.message}`);
      t.ok(outcome.expected.includes(expected), `${source}: expected ${outcome.expected}`);
      t.ok(outcome.found.includes(found), `${source}: found ${outcome.found}`);
      t.ok(outcome.message.startsWith(`line ${outcome.line}, column ${outcome.column}: expected `));
      t.ok(outcome.message.length < 600, "the message is short");
    }
  }
});

/** Asserts that `source(max)` compiles and `source(max + 1)` is refused for the reason given. */
function edge(t: Test, max: number, source: (size: number) => string, reason: string): void {
  const within = compileRule(source(max));
  t.notOk(isRuleFault(within), `${max} is accepted`);
  const beyond = compileRule(source(max + 1));
  t.ok(isRuleFault(beyond) && beyond.expected.includes(reason), `${max + 1} is refused`);
}

t.test("a source holds at most 2000 characters, an astral one counting once", async (t) => {
  for (const character of ["a", "é", "🤖"]) {
    edge(t, limits.ruleSourceMax, (size) => `path == "${character.repeat(size - 10)}"`, "at most 2000 characters");
  }
  const fault = compileRule(`verified_bot\nAND path == "${"🤖".repeat(2000)}"`);
  t.match(fault, { line: 2, column: 1988 }, "the first character too many is the place");
});

t.test("parentheses and NOT nest 32 deep, together", async (t) => {
  const reason = "at most 32 levels";
  edge(t, limits.ruleDepthMax, (size) => `${"(".repeat(size)}verified_bot${")".repeat(size)}`, reason);
  edge(t, limits.ruleDepthMax, (size) => `${"NOT ".repeat(size)}verified_bot`, reason);
  edge(
    t,
    limits.ruleDepthMax,
    (size) => `${"(".repeat(size - 16)}${"NOT ".repeat(16)}verified_bot${")".repeat(size - 16)}`,
    reason,
  );
  const fault = compileRule("(".repeat(1999));
  t.match(fault, { line: 1, column: 33 }, "the parenthesis too many is the place");
});

t.test("what stands side by side does not add up in depth", async (t) => {
  t.notOk(isRuleFault(compileRule(Array(40).fill("(NOT verified_bot)").join(" AND "))));
});

t.test("a tree holds at most 128 nodes: comparisons, connectives and NOTs", async (t) => {
  const reason = "at most 128 comparisons";
  // `n - 1` comparisons and the chain.
  edge(
    t,
    limits.ruleNodesMax,
    (size) =>
      Array(size - 1)
        .fill("score<9")
        .join(" AND "),
    reason,
  );
  // Pairs of a NOT and a comparison, and the chain: an odd number, so the edge is 127.
  t.notOk(isRuleFault(compileRule(Array(63).fill("NOT score<9").join(" OR "))), "127 nodes are accepted");
  const fault = compileRule(Array(64).fill("NOT score<9").join(" OR "));
  t.ok(isRuleFault(fault) && fault.expected.includes(reason), "129 nodes are refused");
});

t.test("a set holds at most 256 members", async (t) => {
  edge(t, limits.ruleSetMax, (size) => `score in {${Array(size).fill("1").join(",")}}`, "at most 256 members");
});

t.test("minus zero is zero, in the tree as in its printed form", async (t) => {
  const outcome = compileRule("score == -0");
  t.ok(!isRuleFault(outcome) && outcome.ast.type === "cmp" && Object.is(outcome.ast.value, 0));
});

t.test("sources of 2000 characters made to be slow are answered", async (t) => {
  for (const piece of [
    "(",
    "NOT ",
    "NOT(",
    "((score<1)OR",
    "{",
    "{1,",
    '"',
    '\\"',
    "score<1 AND ",
    "a",
    "-",
    "9",
    "\n",
    "🤖",
  ]) {
    const source = piece.repeat(Math.floor(2000 / [...piece].length));
    t.ok(isRuleFault(compileRule(source)), piece);
  }
});
