/** Which expressions mention a literal of a field. */
import t from "tap";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { hasLiteral } from "../../src/rules/literals.js";

function asks(expression: string): boolean {
  const compiled = compileRule(expression);
  if (isRuleFault(compiled)) throw new Error(compiled.message);
  return hasLiteral(compiled.ast, "method", "OPTIONS");
}

t.test("a literal of a field is found wherever it stands, and no other", async (t) => {
  const naming = [
    'method == "OPTIONS"',
    'method != "options"',
    'method in {"GET", "Options"}',
    'NOT (path == "/" OR (score < 30 AND NOT method == "OPTIONS"))',
  ];
  for (const expression of naming) t.ok(asks(expression), expression);
  for (const expression of [
    'method == "GET"',
    'path == "OPTIONS"',
    'method in {"GET"} AND host == "OPTIONS"',
    "score < 30",
  ]) {
    t.notOk(asks(expression), expression);
  }
});
