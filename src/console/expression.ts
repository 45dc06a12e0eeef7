/** Expressions as chips: the conditions that an expression joins by AND, one added or taken away. Pure. */
import type { Expression } from "../rules/ast.js";
import { isRuleFault, type RuleFix } from "../rules/fault.js";
import { comparedFields, type ExpressionUse, isSearchField, rereadFields } from "../rules/fields.js";
import { parse } from "../rules/parse.js";
import { printExpression } from "../rules/print.js";
import { familyCondition, userAgentFamilies, userAgentFamily } from "../rules/user-agent-family.js";
import { warningsOf } from "../rules/warnings.js";

/** The conditions that all have to hold, as texts; null for an expression with a fault. Of an empty one there are none. */
export function conditionsOf(source: string): readonly string[] | null {
  const nodes = nodesOf(source);
  return nodes === null ? null : nodes.map(printExpression);
}

/** With this condition as well, or without it if it is there; as it is while it has a fault. */
export function withToggled(source: string, condition: string): string {
  const nodes = nodesOf(source);
  const more = nodesOf(condition);
  if (nodes === null || more === null) return source;
  const one = joined(more)!;
  const text = printExpression(one);
  const rest = nodes.filter((node) => printExpression(node) !== text);
  const all = joined(rest.length === nodes.length ? [...nodes, one] : rest);
  return all === null ? "" : printExpression(all);
}

/** What a long condition is called, such as that of a browser's family; null where it speaks for itself. */
export function nameOfCondition(condition: string): string | null {
  const family = families.get(condition);
  if (family !== undefined) return `User agent: ${family}`;
  const other = condition.startsWith("NOT ") ? families.get(negated(condition)) : undefined;
  return other === undefined ? null : `User agent: not ${other}`;
}

/** Names of browsers' families by their conditions. */
const families: ReadonlyMap<string, string> = new Map(
  userAgentFamilies.map((name) => [printExpression(familyCondition(name)), name]),
);

/** What selects the user agents of a family, as `familyOf` names it. */
export function familyConditionOf(family: string): string {
  return printExpression(familyCondition(family));
}

/** The family that a user agent is of. */
export function familyOf(userAgent: string): string {
  return userAgentFamily(userAgent);
}

/** With this condition as well, also where it is there already; as it is while it has a fault. */
export function withCondition(source: string, condition: string): string {
  return conditionsOf(source)?.includes(condition) === true ? source : withToggled(source, condition);
}

/** What holds where the condition does not. */
export function negated(condition: string): string {
  const node = joined(nodesOf(condition) ?? []);
  if (node === null) return condition;
  return printExpression(node.type === "not" ? node.node : { type: "not", node });
}

/** The condition that a field has this value. */
export function equalTo(field: string, value: string | number): string {
  return printExpression({ type: "cmp", op: "==", field, value });
}

/** Fields that only searches have, which no rule can ask. Of an expression with a fault there are none. */
export function searchFieldsOf(source: string): readonly string[] {
  const one = joined(nodesOf(source) ?? []);
  return one === null ? [] : comparedFields(one).filter(isSearchField);
}

/** Fields that a verdict has only where requests are judged, although stored sessions show them. Of an expression with a fault there are none. */
export function judgedFieldsOf(source: string): readonly string[] {
  const one = joined(nodesOf(source) ?? []);
  return one === null ? [] : rereadFields(one);
}

/** What was probably meant where the first fault is; null where nothing is near, or nothing is wrong. */
export function fixOf(source: string, use: ExpressionUse): RuleFix | null {
  const tree = parse(source, use);
  return isRuleFault(tree) ? tree.fix : null;
}

/** What of a valid expression never, or always, matches, a sentence each. */
export function doubtsOf(source: string): readonly string[] {
  const tree = joined(nodesOf(source) ?? []);
  return tree === null ? [] : warningsOf(tree);
}

function nodesOf(source: string): readonly Expression[] | null {
  if (source.trim() === "") return [];
  const tree = parse(source, "search");
  if (isRuleFault(tree)) return null;
  return tree.type === "and" && !families.has(printExpression(tree)) ? tree.nodes : [tree];
}

function joined(nodes: readonly Expression[]): Expression | null {
  if (nodes.length < 2) return nodes[0] ?? null;
  return { type: "and", nodes };
}
