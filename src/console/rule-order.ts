/** The order of rules: moving one in a list, and the fewest `sort_order` changes that make the server evaluate in that order. */
import type { ListedRuleAnswer } from "../contract/configuration/rule-answers.js";

/** One change of a rule to send: `id` gets this `sort_order`, a signed 32-bit integer. */
export interface OrderChange {
  readonly id: number;
  readonly sort_order: number;
}

const step = 10;
const sortOrderMax = 2 ** 31 - 1;

/** The list with the item at `from` moved to `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)];
}

/**
 * Changes to send, one after the other, so that `wanted` (its `index`th rule was moved) is the order. One change where there is
 * room between the neighbours. Else all rules are numbered anew above the present numbers, the last one first: whatever was sent
 * so far, any two rules stand as they stood before or as they shall.
 */
export function orderChanges(wanted: readonly ListedRuleAnswer[], index: number): OrderChange[] {
  const { id } = wanted[index]!;
  const before = wanted[index - 1]?.sort_order;
  const after = wanted[index + 1]?.sort_order;
  const low = before ?? (after === undefined ? 0 : after - 2 * step);
  const high = after ?? low + 2 * step;
  const middle = Math.floor((low + high) / 2);
  const fits =
    Math.abs(middle) < sortOrderMax &&
    (before === undefined || middle > before) &&
    (after === undefined || middle < after);
  if (fits) return [{ id, sort_order: middle }];
  const highest = Math.max(...wanted.map(({ sort_order }) => sort_order));
  const base = highest + step * (wanted.length + 1) > sortOrderMax ? 0 : highest + step;
  return wanted.map((rule, position) => ({ id: rule.id, sort_order: base + step * position })).reverse();
}
