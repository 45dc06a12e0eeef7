/** Counts verdict answers by band and action in memory and adds them to the project's hour every second, off the hot path. */
import type { StoredChallengeCounts, StoredRuleHits } from "../contract/configuration/entities.js";
import type { Action, Band, VerdictSubject } from "../contract/verdicts/verdict.js";
import { addedCounts, addedHits, type HourOfTraffic, HoursLeftError } from "../store/hourly-counts.js";
import { hourOf } from "../store/keys.js";
import type { Store } from "../store/store.js";

interface Counts extends VerdictCounts {
  readonly projectId: number;
  readonly hour: number;
  /** Requests without a scored session; the counts of all requests include them. */
  readonly requests: VerdictCounts;
  readonly challenges: Record<string, StoredChallengeCounts>;
  readonly rules: Record<string, StoredRuleHits>;
}

interface VerdictCounts {
  readonly verdicts: Record<string, number>;
  readonly actions: Record<string, number>;
}

/** One per HTTP thread; the server calls `flush`. Counting needs no write. */
export class TrafficCounter {
  readonly #store: Store;
  /** Counts of each project's current hour, and counts of past hours. */
  #rows = new Map<number, Counts>();
  #past: Counts[] = [];
  /** What the last flush could not add. */
  #left: readonly HourOfTraffic[] = [];
  #writing: Promise<void> | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  countVerdict(projectId: number, band: Band, action: Action, subject: VerdictSubject, nowMs: number): void {
    const row = this.#row(projectId, nowMs);
    countIn(row, band, action);
    if (subject === "request") countIn(row.requests, band, action);
  }

  /** `rule` 0 stands for no counted rule. `counts` are added to the rule's own. */
  countChallenge(projectId: number, rule: number, counts: Partial<StoredChallengeCounts>, nowMs: number): void {
    const { challenges } = this.#row(projectId, nowMs);
    challenges[rule] = addedCounts(challenges[rule], counts);
  }

  /** The rules that matched in one computed verdict. */
  countRules(
    projectId: number,
    rules: readonly { readonly id: number }[],
    subject: VerdictSubject,
    nowMs: number,
  ): void {
    const { rules: counted } = this.#row(projectId, nowMs);
    const hit = { sessions: subject === "session" ? 1 : 0, requests: subject === "request" ? 1 : 0, lastMs: nowMs };
    for (const { id } of rules) counted[id] = addedHits(counted[id], hit);
  }

  #row(projectId: number, nowMs: number): Counts {
    const hour = hourOf(nowMs);
    let row = this.#rows.get(projectId);
    if (row === undefined || row.hour !== hour) {
      if (row !== undefined) this.#past.push(row);
      row = {
        projectId,
        hour,
        verdicts: {},
        actions: {},
        requests: { verdicts: {}, actions: {} },
        challenges: {},
        rules: {},
      };
      this.#rows.set(projectId, row);
    }
    return row;
  }

  /**
   * Adds the counts to the store, after an earlier flush has ended. A crash loses at most what was counted since the last flush. Rejects when the
   * store can't be written (a full disk); the counts are kept then.
   */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing.catch(() => {});
    const hours = this.#taken();
    if (hours.length === 0) return;
    const isRepeat = this.#left.length > 0;
    this.#writing = this.#store.counts.add(hours);
    try {
      await this.#writing;
      this.#left = [];
    } catch (error) {
      this.#left = error instanceof HoursLeftError ? error.hours : hours;
      throw error instanceof HoursLeftError ? error.cause : error;
    } finally {
      this.#writing = null;
    }
    // Adds the counts that waited for it.
    if (isRepeat) await this.flush();
  }

  /** Verdicts whose counts are not stored yet. */
  get unstored(): number {
    const rows: readonly VerdictCounts[] = [
      ...this.#past,
      ...this.#rows.values(),
      ...this.#left.map(({ traffic }) => traffic),
    ];
    return rows.flatMap(({ verdicts }) => Object.values(verdicts)).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Returns the counts of an earlier flush that failed, unchanged, because they may have been added all the same. Adds what was counted since, except
   * counts of the same hours, which wait for that flush.
   */
  #taken(): readonly HourOfTraffic[] {
    const taken = [...this.#left];
    const names = new Set(taken.map(nameOf));
    const left: Counts[] = [];
    for (const row of [...this.#past, ...this.#rows.values()]) {
      const name = nameOf(row);
      if (names.has(name)) left.push(row);
      else taken.push(trafficOf(row));
      names.add(name);
    }
    this.#rows = new Map();
    this.#past = [];
    for (const row of left) {
      const before = this.#rows.get(row.projectId);
      if (before !== undefined) this.#past.push(before);
      this.#rows.set(row.projectId, row);
    }
    return taken;
  }
}

function nameOf({ projectId, hour }: Pick<Counts, "projectId" | "hour">): string {
  return `${projectId} ${hour}`;
}

function trafficOf({ projectId, hour, verdicts, actions, requests, challenges, rules }: Counts): HourOfTraffic {
  const traffic = {
    events: 0,
    sessions: 0,
    verdicts,
    actions,
    ...(!isEmpty(requests.verdicts) && { requests }),
    ...(!isEmpty(challenges) && { challenges }),
    ...(!isEmpty(rules) && { rules }),
  };
  return { projectId, hour, traffic };
}

function countIn({ verdicts, actions }: VerdictCounts, band: Band, action: Action): void {
  verdicts[band] = (verdicts[band] ?? 0) + 1;
  actions[action] = (actions[action] ?? 0) + 1;
}

function isEmpty(counts: object): boolean {
  return Object.keys(counts).length === 0;
}
