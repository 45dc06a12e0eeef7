/** What must hold for every tree, input and text; a failure prints the seed and the smallest counterexample. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import { limits } from "../../src/limits.js";
import { compile } from "../../src/rules/compile.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { compileGlob } from "../../src/rules/glob.js";
import { RuleInput } from "../../src/rules/input.js";
import { parse } from "../../src/rules/parse.js";
import { printExpression } from "../../src/rules/print.js";
import { anyCharacter, holds } from "../support/property.js";
import { comparison, damaged, expression, facts, tokenSoup } from "./arbitraries.js";
import { interpret, naiveGlob } from "./interpreter.js";

t.test("parsing what was printed gives the same tree, and JSON keeps it", async (t) => {
  holds(
    t,
    fc.property(expression, (tree) => {
      const again = parse(printExpression(tree));
      if (isRuleFault(again)) return again.expected.startsWith("at most");
      const isKept = isDeepStrictEqual(again, tree) && isDeepStrictEqual(JSON.parse(JSON.stringify(again)), tree);
      return isKept && printExpression(again) === printExpression(tree);
    }),
    { numRuns: 500 },
  );
});

t.test("the compiled predicate agrees with the naive interpreter", async (t) => {
  const seen = new Set<boolean>();
  const agrees = (tree: Parameters<typeof interpret>[0], each: Parameters<typeof interpret>[1]): boolean => {
    const answer = compile(tree)(new RuleInput(each));
    seen.add(answer);
    return answer === interpret(tree, each);
  };
  holds(t, fc.property(comparison, facts, agrees), { numRuns: 6000 });
  holds(t, fc.property(expression, facts, agrees), { numRuns: 2000 });
  t.equal(seen.size, 2, "both answers were seen");
});

t.test("asking twice, or one rule after another, changes no answer", async (t) => {
  holds(
    t,
    fc.property(fc.array(expression, { minLength: 2, maxLength: 4 }), facts, (trees, each) => {
      const shared = new RuleInput(each);
      const predicates = trees.map(compile);
      const first = predicates.map((matches) => matches(shared));
      const second = predicates.map((matches) => matches(shared));
      return first.every((answer, index) => answer === second[index] && answer === interpret(trees[index]!, each));
    }),
    { numRuns: 500 },
  );
});

/** Whether the text compiles, or is refused at a place that exists in it. */
function answered(source: string, each: Parameters<typeof interpret>[1]): boolean {
  const outcome = compileRule(source);
  if (!isRuleFault(outcome)) {
    outcome.matches(new RuleInput(each));
    return true;
  }
  const line = source.split(/\r\n|\r|\n/)[outcome.line - 1];
  return line !== undefined && outcome.column >= 1 && outcome.column <= [...line].length + 1;
}

t.test("any text compiles or is refused at a place inside it, and never throws", async (t) => {
  const anything = fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: anyCharacter, maxLength: 100 }) },
    // Beyond the longest source: making one takes a hundred times as long as reading it.
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 2100 }) },
    { weight: 4, arbitrary: fc.array(fc.nat(0xffff), { maxLength: 50 }).map((codes) => String.fromCharCode(...codes)) },
  );
  holds(t, fc.property(anything, facts, answered), { numRuns: 1000 });
  holds(t, fc.property(tokenSoup, facts, answered), { numRuns: 5000 });
});

t.test("a damaged source compiles or is refused, and never throws", async (t) => {
  const outcomes = new Set<boolean>();
  holds(
    t,
    fc.property(damaged(expression.map(printExpression)), facts, (source, each) => {
      outcomes.add(isRuleFault(compileRule(source)));
      return answered(source, each);
    }),
    { numRuns: 3000 },
  );
  t.equal(outcomes.size, 2, "both outcomes were seen");
});

t.test("a compiled rule is within every bound, so what is stored can be compiled again", async (t) => {
  holds(
    t,
    fc.property(fc.oneof(tokenSoup, damaged(expression.map(printExpression))), (source) => {
      const outcome = compileRule(source);
      if (isRuleFault(outcome)) return true;
      const again = parse(printExpression(outcome.ast));
      return [...source].length <= limits.ruleSourceMax && !isRuleFault(again);
    }),
    { numRuns: 3000 },
  );
});

t.test("a glob agrees with the table that tries everything", async (t) => {
  const few = (maxLength: number): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom("a", "A", "b", "*", "?", "🤖", "é", "É"), { maxLength }).map((parts) => parts.join(""));
  holds(
    t,
    fc.property(few(8), few(12), (pattern, text) => compileGlob(pattern).matches(text) === naiveGlob(pattern, text)),
    { numRuns: 20_000 },
  );
});
