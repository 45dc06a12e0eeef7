/** A rule as it is being written, and how the address of its form holds it, so that reload, back and a shared link bring it again. */
import { type Action, actions } from "../../contract/verdicts/verdict.js";
import { hashOf } from "../location.js";
import type { RulePlace } from "../rule-place.js";
import type { UntilChoice } from "./until-field.js";

/** What the form of a rule holds. */
export interface RuleDraft {
  readonly name: string;
  readonly expression: string;
  readonly action: Action;
  readonly isActive: boolean;
  /** Where it stands; default: last for a new rule, where it is for another. */
  readonly place?: RulePlace;
  /** When it expires; default: never. */
  readonly until?: UntilChoice;
}

/** What the form of a new rule begins with. */
export const emptyDraft: RuleDraft = { name: "", expression: "", action: "log", isActive: false };

/** The address of the form with this draft; of what is as in `base` it says nothing. */
export function draftHash(item: string, draft: RuleDraft, base: RuleDraft): string {
  const { name, expression, action, isActive, place, until } = draft;
  const end = untilText(until);
  return hashOf("rules", item, {
    ...(name !== base.name && { name }),
    ...(expression !== base.expression && { q: expression }),
    ...(action !== base.action && { action }),
    ...(isActive !== base.isActive && { active: String(isActive) }),
    ...(place !== base.place && place !== undefined && { place }),
    ...(end !== untilText(base.until) && { until: end }),
  });
}

/** The form of a new rule with this draft. */
export function newRuleHash(draft: RuleDraft): string {
  return draftHash("new", draft, emptyDraft);
}

/** The draft that an address holds; null for one that holds none. What it does not say, or says wrongly, is as in `base`. */
export function draftIn(query: URLSearchParams, base: RuleDraft): RuleDraft | null {
  if (!["name", "q", "action", "active", "place", "until"].some((name) => query.has(name))) return null;
  return {
    name: query.get("name") ?? base.name,
    expression: query.get("q") ?? base.expression,
    action: actions.find((each) => each === query.get("action")) ?? base.action,
    isActive: query.has("active") ? query.get("active") === "true" : base.isActive,
    ...definedOf("place", query.get("place") ?? base.place),
    ...definedOf("until", query.has("until") ? untilOf(query.get("until")!) : base.until),
  };
}

function definedOf<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value };
}

const spans = ["never", "day", "week"] as const;

/** As the address has it: the name of a span, or a date. */
function untilText(until: UntilChoice | undefined): string {
  return until === undefined ? "never" : until.choice === "date" ? until.date : until.choice;
}

function untilOf(text: string): UntilChoice {
  const span = spans.find((each) => each === text);
  return span === undefined ? { choice: "date", date: text } : { choice: span, date: "" };
}
