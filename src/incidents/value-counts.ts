/**
 * Counts of one project by value: the last five minutes, five-minute bins of the hour before, and the present hour. Bounded: at most
 * `limits.incidentValuesMax` values, the heaviest ones.
 */
import { limits } from "../limits.js";
import type { Sliced } from "./sliced.js";

/** Minutes that a window has. */
export const windowMinutes = 5;
/** Complete bins of five minutes that are looked back at: an hour. */
const binsOfHour = 12;
/** Two more than an hour has: the window may touch two bins. */
const binsKept = binsOfHour + 2;

/** Where a row has what: requests and suspicious ones by minute, requests by bin, requests of the present hour. Slots are those of `ValueCounts`. */
const suspiciousAt = windowMinutes;
const binsAt = 2 * windowMinutes;
const hourAt = binsAt + binsKept;
const rowNumbers = hourAt + 1;
/** Rows at first, and how many times as many whenever they are full: memory that is not written to yet costs nothing, copying does. */
const rowsAtFirst = 64;
const rowsGrowth = 8;

/** Rows of numbers in one array: an object with three arrays for each value costs the path of the answer four times as much. Row 0 is of all requests. */
class CountRows {
  numbers = new Uint32Array(rowsAtFirst * rowNumbers);
  readonly #free: number[] = [];
  #used = 1;

  /** The beginning of an empty row. */
  add(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const at = this.#used++ * rowNumbers;
    if (at >= this.numbers.length) {
      const grown = new Uint32Array(rowsGrowth * this.numbers.length);
      grown.set(this.numbers);
      this.numbers = grown;
    }
    return at;
  }

  remove(at: number): void {
    this.clear(at);
    this.#free.push(at);
  }

  clear(at: number): void {
    this.numbers.fill(0, at, at + rowNumbers);
  }

  sum(from: number, count: number): number {
    const { numbers } = this;
    let sum = 0;
    for (let at = from; at < from + count; at++) sum += numbers[at]!;
    return sum;
  }

  /** Weight of a row in the last hour. */
  weight(at: number): number {
    return this.sum(at + binsAt, binsKept + 1);
  }
}

/** A value whose window has many requests. */
export interface WindowCount {
  readonly key: string;
  readonly count: number;
  readonly suspicious: number;
  /** Median of the bins of the hour before the window, since the project's first request; the bin that this came in counts as a whole one would. */
  readonly hourMedian: number;
}

/** `minute` is a minute since the epoch; counts go to the present one, which `advance` sets. */
export class ValueCounts {
  /** Where the row of each value begins. */
  readonly #values = new Map<string, number>();
  #rows = new CountRows();
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
    const bin = binsAt + (binOf(this.#minute) % binsKept);
    this.#count(allAt, slot, bin, isSuspicious, weight);
    for (const key of keys) {
      let at = this.#values.get(key);
      if (at === undefined) {
        if (this.#values.size >= 2 * limits.incidentValuesMax) for (const _ of this.#forgetLightest());
        at = this.#rows.add();
        this.#values.set(key, at);
      }
      this.#count(at, slot, bin, isSuspicious, weight);
    }
  }

  #count(at: number, slot: number, bin: number, isSuspicious: boolean, weight: number): void {
    const { numbers } = this.#rows;
    numbers[at + slot]! += weight;
    if (isSuspicious) numbers[at + suspiciousAt + slot]! += weight;
    numbers[at + bin]! += weight;
    numbers[at + hourAt]! += weight;
  }

  /** Requests of the project in the hour before the window. */
  get beforeWindow(): number {
    return this.#binsBefore().reduce((sum, bin) => sum + this.#rows.numbers[slotOf(allAt, bin)]!, 0);
  }

  /** The values with at least so many requests in the last five minutes, the present one included. */
  *heavy(least: number): Sliced<WindowCount[]> {
    const found: WindowCount[] = [];
    const bins = this.#binsBefore();
    let looked = 0;
    for (const [key, at] of this.#values) {
      if (++looked % valuesOfSlice === 0) yield;
      const count = this.#rows.sum(at, windowMinutes);
      if (count < least) continue;
      const suspicious = this.#rows.sum(at + suspiciousAt, windowMinutes);
      found.push({ key, count, suspicious, hourMedian: this.#medianOf(at, bins) });
    }
    return found;
  }

  /** The bins of the hour before the window, as far back as the first whole minute after the project's first request. */
  #binsBefore(): number[] {
    const bins: number[] = [];
    const last = binOf(this.#minute - windowMinutes + 1) - 1;
    for (let bin = last; bin > last - binsOfHour && bin >= binOf(this.#firstMinute + 1); bin--) bins.push(bin);
    return bins;
  }

  #medianOf(at: number, bins: readonly number[]): number {
    const first = this.#firstMinute;
    const firstShare = (windowMinutes - (first % windowMinutes)) / windowMinutes;
    return median(bins.map((bin) => this.#rows.numbers[slotOf(at, bin)]! / (bin === binOf(first) ? firstShare : 1)));
  }

  /** Counts of the present hour that a baseline can need, by value. */
  hourly(least: number): [key: string, count: number][] {
    const found: [string, number][] = [];
    for (const [key, at] of this.#values) {
      const hour = this.#rows.numbers[at + hourAt]!;
      if (hour >= least) found.push([key, Math.round(hour)]);
    }
    return found.sort((one, other) => other[1] - one[1]).slice(0, limits.incidentHourValuesMax);
  }

  /** Goes on from counts of the present hour that were stored before a restart. */
  resume(hourly: readonly (readonly [key: string, count: number])[]): void {
    for (const [key, count] of hourly) {
      const at = this.#values.get(key) ?? this.#rows.add();
      this.#rows.numbers[at + hourAt]! += count;
      this.#values.set(key, at);
    }
  }

  /** Ends minutes until the present one is `minute`. The caller stores `hourly` before an hour ends. A clock that went back begins anew. In slices, as `heavy`. */
  *advance(minute: number): Sliced<void> {
    if (minute < this.#minute - windowMinutes) {
      this.#values.clear();
      this.#rows = new CountRows();
      this.#minute = minute;
      this.#firstMinute = minute;
      return;
    }
    if (minute <= this.#minute) return;
    const isNextHour = Math.floor(minute / 60) !== Math.floor(this.#minute / 60);
    // Numbers of a row that begin anew.
    const ended: number[] = isNextHour ? [hourAt] : [];
    for (let each = Math.max(this.#minute + 1, minute - windowMinutes + 1); each <= minute; each++) {
      ended.push(each % windowMinutes, suspiciousAt + (each % windowMinutes));
    }
    const firstBin = Math.max(binOf(this.#minute) + 1, binOf(minute) - binsKept + 1);
    for (let each = firstBin; each <= binOf(minute); each++) ended.push(binsAt + (each % binsKept));
    const mayEmpty = isNextHour || firstBin <= binOf(minute);
    this.#end(allAt, ended);
    let looked = 0;
    for (const [key, at] of this.#values) {
      if (++looked % valuesOfSlice === 0) yield;
      this.#end(at, ended);
      if (!mayEmpty || this.#rows.weight(at) !== 0) continue;
      this.#values.delete(key);
      this.#rows.remove(at);
    }
    this.#minute = minute;
    yield* this.#forgetLightest();
  }

  #end(at: number, ended: readonly number[]): void {
    const { numbers } = this.#rows;
    for (let index = 0; index < ended.length; index++) numbers[at + ended[index]!] = 0;
  }

  /** Keeps the heaviest values of the last hour; of equals those that came first go. */
  *#forgetLightest(): Sliced<void> {
    if (this.#values.size <= limits.incidentValuesMax) return;
    const weights = new Float64Array(this.#values.size);
    let count = 0;
    for (const at of this.#values.values()) {
      weights[count++] = this.#rows.weight(at);
      if (count % valuesOfSlice === 0) yield;
    }
    weights.sort();
    yield;
    let left = weights.length - limits.incidentValuesMax;
    const bound = weights[left - 1]!;
    const below = weights.indexOf(bound);
    let equals = left - below;
    let looked = 0;
    for (const [key, at] of this.#values) {
      if (left === 0) return;
      if (++looked % valuesOfSlice === 0) yield;
      const weight = this.#rows.weight(at);
      if (weight > bound || (weight === bound && equals-- <= 0)) continue;
      left--;
      this.#values.delete(key);
      this.#rows.remove(at);
    }
  }
}

/** Values that are looked at in a slice: under a millisecond. */
const valuesOfSlice = 1000;
/** The row of all requests. */
const allAt = 0;

/** Where a row has the count of a bin. */
function slotOf(at: number, bin: number): number {
  return at + binsAt + (bin % binsKept);
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
