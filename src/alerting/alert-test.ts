/** Tells when a draft of an alert would have fired: from stored incidents, or from stored sessions by the time they began, and samples of requests. */

import type { Project } from "../contract/configuration/entities.js";
import type { AlertWhen, WhenCount } from "../contract/incidents/alerts.js";
import { minuteMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import type { Slices } from "../runtime/long-work.js";
import type { Store } from "../store/store.js";
import { alertingRowsOf } from "./alerting-rows.js";

/** From, inclusive, and until, exclusive; ms. */
export interface TestedRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** When an alert would have fired, ms, the earliest first. */
interface AlertTimes {
  readonly timesMs: readonly number[];
  readonly isCut: boolean;
  readonly evaluated: number;
}

/** What matched in the past: one call for each time with how many there were. */
export type PastMatches = (
  project: Project,
  when: WhenCount,
  range: TestedRange,
  onMatch: (atMs: number, count: number) => void,
  slices: Slices,
) => Promise<{ readonly evaluated: number } | "aborted">;

/** What a test reads. */
export interface AlertTestServices {
  readonly store: Store;
  readonly pastMatches: PastMatches;
}

/** Returns null when whoever asked has gone. The expression must compile. */
export async function testAlert(
  { store, pastMatches }: AlertTestServices,
  project: Project,
  when: AlertWhen,
  range: TestedRange,
  slices: Slices,
): Promise<AlertTimes | null> {
  if ("incident" in when) {
    const times = alertingRowsOf(store, "incident", project.id).map(({ startedAt }) => Date.parse(startedAt));
    return spaced(times, range, times.length);
  }
  const ofMinutes = new Map<number, number>();
  const onMatch = (atMs: number, count: number): void => {
    const minute = Math.floor(atMs / minuteMs);
    ofMinutes.set(minute, (ofMinutes.get(minute) ?? 0) + count);
  };
  const earlier = { fromMs: range.fromMs - when.minutes * minuteMs, untilMs: range.untilMs };
  const found = await pastMatches(project, when, earlier, onMatch, slices);
  if (found === "aborted") return null;
  return spaced(timesOf(ofMinutes, when), range, found.evaluated);
}

/** The ends of the minutes in which the count of the last `minutes` was reached. */
function timesOf(ofMinutes: ReadonlyMap<number, number>, { count, minutes }: WhenCount): number[] {
  const times: number[] = [];
  const counted = [...ofMinutes.keys()].sort((one, other) => one - other);
  let sum = 0;
  let first = 0;
  for (const [at, minute] of counted.entries()) {
    sum += ofMinutes.get(minute)!;
    while (counted[first]! <= minute - minutes) sum -= ofMinutes.get(counted[first++]!)!;
    if (sum < count) continue;
    // It stays reached until enough of it is too old, or the next minute with matches.
    let left = sum;
    let oldest = first;
    let until = minute;
    const next = counted[at + 1] ?? Number.POSITIVE_INFINITY;
    while (left >= count && oldest <= at) {
      until = counted[oldest]! + minutes - 1;
      left -= ofMinutes.get(counted[oldest++]!)!;
    }
    for (let each = minute; each <= until && each < next; each++) times.push((each + 1) * minuteMs);
  }
  return times;
}

/** Those in the range, at least `limits.alertEveryMs` apart. */
function spaced(times: readonly number[], { fromMs, untilMs }: TestedRange, evaluated: number): AlertTimes {
  const timesMs: number[] = [];
  for (const time of [...times].sort((one, other) => one - other)) {
    if (time < fromMs || time >= untilMs || time - (timesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < limits.alertEveryMs)
      continue;
    timesMs.push(time);
  }
  const max = limits.alertTestTimesMax;
  return { timesMs: timesMs.slice(0, max), isCut: timesMs.length > max, evaluated };
}
