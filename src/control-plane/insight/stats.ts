/** Counts of a project over time, made of the hours that ingest and verdict reads counted. Reads only. */

import type { StoredChallengeCounts, StoredRuleHits, Traffic } from "../../contract/configuration/entities.js";
import { hourMs } from "../../contract/values/durations.js";
import { type Action, actions, type Band, bands } from "../../contract/verdicts/verdict.js";
import { limits } from "../../limits.js";
import type { Slices } from "../../runtime/long-work.js";
import { addedChallenges, addedRules } from "../../store/hourly-counts.js";
import { hourOf } from "../../store/keys.js";
import type { Store } from "../../store/store.js";
import { zeros } from "./rule-backtest.js";

/** What one bucket spans, by UTC. */
export type BucketSize = "hour" | "day";

/** Hours of a bucket. */
export const bucketHours: Readonly<Record<BucketSize, number>> = { hour: 1, day: 24 };

/** Counts of the hour or day that begins at `startMs`; zeros where nothing was. */
export interface StatsBucket {
  readonly startMs: number;
  events: number;
  sessions: number;
  readonly verdicts: Record<Band, number>;
  readonly actions: Record<Action, number>;
  /** Those of requests without a scored session, which are in the counts of all as well. */
  readonly requests: { readonly verdicts: Record<Band, number>; readonly actions: Record<Action, number> };
  /** By the rule that asked; "0" where that is not known. */
  challenges: Record<string, StoredChallengeCounts>;
  /** By rule. */
  rules: Record<string, StoredRuleHits>;
}

/** How many buckets hold the time from `fromMs` until `toMs` (exclusive), both cut to whole buckets of UTC. */
export function bucketCount(fromMs: number, toMs: number, size: BucketSize): number {
  const hours = bucketHours[size];
  return Math.ceil(toMs / (hours * hourMs)) - Math.floor(hourOf(fromMs) / hours);
}

/** Reads the hours that `TrafficCounter` and ingest wrote; what is not flushed yet is missing. */
export class Stats {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Every bucket from the one that holds `fromMs` on, in order, without gaps; null when whoever asked has gone meanwhile.
   */
  async read(
    projectId: number,
    fromMs: number,
    toMs: number,
    size: BucketSize,
    slices: Slices,
  ): Promise<StatsBucket[] | null> {
    const hours = bucketHours[size];
    const first = Math.floor(hourOf(fromMs) / hours);
    const buckets = Array.from(
      { length: bucketCount(fromMs, toMs, size) },
      (_, index): StatsBucket => ({
        startMs: (first + index) * hours * hourMs,
        events: 0,
        sessions: 0,
        verdicts: zeros(bands),
        actions: zeros(actions),
        requests: { verdicts: zeros(bands), actions: zeros(actions) },
        challenges: {},
        rules: {},
      }),
    );
    const beyond = (first + buckets.length) * hours;
    for (let hour = first * hours; hour < beyond; hour += limits.statsHoursChunk) {
      const end = Math.min(beyond, hour + limits.statsHoursChunk);
      if (slices.isOver && !(await slices.next())) return null;
      for (const [each, traffic] of await this.#store.counts.read(projectId, hour, end)) {
        add(buckets[Math.floor(each / hours) - first]!, traffic);
      }
    }
    return buckets;
  }
}

function add(bucket: StatsBucket, traffic: Traffic): void {
  bucket.events += traffic.events;
  bucket.sessions += traffic.sessions;
  addVerdicts(bucket, traffic);
  if (traffic.requests !== undefined) addVerdicts(bucket.requests, traffic.requests);
  if (traffic.challenges !== undefined) bucket.challenges = addedChallenges(bucket.challenges, traffic.challenges);
  if (traffic.rules !== undefined) bucket.rules = addedRules(bucket.rules, traffic.rules);
}

function addVerdicts(
  sum: Pick<StatsBucket, "verdicts" | "actions">,
  more: Pick<Traffic, "verdicts" | "actions">,
): void {
  for (const band of bands) sum.verdicts[band] += more.verdicts[band] ?? 0;
  for (const action of actions) sum.actions[action] += more.actions[action] ?? 0;
}
