/** The rule that matches the requests of an incident. */
import type { IncidentWhat } from "../contract/incidents/incidents.js";
import type { TrafficDimension } from "../contract/traffic/traffic.js";
import type { Comparison, Expression } from "../rules/ast.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import { fieldOf } from "../rules/fields.js";
import { printExpression } from "../rules/print.js";
import { familyCondition } from "../rules/user-agent-family.js";

/** Segments that a counted path has at most: a longer one is cut behind them. */
const pathSegments = 4;

/**
 * Returns the source of a rule that matches every request with these values, and perhaps a few more. It compiles. `ruleSource` returns the source of a
 * rule by its id, null if it is gone.
 */
export function expressionOf(what: IncidentWhat, ruleSource: (id: number) => string | null): string {
  const parts: string[] = [];
  for (const [dimension, value] of Object.entries(what)) {
    const part = partOf(dimension as TrafficDimension, value, ruleSource);
    if (part !== null && !isRuleFault(compileRule([...parts, part].join(" AND ")))) parts.push(part);
  }
  return parts.length === 0 ? 'band in {"definite", "confident_automated", "likely_automated"}' : parts.join(" AND ");
}

function partOf(dimension: TrafficDimension, value: string, ruleSource: (id: number) => string | null): string | null {
  switch (dimension) {
    case "path":
      return printed(pathCondition(value));
    case "host":
    case "country":
    case "declared_bot":
      return printed(cmp(dimension, "==", value));
    case "ip":
    case "network":
      return printed(cmp("ip", "==", value));
    case "asn":
      return printed(cmp("asn", "==", Number(value)));
    case "user_agent_family":
      return familyPart(value);
    case "verified_bot":
      return "verified_bot";
    case "agent":
      return fieldOf("agent") === undefined ? null : printed(cmp("agent", "==", value));
    case "detection":
      return printed(cmp("detection_ids", "contains", Number(value)));
    case "rule": {
      const source = ruleSource(Number(value));
      return source === null ? null : `(${source})`;
    }
  }
}

function familyPart(family: string): string {
  const condition = familyCondition(family);
  const text = printExpression(condition);
  return condition.type === "or" ? `(${text})` : text;
}

function pathCondition(template: string): Comparison {
  const isCut = template.split("/").length - 1 >= pathSegments;
  if (template.includes("*")) return cmp("path", "wildcard", isCut ? `${template}*` : template);
  return cmp("path", isCut ? "starts_with" : "==", template);
}

function cmp(field: string, op: Comparison["op"], value: string | number): Comparison {
  return { type: "cmp", op, field, value };
}

function printed(expression: Expression): string {
  return printExpression(expression);
}
