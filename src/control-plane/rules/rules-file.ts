/** Applies a file of rules to a project with as few changes as possible: applying the same file twice changes nothing. */

import type { FiledRule, RulesFile } from "../../contract/configuration/rules-file.js";
import { isoTimeText } from "../../contract/values/iso-time.js";
import { type Refusal, refuse } from "../../errors.js";
import type { NewRule, RuleChange } from "./rule-changes.js";
import type { Rules } from "./rules.js";

/** The rules of a project in the order of evaluation. */
export function exportRules(rules: Rules, projectId: number): RulesFile {
  return {
    rules: rules.list(projectId).map(({ name, expressionSource, action, isActive, expiresAt }) => ({
      name,
      expression: expressionSource,
      action,
      is_active: isActive,
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
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
  const wanted: NewRule[] = [];
  for (const [index, filed] of file.rules.entries()) {
    const { name, expression } = filed;
    if (names.has(name)) return refuse("invalidPayload", `two rules are called "${name}"`);
    names.add(name);
    const fault = rules.fault(expression);
    if (fault !== null) return refuse("invalidPayload", `rule "${name}": ${fault.message}`);
    const rule = newRule(filed, index);
    if (rule === null) return refuse("invalidPayload", `rule "${name}": expires_at must be an ISO 8601 time`);
    wanted.push(rule);
  }
  return rules.applyAll(projectId, wanted, isDryRun);
}

/** Null where `expires_at` is no time. */
function newRule({ name, expression, action, is_active, expires_at }: FiledRule, index: number): NewRule | null {
  const expiresAt = expires_at === undefined ? undefined : isoTimeText(expires_at);
  if (expiresAt === null) return null;
  return {
    name,
    expressionSource: expression,
    action,
    isActive: is_active ?? true,
    sortOrder: (index + 1) * sortOrderStep,
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
