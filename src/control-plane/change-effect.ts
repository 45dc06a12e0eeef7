/** What a change would do to stored sessions: their verdicts as things are against those after the change, counted by what becomes of people. Pure. */
import type { ScoredState } from "../contract/session.js";
import type { Action, Band } from "../contract/verdict.js";
import { isLoggedIn, type NamedRule } from "../verdict/resolve.js";

/** Sessions by what the change makes of them; the last three are of those that are treated otherwise than now. */
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

/** A verdict as far as its effect goes; the rule is the one that decided, not one that only logged. */
export interface Treated {
  readonly action: Action;
  readonly band: Band;
  readonly rule: NamedRule | null;
}

/** Counts sessions one by one. */
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
  readonly #persons: ReadonlySet<string>;
  readonly #nowMs: number;

  /** `persons`: tokens of the sessions that are marked as persons. */
  constructor(persons: ReadonlySet<string>, nowMs: number) {
    this.#persons = persons;
    this.#nowMs = nowMs;
  }

  add(token: string, state: ScoredState, before: Treated, after: Treated): void {
    const { effect } = this;
    const [was, is] = [treatmentOf(before.action), treatmentOf(after.action)];
    if (was === is) {
      effect.unchanged++;
      return;
    }
    effect[countOf[is]]++;
    if (after.band === "likely_human") effect.likelyHuman++;
    if (isLoggedIn(state, this.#nowMs)) effect.loggedIn++;
    if (this.#persons.has(token)) effect.markedHuman++;
  }
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

/** Which rules keep sessions from a draft, and from which the draft would take them. */
export class Shadows {
  readonly by = new Set<number>();
  readonly of = new Set<number>();

  /** `isMatched`: whether the draft's own expression matches. A draft that only logs takes no session from another rule. */
  add(draft: NamedRule, isMatched: boolean, before: Treated, after: Treated): void {
    if (after.rule === draft) {
      if (before.rule !== null) this.of.add(before.rule.id);
    } else if (isMatched && after.rule !== null && isBefore(after.rule, draft)) this.by.add(after.rule.id);
  }
}

/** A new rule stands behind those with the same `sort_order`. */
function isBefore(rule: NamedRule, draft: NamedRule): boolean {
  return rule.sortOrder <= draft.sortOrder;
}
