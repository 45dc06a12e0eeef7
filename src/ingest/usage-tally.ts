/** Counts of one write transaction: events against the account's quota, events and sessions of a project's hour. */

import type { Account, Traffic } from "../contract/entities.js";
import type { RequestFacts } from "../contract/header-facts.js";
import type { Plans } from "../contract/plans.js";
import { hourOf, monthOf } from "../store/keys.js";
import type { SessionStore } from "../store/session-store.js";
import { sumOverOthers } from "../store/session-stores.js";

interface UsageRow {
  readonly accountId: number;
  readonly month: string;
  events: number;
  /** Events that other environments have counted, as they were when this transaction began. */
  readonly elsewhere: number;
}

interface TrafficRow {
  readonly projectId: number;
  readonly hour: number;
  events: number;
  sessions: number;
}

const hourMs = 3_600_000;

export class UsageTally {
  readonly #store: SessionStore;
  readonly #plans: Plans;
  readonly #usage = new Map<string, UsageRow>();
  readonly #traffic = new Map<string, TrafficRow>();
  #lastUsage: { readonly hour: number; readonly row: UsageRow } | null = null;
  #lastTraffic: TrafficRow | null = null;

  constructor(store: SessionStore, plans: Plans) {
    this.#store = store;
    this.#plans = plans;
  }

  /** Counts a batch; true when the account is above its monthly quota with it. */
  count(account: Account, projectId: number, accepted: number, newSession: boolean, facts: RequestFacts): boolean {
    const hour = hourOf(facts.nowMs);
    const usage = this.#usageRow(account.id, hour);
    usage.events += accepted;
    const traffic = this.#trafficRow(projectId, hour);
    traffic.events += accepted;
    if (newSession) traffic.sessions++;
    const quota = this.#plans[account.plan]?.eventsPerMonth ?? null;
    return quota !== null && usage.events + usage.elsewhere > quota;
  }

  /** Writes the counts. Call inside the transaction that counted. */
  save(): void {
    for (const row of this.#usage.values()) this.#store.usage.putSync([row.accountId, row.month], row.events);
    for (const row of this.#traffic.values()) {
      if (row.events === 0 && row.sessions === 0) continue;
      const before = this.#store.traffic.get([row.projectId, row.hour]);
      const after: Traffic = {
        events: (before?.events ?? 0) + row.events,
        sessions: (before?.sessions ?? 0) + row.sessions,
        verdicts: before?.verdicts ?? {},
        actions: before?.actions ?? {},
        ...(before?.challenges && { challenges: before.challenges }),
      };
      this.#store.traffic.putSync([row.projectId, row.hour], after);
    }
  }

  #usageRow(accountId: number, hour: number): UsageRow {
    // A month is whole hours: the hour is cheaper to tell apart, and rows of one month are few.
    const known = this.#lastUsage;
    if (known !== null && known.row.accountId === accountId && known.hour === hour) return known.row;
    const month = monthOf(hour * hourMs);
    const name = `${accountId}/${month}`;
    let row = this.#usage.get(name);
    if (row === undefined) {
      const elsewhere = sumOverOthers(this.#store, (part) => part.usage.get([accountId, month]) ?? 0);
      row = { accountId, month, events: this.#store.usage.get([accountId, month]) ?? 0, elsewhere };
      this.#usage.set(name, row);
    }
    this.#lastUsage = { hour, row };
    return row;
  }

  #trafficRow(projectId: number, hour: number): TrafficRow {
    if (this.#lastTraffic?.projectId === projectId && this.#lastTraffic.hour === hour) return this.#lastTraffic;
    const name = `${projectId}/${hour}`;
    let row = this.#traffic.get(name);
    if (row === undefined) {
      row = { projectId, hour, events: 0, sessions: 0 };
      this.#traffic.set(name, row);
    }
    this.#lastTraffic = row;
    return row;
  }
}
