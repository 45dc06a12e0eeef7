/** Where a draft rule would stand among the others, by numbers that the server takes. Pure. */
import type { ListedRuleAnswer } from "../contract/configuration/rule-answers.js";
import { type OrderChange, orderChanges } from "./rule-order.js";

/** "stay" (a rule that exists), "first", "last", or "before:ID". */
export type RulePlace = string;

/** The `sort_order` of a draft at its place, and what else has to change so that it stands there; undefined: as it is. */
interface PlacedRule {
  readonly sort_order: number | undefined;
  readonly others: readonly OrderChange[];
}

/** Stands for the draft among rules. */
const draftId = 0;

/** `others` are the other rules in their order. A rule that the place names and that is gone counts as the end. */
export function placed(others: readonly ListedRuleAnswer[], place: RulePlace): PlacedRule {
  if (place === "stay") return { sort_order: undefined, others: [] };
  const before = Number(place.replace("before:", ""));
  const found = place === "first" ? 0 : others.findIndex(({ id }) => id === before);
  const index = found < 0 || place === "last" ? others.length : found;
  const draft = { id: draftId, sort_order: 0 } as ListedRuleAnswer;
  if (others.length === 0) return { sort_order: 0, others: [] };
  if (index === others.length) return { sort_order: others.at(-1)!.sort_order + 10, others: [] };
  const changes = orderChanges([...others.slice(0, index), draft, ...others.slice(index)], index);
  return {
    sort_order: changes.find(({ id }) => id === draftId)?.sort_order,
    others: changes.filter(({ id }) => id !== draftId),
  };
}

/** Where it can be tried without changing others: exact where there is room, else behind the rule before it. */
export function triedOrder(
  others: readonly ListedRuleAnswer[],
  place: RulePlace,
  own: number | undefined,
): number | undefined {
  const { sort_order, others: changed } = placed(others, place);
  if (changed.length === 0) return sort_order ?? own;
  const before = Number(place.replace("before:", ""));
  const index = others.findIndex(({ id }) => id === before);
  return index > 0 ? others[index - 1]!.sort_order : undefined;
}
