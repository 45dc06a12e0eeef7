/** The whole pipeline from source to predicate, for saving, testing and loading a rule. Reads no store, clock or configuration. */
import { limits } from "../limits.js";
import type { Expression } from "./ast.js";
import { compile, type Predicate } from "./compile.js";
import { isRuleFault, RuleFault } from "./fault.js";
import type { ExpressionUse } from "./fields.js";
import { parse } from "./parse.js";

/** A valid expression: its form for the API, and its predicate. */
export interface CompiledRule {
  /** The API's `expression`. */
  readonly ast: Expression;
  readonly matches: Predicate;
}

/**
 * Returns the offset just after the longest source allowed, or undefined for a source that fits. Characters are code points, as clients count them.
 */
function offsetBeyondMax(source: string): number | undefined {
  if (source.length <= limits.ruleSourceMax) return undefined;
  let characters = 0;
  let offset = 0;
  for (const character of source) {
    if (characters++ === limits.ruleSourceMax) return offset;
    offset += character.length;
  }
  return undefined;
}

/** Compiles one expression of at most 2000 characters, or returns its fault with the position; a search has more fields. Never throws. */
export function compileRule(source: string, use: ExpressionUse = "rule"): CompiledRule | RuleFault {
  const beyond = offsetBeyondMax(source);
  if (beyond !== undefined) {
    return new RuleFault(source, beyond, `at most ${limits.ruleSourceMax} characters`, "more");
  }
  const ast = parse(source, use);
  return isRuleFault(ast) ? ast : { ast, matches: compile(ast) };
}
