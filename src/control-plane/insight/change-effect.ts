/** What a change would do: verdicts as things are against those after the change, counted by what becomes of people. Pure. */
import type { ProjectSettings } from "../../contract/sessions/session.js";
import type { Action, Band } from "../../contract/verdicts/verdict.js";
import { type DecideInput, decide, isLoggedIn, type NamedRule, ruleInput } from "../../verdict/resolve.js";

/** Visitors by what the change makes of them; the last three are of those that are treated otherwise than now. */
export interface ChangeEffect {
  newlyBlocked: number;
  newlyChallenged: number;
  newlyDelayed: number;
  /** Blocked, challenged or delayed now, and let in afterwards. */
  newlyAllowed: number;
  /** `log` lets in as `allow` does. */
  unchanged: number;
  likelyHuman: number;
  loggedIn: number;
  markedHuman: number;
}

/** What verdicts depend on besides the visitor. */
interface DecidingSettings {
  readonly project: ProjectSettings;
  /** In the order of evaluation. */
  readonly rules: readonly NamedRule[];
}

/** A change of settings or rules that nobody has made yet. */
export interface Change {
  readonly before: DecidingSettings;
  readonly after: DecidingSettings;
  /** The rule that is new in `after`, or another version of one; null for none. */
  readonly draft: NamedRule | null;
}

/** A visitor: a stored session, or a judged request. */
export type AskedVisitor = Omit<DecideInput, "project" | "rules" | "nowMs">;

/** A verdict as far as its effect goes; the rule is the one that decided, not one that only logged. */
interface Treated {
  readonly action: Action;
  readonly band: Band;
  readonly rule: NamedRule | null;
}

/** Counts visitors one by one. */
export class EffectCounter {
  readonly effect: ChangeEffect = {
    newlyBlocked: 0,
    newlyChallenged: 0,
    newlyDelayed: 0,
    newlyAllowed: 0,
    unchanged: 0,
    likelyHuman: 0,
    loggedIn: 0,
    markedHuman: 0,
  };
  /** Ids of rules that keep visitors from the draft. */
  readonly shadowedBy = new Set<number>();
  /** Ids of rules from which the draft takes visitors. */
  readonly shadows = new Set<number>();
  readonly #change: Change;
  readonly #persons: ReadonlySet<string>;
  readonly #nowMs: number;

  /** `persons`: tokens of the sessions that are marked as persons. */
  constructor(change: Change, persons: ReadonlySet<string>, nowMs: number) {
    this.#change = change;
    this.#persons = persons;
    this.#nowMs = nowMs;
  }

  /** `weight`: for how many visitors this one stands. */
  add(visitor: AskedVisitor, weight = 1): void {
    const { effect } = this;
    const { before, after, draft } = this.#change;
    const [now, then] = [this.#treated(visitor, before), this.#treated(visitor, after)];
    if (draft !== null) this.#addShadows(draft, visitor, now, then);
    const [was, is] = [treatmentOf(now.action), treatmentOf(then.action)];
    if (was === is) {
      effect.unchanged += weight;
      return;
    }
    effect[countOf[is]] += weight;
    const { state, sessionToken = null } = visitor;
    if (then.band === "likely_human") effect.likelyHuman += weight;
    if (state !== null && isLoggedIn(state, this.#nowMs)) effect.loggedIn += weight;
    if (sessionToken !== null && this.#persons.has(sessionToken)) effect.markedHuman += weight;
  }

  #treated(visitor: AskedVisitor, settings: DecidingSettings): Treated {
    const decision = decide({ ...visitor, ...settings, nowMs: this.#nowMs });
    if (decision === null) return unjudged;
    const { verdict, rule } = decision;
    return { action: verdict.action, band: verdict.band, rule: rule === null || rule.action === "log" ? null : rule };
  }

  /** A draft that only logs takes no visitor from another rule. */
  #addShadows(draft: NamedRule, visitor: AskedVisitor, now: Treated, then: Treated): void {
    if (then.rule === draft) {
      if (now.rule !== null && now.rule.id !== draft.id) this.shadows.add(now.rule.id);
      return;
    }
    if (then.rule === null || !isBefore(then.rule, draft) || this.shadowedBy.has(then.rule.id)) return;
    const facts = ruleInput({ ...visitor, ...this.#change.after, nowMs: this.#nowMs });
    if (facts !== null && draft.matches(facts)) this.shadowedBy.add(then.rule.id);
  }
}

/** A session without a score. */
const unjudged: Treated = { action: "allow", band: "not_computed", rule: null };

/** The id of a draft that is no other version of a rule. */
export const newRuleId = 0;

/** Of those with the same `sort_order` a new rule stands behind all, another version of one where its id does. */
export function isBefore(rule: NamedRule, draft: NamedRule): boolean {
  if (rule.sortOrder !== draft.sortOrder) return rule.sortOrder < draft.sortOrder;
  return draft.id === newRuleId || rule.id < draft.id;
}

type Treatment = "allow" | "block" | "challenge" | "delay";

function treatmentOf(action: Action): Treatment {
  return action === "log" ? "allow" : action;
}

const countOf = {
  allow: "newlyAllowed",
  block: "newlyBlocked",
  challenge: "newlyChallenged",
  delay: "newlyDelayed",
} as const satisfies Record<Treatment, keyof ChangeEffect>;
