/** Finds comparisons of `agent` with names that nobody has: only the lists in force know, so `warnings.ts` can't say it. Pure. */
import type { Comparison, Expression } from "./ast.js";
import { compileGlob } from "./glob.js";
import { printExpression } from "./print.js";

/** Returns a sentence for each comparison of `agent` that meets none of `names`, which are spelled as agents are reported. */
export function agentNameWarnings(expression: Expression, names: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  collect(expression, names, found);
  return [...found];
}

function collect(node: Expression, names: ReadonlySet<string>, found: Set<string>): void {
  if (node.type === "not") collect(node.node, names, found);
  else if (node.type !== "cmp") for (const each of node.nodes) collect(each, names, found);
  else if (node.field === "agent") {
    for (const value of [node.value].flat()) {
      const warning = value === "" ? null : warningOf(node, String(value), names);
      if (warning !== null) found.add(warning);
    }
  }
}

function warningOf({ op, field }: Comparison, value: string, names: ReadonlySet<string>): string | null {
  if ((op === "==" || op === "!=" || op === "in") && names.has(value)) return null;
  const asked = testOf(op, value);
  const asLower = testOf(op, value.toLowerCase());
  let otherCase: string | undefined;
  for (const name of names) {
    if (asked(name)) return null;
    if (otherCase === undefined && asLower(name.toLowerCase())) otherCase = name;
  }
  const text = printExpression({ type: "cmp", op: op === "in" ? "==" : op, field, value });
  if (otherCase !== undefined)
    return `${text} is in another case than ${JSON.stringify(otherCase)}, and never meets it.`;
  return `${text} names nobody in the lists of agents and bots: only an unlisted bot can call itself so in its user agent.`;
}

function testOf(op: Comparison["op"], value: string): (name: string) => boolean {
  switch (op) {
    case "contains":
      return (name) => name.includes(value);
    case "starts_with":
      return (name) => name.startsWith(value);
    case "ends_with":
      return (name) => name.endsWith(value);
    case "wildcard":
      return compileGlob(value).matches;
    default:
      return (name) => name === value;
  }
}
