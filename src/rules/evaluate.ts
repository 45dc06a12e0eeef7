/**
 * A project's rules in order against one input: which rule decides, and which only log. Guards come before this and the logged-in policy
 * after it; neither is known here.
 */
import type { Action } from "../contract/verdict.js";
import { limits } from "../limits.js";
import type { Predicate } from "./compile.js";
import type { RuleInput } from "./input.js";

/** What evaluation needs of a rule; callers pass records of their own that have it. */
export interface EvaluatedRule {
  readonly id: number;
  readonly action: Action;
  readonly isActive: boolean;
  /** Lower is asked first; equal ones by id. */
  readonly sortOrder: number;
  readonly matches: Predicate;
}

/** What a project's rules say of one input. `Rule` is whatever the caller's rules are, given back as they came. */
export interface Evaluation<Rule> {
  /** The deciding rule's action, `log` if only log rules matched, `allow` if none did. */
  readonly action: Action;
  /** The first matching rule that terminates (`allow`, `challenge`, `block`, `delay`), or null. */
  readonly terminating: Rule | null;
  /** Matching `log` rules asked before evaluation ended, in order. */
  readonly logged: readonly Rule[];
  /** Whether the budget was used up before a rule decided: those that were left count as not matching. */
  readonly isOverBudget: boolean;
}

/** The active rules in the order they are asked. Done once per change of the rules, not per verdict. */
export function orderRules<Rule extends EvaluatedRule>(rules: Iterable<Rule>): readonly Rule[] {
  return [...rules].filter((rule) => rule.isActive).sort((a, b) => a.sortOrder - b.sortOrder || a.id - b.id);
}

/**
 * Asks rules ordered by `orderRules`, until one decides or they have cost `limits.ruleStepsMax`: fail-open, and the same for the same rules
 * and input. A rule that was begun is asked to its end, which takes a small part of the budget.
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
