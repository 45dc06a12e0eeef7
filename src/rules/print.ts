/**
 * Turns a tree into source, the inverse of `parse`: parse(print(tree)) is the same tree, with the fewest parentheses that keep it so. Its spaces may
 * make the text longer than the source was, so the bound on a source's length does not apply to it.
 */
import type { Comparison, Expression, Literal } from "./ast.js";
import { fieldOf } from "./fields.js";

function printLiteral(value: Literal): string {
  if (typeof value !== "string") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function printComparison({ op, field, value }: Comparison): string {
  if (op === "==" && value === true && fieldOf(field)?.type === "boolean") return field;
  const right = Array.isArray(value) ? `{${value.map(printLiteral).join(", ")}}` : printLiteral(value as Literal);
  return `${field} ${op} ${right}`;
}

function printOperand(node: Expression, bare: boolean): string {
  return bare ? printExpression(node) : `(${printExpression(node)})`;
}

/** The expression's text in one line, keywords in upper case. */
export function printExpression(expression: Expression): string {
  switch (expression.type) {
    case "cmp":
      return printComparison(expression);
    case "not":
      return `NOT ${printOperand(expression.node, expression.node.type === "cmp" || expression.node.type === "not")}`;
    case "and":
      return expression.nodes
        .map((node) => printOperand(node, node.type === "cmp" || node.type === "not"))
        .join(" AND ");
    case "or":
      return expression.nodes.map((node) => printOperand(node, node.type !== "or")).join(" OR ");
  }
}
