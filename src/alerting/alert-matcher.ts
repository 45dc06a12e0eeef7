/** Counts, on the path of each computed verdict, how many match the expressions of a project's alerts. A project without such alerts costs a look-up. */
import type { AlertSubject } from "../contract/incidents/alerts.js";
import type { VerdictSubject } from "../contract/verdicts/verdict.js";
import type { Predicate } from "../rules/compile.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import type { RuleInput } from "../rules/input.js";
import type { Alerts } from "./alerts.js";

/** How many verdicts matched an alert's expression. Can be posted to other threads. */
export interface AlertMatches {
  readonly projectId: number;
  readonly alertId: number;
  readonly count: number;
}

interface Counted {
  readonly alertId: number;
  readonly subject: AlertSubject;
  readonly matches: Predicate;
}

/** One per HTTP thread. `revision` changes whenever an alert does. */
export class AlertMatcher {
  readonly #alerts: Alerts;
  readonly #revision: () => number;
  #known = -1;
  readonly #ofProjects = new Map<number, readonly Counted[]>();
  #matches = new Map<number, { projectId: number; count: number }>();

  constructor(alerts: Alerts, revision: () => number) {
    this.#alerts = alerts;
    this.#revision = revision;
  }

  /** Whether `record` has an alert to ask. */
  isAsked(projectId: number): boolean {
    return this.#counted(projectId).length > 0;
  }

  /** `inputOf` is called only where there is an alert to ask. Never throws. */
  record(projectId: number, subject: VerdictSubject, inputOf: () => RuleInput | null): void {
    const counted = this.#counted(projectId);
    if (counted.length === 0) return;
    const input = inputOf();
    if (input === null) return;
    for (const { alertId, subject: wanted, matches } of counted) {
      if ((wanted !== "all" && wanted !== subject) || !matches(input)) continue;
      const found = this.#matches.get(alertId);
      if (found === undefined) this.#matches.set(alertId, { projectId, count: 1 });
      else found.count++;
    }
  }

  /** Returns what was counted since the last call. */
  take(): AlertMatches[] {
    const taken = [...this.#matches].map(([alertId, { projectId, count }]) => ({ alertId, projectId, count }));
    if (taken.length > 0) this.#matches = new Map();
    return taken;
  }

  #counted(projectId: number): readonly Counted[] {
    const revision = this.#revision();
    if (revision !== this.#known) {
      this.#known = revision;
      this.#ofProjects.clear();
    }
    let counted = this.#ofProjects.get(projectId);
    if (counted === undefined) {
      counted = this.#alerts.list(projectId).flatMap(({ id, isActive, when }) => {
        if (!isActive || "incident" in when) return [];
        const compiled = compileRule(when.expression, "stored");
        return isRuleFault(compiled)
          ? []
          : [{ alertId: id, subject: when.subject ?? "all", matches: compiled.matches }];
      });
      this.#ofProjects.set(projectId, counted);
    }
    return counted;
  }
}
