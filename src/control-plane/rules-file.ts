/** Applies a file of rules to a project with as few changes as possible: applying the same file twice changes nothing. */

import type { FiledRule, RulesFile } from "../contract/rules-file.js";
import { type Refusal, refuse } from "../errors.js";
import type { NewRule, RuleChange } from "./rule-changes.js";
import type { Rules } from "./rules.js";

/** The rules of a project in the order of evaluation. */
export function exportRules(rules: Rules, projectId: number): RulesFile {
  return {
    rules: rules.list(projectId).map(({ name, expressionSource, action, isActive }) => ({
      name,
      expression: expressionSource,
      action,
      is_active: isActive,
    })),
  };
}

/** Gaps between sort orders, so that a rule inserted by hand keeps its position until the next apply. */
const sortOrderStep = 10;

/**
 * Rules are told apart by name; their order in the file is their order of evaluation. Everything is checked before anything is
 * changed: a refused file leaves the project as it was, and so does a dry run.
 */
export async function applyRules(
  rules: Rules,
  projectId: number,
  file: RulesFile,
  isDryRun = false,
): Promise<RuleChange[] | Refusal> {
  const names = new Set<string>();
  for (const { name, expression } of file.rules) {
    if (names.has(name)) return refuse("invalidPayload", `two rules are called "${name}"`);
    names.add(name);
    const fault = rules.fault(expression);
    if (fault !== null) return refuse("invalidPayload", `rule "${name}": ${fault.message}`);
  }
  return rules.applyAll(projectId, file.rules.map(newRule), isDryRun);
}

function newRule({ name, expression, action, is_active }: FiledRule, index: number): NewRule {
  return {
    name,
    expressionSource: expression,
    action,
    isActive: is_active ?? true,
    sortOrder: (index + 1) * sortOrderStep,
  };
}
