/** Counts of projects per hour, and of accounts per month, for any store: LMDB on one host, a cluster, or a test. */
import type { StoredChallengeCounts, StoredRuleHits, Traffic } from "../contract/configuration/entities.js";
import type { Environment } from "./environment.js";
import type { Tables as AllTables } from "./tables.js";

/** The counts to add to an hour of a project. */
export interface HourOfTraffic {
  readonly projectId: number;
  /** Since the epoch. */
  readonly hour: number;
  readonly traffic: Traffic;
}

/** Only some of the hours were added; `cause` says why. */
export class HoursLeftError extends Error {
  /** `hours`: the hours that were not confirmed as added. */
  constructor(
    readonly hours: readonly HourOfTraffic[],
    override readonly cause: Error,
  ) {
    super(cause.message);
  }
}

/** The counts of traffic and usage; hours are counted since the epoch. */
export interface HourlyCounts {
  /**
   * Adds to the counts. Rejects if they can't be written; then nothing was added, or only the hours that a `HoursLeftError` does not name. The same object
   * given again is added once. One call at a time.
   */
  add(hours: readonly HourOfTraffic[]): Promise<void>;
  /** Returns the hours from `fromHour` to `toHour` (exclusive) that have counts, in order. */
  read(projectId: number, fromHour: number, toHour: number): Promise<readonly (readonly [hour: number, Traffic])[]>;
  /** Events accepted from an account in a month ("YYYY-MM"). */
  eventsInMonth(accountId: number, month: string): Promise<number>;
}

/** The counts of a single host. Each addition is one transaction. */
export class LmdbHourlyCounts implements HourlyCounts {
  readonly #tables: Pick<AllTables, "traffic" | "usage"> & { readonly root: Environment };

  constructor(tables: AllTables) {
    this.#tables = tables;
  }

  async add(hours: readonly HourOfTraffic[]): Promise<void> {
    const { root, traffic: table } = this.#tables;
    await root.transaction(() => {
      for (const { projectId, hour, traffic } of hours) {
        table.putSync([projectId, hour], addedTraffic(table.get([projectId, hour]), traffic));
      }
    });
  }

  async read(projectId: number, fromHour: number, toHour: number): Promise<readonly (readonly [number, Traffic])[]> {
    const range = { start: [projectId, fromHour] as [number, number], end: [projectId, toHour] as [number, number] };
    return [...this.#tables.traffic.getRange(range)].map(({ key, value }) => [key[1], value] as const);
  }

  async eventsInMonth(accountId: number, month: string): Promise<number> {
    return this.#tables.usage.get([accountId, month]) ?? 0;
  }
}

interface VerdictCounts {
  readonly verdicts: Record<string, number>;
  readonly actions: Record<string, number>;
}

function addedTraffic(before: Traffic | undefined, more: Traffic): Traffic {
  const { requests, challenges, rules } = more;
  return {
    events: (before?.events ?? 0) + more.events,
    sessions: (before?.sessions ?? 0) + more.sessions,
    ...addedVerdicts(before, more),
    ...((before?.requests || requests) && {
      requests: addedVerdicts(before?.requests, requests ?? { verdicts: {}, actions: {} }),
    }),
    ...((before?.challenges || challenges) && { challenges: addedChallenges(before?.challenges, challenges) }),
    ...((before?.rules || rules) && { rules: addedRules(before?.rules, rules) }),
  };
}

/** Counts of verdicts, added up. */
function addedVerdicts(before: VerdictCounts | undefined, more: VerdictCounts): VerdictCounts {
  return { verdicts: added(before?.verdicts, more.verdicts), actions: added(before?.actions, more.actions) };
}

function added(before: Record<string, number> | undefined, more: Record<string, number>): Record<string, number> {
  const sum = { ...before };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** Counts by rule, added up. */
export function addedChallenges(
  before: Readonly<Record<string, StoredChallengeCounts>> | undefined,
  more: Readonly<Record<string, StoredChallengeCounts>> | undefined,
): Record<string, StoredChallengeCounts> {
  const sum = { ...before };
  for (const [rule, counts] of Object.entries(more ?? {})) sum[rule] = addedCounts(sum[rule], counts);
  return sum;
}

/** Hits by rule, added up. */
export function addedRules(
  before: Readonly<Record<string, StoredRuleHits>> | undefined,
  more: Readonly<Record<string, StoredRuleHits>> | undefined,
): Record<string, StoredRuleHits> {
  const sum = { ...before };
  for (const [rule, hits] of Object.entries(more ?? {})) sum[rule] = addedHits(sum[rule], hits);
  return sum;
}

/** Hits of one rule. */
export function addedHits(before: StoredRuleHits | undefined, more: StoredRuleHits): StoredRuleHits {
  return {
    sessions: (before?.sessions ?? 0) + more.sessions,
    requests: (before?.requests ?? 0) + more.requests,
    lastMs: Math.max(before?.lastMs ?? 0, more.lastMs),
  };
}

/** Challenges of one rule. */
export function addedCounts(
  before: StoredChallengeCounts | undefined,
  more: Partial<StoredChallengeCounts>,
): StoredChallengeCounts {
  return {
    issued: (before?.issued ?? 0) + (more.issued ?? 0),
    passed: (before?.passed ?? 0) + (more.passed ?? 0),
    failed: (before?.failed ?? 0) + (more.failed ?? 0),
    passedMs: (before?.passedMs ?? 0) + (more.passedMs ?? 0),
  };
}
