/** What it takes to turn a project's rules into others: the plan that `rules apply` carries out, or only shows. Pure. */

import type { Rule } from "../../contract/configuration/entities.js";
import type { Action } from "../../contract/verdicts/verdict.js";

/** A rule to create, its source not compiled yet. */
export interface NewRule {
  readonly name: string;
  readonly expressionSource: string;
  readonly action: Action;
  readonly isActive: boolean;
  readonly sortOrder: number;
  /** ISO-8601: from then on it is inactive; absent: it never expires. */
  readonly expiresAt?: string | undefined;
}

/** One rule's change; `before` is missing for a new rule, `after` for one that goes. Equal rules have both and are `unchanged`. */
export interface RuleChange {
  readonly name: string;
  readonly change: "created" | "changed" | "removed" | "unchanged";
  readonly before?: Rule;
  readonly after?: NewRule;
}

/** Rules are told apart by name. In the order of `wanted`, the removed ones last. */
export function ruleChanges(present: readonly Rule[], wanted: readonly NewRule[]): RuleChange[] {
  const kept = wanted.map((after): RuleChange => {
    const { name } = after;
    const before = present.find((rule) => rule.name === name);
    if (before === undefined) return { name, change: "created", after };
    return { name, change: changedFields(before, after).length === 0 ? "unchanged" : "changed", before, after };
  });
  const ids = new Set(kept.map(({ before }) => before?.id));
  const removed = present
    .filter(({ id }) => !ids.has(id))
    .map((before): RuleChange => ({ name: before.name, change: "removed", before }));
  return [...kept, ...removed];
}

const comparedFields = ["expressionSource", "action", "isActive", "sortOrder", "expiresAt"] as const;

function changedFields(before: NewRule, after: NewRule): (typeof comparedFields)[number][] {
  return comparedFields.filter((field) => before[field] !== after[field]);
}

/** How each field is called in the file; the place follows from a rule's position there. */
const filedNames = {
  expressionSource: "expression",
  action: "action",
  isActive: "is_active",
  sortOrder: "sort_order",
  expiresAt: "expires_at",
} as const;

/** The changes as lines of a diff: `+ name`, `- name`, `~ name` with the fields below it. */
export function changeLines(changes: readonly RuleChange[]): string[] {
  return changes.flatMap(({ name, change, before, after }): string[] => {
    if (change === "unchanged") return [];
    if (change === "created") return [`+ ${name}`, ...fieldLines("+", after!)];
    if (change === "removed") return [`- ${name}`, ...fieldLines("-", before!)];
    const fields = changedFields(before!, after!);
    return [
      `~ ${name}`,
      ...fields.flatMap((field) => [
        `    - ${filedNames[field]}: ${before![field] ?? "none"}`,
        `    + ${filedNames[field]}: ${after![field] ?? "none"}`,
      ]),
    ];
  });
}

function fieldLines(sign: "+" | "-", rule: NewRule): string[] {
  return (["expressionSource", "action", "isActive", "expiresAt"] as const)
    .filter((field) => rule[field] !== undefined)
    .map((field) => `    ${sign} ${filedNames[field]}: ${rule[field]}`);
}
