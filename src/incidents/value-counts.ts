/**
 * Counts of one project by value: the last five minutes, five-minute bins of the hour before, and the present hour. Bounded: at most
 * `limits.incidentValuesMax` values, the heaviest ones.
 */
import { limits } from "../limits.js";

/** Minutes that a window has. */
export const windowMinutes = 5;
/** Complete bins of five minutes that are looked back at: an hour. */
const binsOfHour = 12;
/** Two more than an hour has: the window may touch two bins. */
const binsKept = binsOfHour + 2;

/** Counts of one value. Slots of minutes and bins are those of `ValueCounts`. */
class Counts {
  readonly totals = new Float64Array(windowMinutes);
  readonly suspicious = new Float64Array(windowMinutes);
  readonly bins = new Float64Array(binsKept);
  hour = 0;

  get inWindow(): number {
    return sumOf(this.totals);
  }

  get suspiciousInWindow(): number {
    return sumOf(this.suspicious);
  }

  get isEmpty(): boolean {
    return this.hour === 0 && sumOf(this.bins) === 0;
  }
}

function sumOf(numbers: Float64Array): number {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum;
}

/** A value whose window has many requests. */
export interface WindowCount {
  readonly key: string;
  readonly count: number;
  readonly suspicious: number;
  /** Median of the bins of the hour before the window, of those since the project's first request. */
  readonly hourMedian: number;
}

/** `minute` is a minute since the epoch; counts go to the present one, which `advance` sets. */
export class ValueCounts {
  readonly #values = new Map<string, Counts>();
  /** Of all requests of the project. */
  readonly #all = new Counts();
  #minute: number;
  #firstMinute: number;

  constructor(minute: number) {
    this.#minute = minute;
    this.#firstMinute = minute;
  }

  /** Values that are followed. */
  get size(): number {
    return this.#values.size;
  }

  /** The project had requests in the last hour. */
  get isBusy(): boolean {
    return this.#values.size > 0;
  }

  add(keys: readonly string[], isSuspicious: boolean, weight: number): void {
    const slot = this.#minute % windowMinutes;
    const bin = binOf(this.#minute) % binsKept;
    this.#count(this.#all, slot, bin, isSuspicious, weight);
    for (const key of keys) {
      let counts = this.#values.get(key);
      if (counts === undefined) {
        if (this.#values.size >= 2 * limits.incidentValuesMax) this.#forgetLightest();
        counts = new Counts();
        this.#values.set(key, counts);
      }
      this.#count(counts, slot, bin, isSuspicious, weight);
    }
  }

  #count(counts: Counts, slot: number, bin: number, isSuspicious: boolean, weight: number): void {
    counts.totals[slot]! += weight;
    if (isSuspicious) counts.suspicious[slot]! += weight;
    counts.bins[bin]! += weight;
    counts.hour += weight;
  }

  /** Requests of the project in the hour before the window. */
  get beforeWindow(): number {
    return this.#hourBins(this.#all).reduce((sum, each) => sum + each, 0);
  }

  /** The values with at least so many requests in the last five minutes, the present one included. */
  heavy(least: number): WindowCount[] {
    const found: WindowCount[] = [];
    for (const [key, counts] of this.#values) {
      const count = counts.inWindow;
      if (count < least) continue;
      found.push({ key, count, suspicious: counts.suspiciousInWindow, hourMedian: this.#hourMedian(counts) });
    }
    return found;
  }

  #hourMedian(counts: Counts): number {
    return median(this.#hourBins(counts));
  }

  /** The bins of the hour before the window, as far back as the project's first request. */
  #hourBins({ bins }: Counts): number[] {
    const before: number[] = [];
    const last = binOf(this.#minute - windowMinutes + 1) - 1;
    for (let bin = last; bin > last - binsOfHour && bin >= binOf(this.#firstMinute); bin--) {
      before.push(bins[bin % binsKept]!);
    }
    return before;
  }

  /** Counts of the present hour that a baseline can need, by value. */
  hourly(least: number): [key: string, count: number][] {
    const found: [string, number][] = [];
    for (const [key, { hour }] of this.#values) if (hour >= least) found.push([key, Math.round(hour)]);
    return found.sort((one, other) => other[1] - one[1]).slice(0, limits.incidentHourValuesMax);
  }

  /** Goes on from counts of the present hour that were stored before a restart. */
  resume(hourly: readonly (readonly [key: string, count: number])[]): void {
    for (const [key, count] of hourly) {
      const counts = this.#values.get(key) ?? new Counts();
      counts.hour += count;
      this.#values.set(key, counts);
    }
  }

  /** Ends minutes until the present one is `minute`. The caller stores `hourly` before an hour ends. A clock that went back begins anew. */
  advance(minute: number): void {
    if (minute < this.#minute - windowMinutes) {
      this.#values.clear();
      this.#clear(this.#all);
      this.#minute = minute;
      this.#firstMinute = minute;
      return;
    }
    if (minute <= this.#minute) return;
    const isNextHour = Math.floor(minute / 60) !== Math.floor(this.#minute / 60);
    const slots = new Set<number>();
    for (let each = Math.max(this.#minute + 1, minute - windowMinutes + 1); each <= minute; each++) {
      slots.add(each % windowMinutes);
    }
    const bins = new Set<number>();
    for (let each = Math.max(binOf(this.#minute) + 1, binOf(minute) - binsKept + 1); each <= binOf(minute); each++) {
      bins.add(each % binsKept);
    }
    for (const [key, counts] of [["", this.#all] as const, ...this.#values]) {
      for (const slot of slots) {
        counts.totals[slot] = 0;
        counts.suspicious[slot] = 0;
      }
      for (const bin of bins) counts.bins[bin] = 0;
      if (isNextHour) counts.hour = 0;
      if (key !== "" && (bins.size > 0 || isNextHour) && counts.isEmpty) this.#values.delete(key);
    }
    this.#minute = minute;
    if (this.#values.size > limits.incidentValuesMax) this.#forgetLightest();
  }

  #clear(counts: Counts): void {
    counts.totals.fill(0);
    counts.suspicious.fill(0);
    counts.bins.fill(0);
    counts.hour = 0;
  }

  /** Keeps the heaviest values of the last hour. */
  #forgetLightest(): void {
    const weights = [...this.#values].map(([key, counts]) => ({ key, weight: sumOf(counts.bins) + counts.hour }));
    weights.sort((one, other) => one.weight - other.weight);
    for (const { key } of weights.slice(0, Math.max(0, weights.length - limits.incidentValuesMax)))
      this.#values.delete(key);
  }
}

function binOf(minute: number): number {
  return Math.floor(minute / windowMinutes);
}

/** The middle of the numbers, the mean of the two middle ones; 0 of none. */
export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) return 0;
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
