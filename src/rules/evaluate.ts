/**
 * Evaluates a project's rules in order on one input: which rule decides, and which only log. Guards run before this and the logged-in policy after
 * it; this file knows neither.
 */
import type { Action } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import type { Predicate } from "./compile.js";
import type { RuleInput } from "./input.js";

/** The part of a rule that evaluation needs; callers pass their own records that have it. */
export interface EvaluatedRule {
  readonly id: number;
  readonly action: Action;
  readonly isActive: boolean;
  /** Lower ones are evaluated first; equal ones by id. */
  readonly sortOrder: number;
  readonly matches: Predicate;
}

/** The result of a project's rules on one input. `Rule` is the caller's type of rule; rules are returned unchanged. */
interface Evaluation<Rule> {
  /** The deciding rule's action, `log` if only log rules matched, `allow` if none did. */
  readonly action: Action;
  /** The first matching rule that terminates (`allow`, `challenge`, `block`, `delay`), or null. */
  readonly terminating: Rule | null;
  /** Matching `log` rules evaluated before the end, in order. */
  readonly logged: readonly Rule[];
  /** Whether the budget was used up before a rule decided: the remaining rules count as not matching. */
  readonly isOverBudget: boolean;
}

/** Returns the active rules in order of evaluation. Done once per change of the rules, not per verdict. */
export function orderRules<Rule extends EvaluatedRule>(rules: Iterable<Rule>): readonly Rule[] {
  return [...rules].filter((rule) => rule.isActive).sort((a, b) => a.sortOrder - b.sortOrder || a.id - b.id);
}

/**
 * Evaluates rules in the order of `orderRules` until one decides or they have cost `limits.ruleStepsMax`. Fails open, and is deterministic for the
 * same rules and input. A rule that was begun is finished, which takes a small part of the budget.
 */
export function evaluateRules<Rule extends EvaluatedRule>(
  ordered: readonly Rule[],
  input: RuleInput,
): Evaluation<Rule> {
  const logged: Rule[] = [];
  let isOverBudget = false;
  for (const rule of ordered) {
    isOverBudget = input.steps >= limits.ruleStepsMax;
    if (isOverBudget) break;
    if (!rule.matches(input)) continue;
    if (rule.action !== "log") return { action: rule.action, terminating: rule, logged, isOverBudget };
    logged.push(rule);
  }
  return { action: logged.length > 0 ? "log" : "allow", terminating: null, logged, isOverBudget };
}
