/** Reads what was judged: counts by value, crawlers, samples of requests, each merged from the rows of all threads and nodes. */

import type { WeightedSample } from "../contract/traffic/request-sample.js";
import type { JudgedKind, TrafficDimension } from "../contract/traffic/traffic.js";
import { hourMs, minuteMs } from "../contract/values/durations.js";
import { type Action, actions, type Band, bands, type VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import type { Slices } from "../runtime/long-work.js";
import type { StoredJudgedRow } from "../store/judged-rows.js";
import { hourOf } from "../store/keys.js";
import type { Store } from "../store/store.js";
import { decodeCrawlers } from "./crawler-counts.js";
import { samplesOfHour } from "./request-samples.js";
import { type HitsOfMinute, hitsByMinute } from "./rule-minutes.js";
import { decodeTrafficRow } from "./traffic-row.js";

/** Whole hours since the epoch; `toHour` is exclusive. */
export interface HourSpan {
  readonly fromHour: number;
  readonly toHour: number;
}

/** Which verdicts are counted; null: all. */
export interface TrafficSelection {
  readonly subject: VerdictSubject | null;
  readonly band: Band | null;
  readonly action: Action | null;
}

/** A value and its verdicts. */
interface TrafficValue {
  readonly value: string;
  count: number;
  readonly bands: Record<Band, number>;
  readonly actions: Record<Action, number>;
}

/** The counts of a dimension. */
export interface TrafficCounts {
  /** The most frequent first. */
  readonly values: readonly TrafficValue[];
  /** Verdicts. */
  readonly total: number;
  /** What is counted to none of `values`, `without` among it. */
  readonly other: number;
  /** Verdicts without a value. */
  readonly without: number;
  /** The largest error of a count, a share of the total. */
  readonly error: number;
}

/** Visits of an operator's crawlers. */
interface CrawlerVisits {
  readonly operator: string;
  /** "" for not known. */
  category: string;
  verified: number;
  impostors: number;
  lastMs: number;
  /** Of verified ones, by template. */
  readonly paths: Map<string, number>;
  /** Of verified ones, by day of UTC since the epoch. */
  readonly days: Map<number, number>;
}

/** The hits of a minute. */
interface RuleMinute {
  readonly startMs: number;
  readonly hits: HitsOfMinute;
}

/** Every read returns null when whoever asked has gone meanwhile. */
export class TrafficReader {
  readonly #store: Pick<Store, "recorded">;
  readonly #samplesMax: number;

  /** `samplesMax`: of an hour and project. */
  constructor(store: Pick<Store, "recorded">, samplesMax: number) {
    this.#store = store;
    this.#samplesMax = samplesMax;
  }

  /** The verdicts of these hours by a dimension; at most `limit` values. */
  async counts(
    projectId: number,
    dimension: TrafficDimension,
    span: HourSpan,
    selection: TrafficSelection,
    limit: number,
    slices: Slices,
  ): Promise<TrafficCounts | null> {
    const sums = new Map<string, TrafficValue>();
    let [total, without, counted, missed] = [0, 0, 0, 0];
    for await (const rows of this.#hours(projectId, dimension, span)) {
      for (const { bytes } of rows) {
        if (slices.isOver && !(await slices.next())) return null;
        const row = decodeTrafficRow(bytes);
        if (row === null) continue;
        const selected = row.strata.map((stratum) => isSelected(stratum, selection));
        for (const [index, stratum] of row.strata.entries()) {
          if (!selected[index]) continue;
          total += stratum.total;
          without += stratum.without;
          counted += stratum.counted;
          missed += stratum.missed;
        }
        for (const [value, ...counts] of row.values) {
          for (const [index, count] of counts) {
            if (selected[index]) addTo(sums, value, row.strata[index]!, count);
          }
        }
      }
    }
    const values = [...sums.values()]
      .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
      .slice(0, limit);
    const shown = values.reduce((sum, { count }) => sum + count, 0);
    const other = counted - shown + without;
    return { values, total, other, without, error: total === 0 ? 0 : missed / total };
  }

  /** The crawlers of these hours, those with the most visits first. */
  async crawlers(projectId: number, span: HourSpan, slices: Slices): Promise<CrawlerVisits[] | null> {
    const visits = new Map<string, CrawlerVisits>();
    for await (const rows of this.#hours(projectId, "crawlers", span)) {
      for (const { hour, bytes } of rows) {
        if (slices.isOver && !(await slices.next())) return null;
        for (const { operator, category, verified, impostors, lastMs, paths } of decodeCrawlers(bytes)) {
          const sum = visits.get(operator) ?? newVisits(operator);
          visits.set(operator, sum);
          if (verified > 0 || sum.category === "") sum.category = category || sum.category;
          sum.verified += verified;
          sum.impostors += impostors;
          sum.lastMs = Math.max(sum.lastMs, lastMs);
          for (const [path, count] of paths) sum.paths.set(path, (sum.paths.get(path) ?? 0) + count);
          const day = Math.floor(hour / 24);
          if (verified > 0) sum.days.set(day, (sum.days.get(day) ?? 0) + verified);
        }
      }
    }
    const all = (each: CrawlerVisits): number => each.verified + each.impostors;
    return [...visits.values()].sort((one, other) => all(other) - all(one) || (one.operator < other.operator ? -1 : 1));
  }

  /**
   * Visits the samples of requests judged in a time, the latest first, until `visit` returns false. Returns false when whoever asked has gone meanwhile.
   */
  async visitSamples(
    projectId: number,
    fromMs: number,
    untilMs: number,
    slices: Slices,
    visit: (sample: WeightedSample) => boolean,
  ): Promise<boolean> {
    if (this.#samplesMax === 0) return true;
    for (let hour = hourOf(untilMs - 1); (hour + 1) * hourMs > fromMs; hour--) {
      if (slices.isOver && !(await slices.next())) return false;
      const rows = await this.#store.recorded.judged.read(projectId, "samples", hour, hour + 1);
      if (rows.length === 0) continue;
      const all = await samplesOfHour(rows, this.#samplesMax, slices);
      if (all === null) return false;
      const samples = all
        .filter(({ atMs }) => atMs >= fromMs && atMs < untilMs)
        .sort((one, other) => other.atMs - one.atMs || one.draw - other.draw);
      for (const sample of samples) {
        if (slices.isOver && !(await slices.next())) return false;
        if (!visit(sample)) return true;
      }
    }
    return true;
  }

  /** Hits of rules of the `count` minutes until the one of `untilMs`, it included, in order; minutes without any are empty. */
  async ruleMinutes(projectId: number, untilMs: number, count: number): Promise<readonly RuleMinute[]> {
    const last = Math.floor(untilMs / minuteMs);
    const first = last - count + 1;
    const hour = hourOf(first * minuteMs);
    const rows = await this.#store.recorded.judged.read(projectId, "rule_minutes", hour, hourOf(untilMs) + 1);
    const minutes = hitsByMinute(rows);
    return Array.from({ length: count }, (_, index) => ({
      startMs: (first + index) * minuteMs,
      hits: minutes.get(first + index) ?? new Map(),
    }));
  }

  /** A day at a time. */
  async *#hours(
    projectId: number,
    kind: JudgedKind,
    { fromHour, toHour }: HourSpan,
  ): AsyncGenerator<readonly StoredJudgedRow[]> {
    for (let hour = fromHour; hour < toHour; hour += limits.judgedHoursChunk) {
      const end = Math.min(toHour, hour + limits.judgedHoursChunk);
      yield await this.#store.recorded.judged.read(projectId, kind, hour, end);
    }
  }
}

function isSelected(
  stratum: { readonly subject: VerdictSubject; readonly band: Band; readonly action: Action },
  { subject, band, action }: TrafficSelection,
): boolean {
  return (
    (subject === null || stratum.subject === subject) &&
    (band === null || stratum.band === band) &&
    (action === null || stratum.action === action)
  );
}

function addTo(
  sums: Map<string, TrafficValue>,
  value: string,
  { band, action }: { readonly band: Band; readonly action: Action },
  count: number,
): void {
  let sum = sums.get(value);
  if (sum === undefined) {
    sum = { value, count: 0, bands: zeros(bands), actions: zeros(actions) };
    sums.set(value, sum);
  }
  sum.count += count;
  sum.bands[band] += count;
  sum.actions[action] += count;
}

function newVisits(operator: string): CrawlerVisits {
  return { operator, category: "", verified: 0, impostors: 0, lastMs: 0, paths: new Map(), days: new Map() };
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
