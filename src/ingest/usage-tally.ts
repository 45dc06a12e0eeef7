/** Counts the events of one unit of work against the quotas of their accounts. */

import type { Account } from "../contract/configuration/entities.js";
import type { Plans } from "../contract/configuration/plans.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { hourMs } from "../contract/values/durations.js";
import { hourOf, monthOf } from "../store/keys.js";
import type { UnitOfWork } from "./unit-of-work.js";

interface AccountMonth {
  readonly accountId: number;
  readonly month: string;
  /** Includes this unit's events. */
  events: number;
}

/** For one unit of work: it reads and adds counts through that unit. */
export class UsageTally {
  readonly #unit: UnitOfWork;
  readonly #plans: Plans;
  readonly #months = new Map<string, AccountMonth>();
  #last: { readonly hour: number; readonly of: AccountMonth } | null = null;

  constructor(unit: UnitOfWork, plans: Plans) {
    this.#unit = unit;
    this.#plans = plans;
  }

  /** Counts a batch; returns true when it takes the account above its monthly quota. */
  count(account: Account, projectId: number, accepted: number, newSession: boolean, facts: RequestFacts): boolean {
    const hour = hourOf(facts.nowMs);
    const usage = this.#monthOf(account.id, hour);
    usage.events += accepted;
    this.#unit.addTraffic(account.id, usage.month, projectId, hour, accepted, newSession ? 1 : 0);
    const quota = this.#plans[account.plan]?.eventsPerMonth ?? null;
    return quota !== null && usage.events > quota;
  }

  #monthOf(accountId: number, hour: number): AccountMonth {
    // A month is whole hours: comparing hours is cheaper, and a group has few accounts.
    const last = this.#last;
    if (last !== null && last.of.accountId === accountId && last.hour === hour) return last.of;
    const month = monthOf(hour * hourMs);
    const name = `${accountId}/${month}`;
    let of = this.#months.get(name);
    if (of === undefined) {
      of = { accountId, month, events: this.#unit.eventsInMonth(accountId, month) };
      this.#months.set(name, of);
    }
    this.#last = { hour, of };
    return of;
  }
}
