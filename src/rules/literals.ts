/** What an expression mentions, without evaluating it. */
import type { Comparison, Expression } from "./ast.js";

/** Whether one of its comparisons holds this text against this field, in any case of letters, alone or in a set. */
export function hasLiteral(expression: Expression, field: string, text: string): boolean {
  switch (expression.type) {
    case "cmp":
      return expression.field === field && isAmong(expression.value, text.toLowerCase());
    case "not":
      return hasLiteral(expression.node, field, text);
    default:
      return expression.nodes.some((node) => hasLiteral(node, field, text));
  }
}

function isAmong(value: Comparison["value"], folded: string): boolean {
  const literals = Array.isArray(value) ? value : [value];
  return literals.some((literal) => typeof literal === "string" && literal.toLowerCase() === folded);
}
