/** What five minutes of a value usually have, by earlier hours: those of the same hour of the week, where there are none of the same hour of the day. */
import { median } from "./value-counts.js";

/** Counts of one hour by value; those that are too few to matter are left out. */
export type HourOfCounts = readonly (readonly [key: string, count: number])[];

/** Counts of a project's hours; an hour is since the epoch. */
export interface BaselineHours {
  /** Undefined for an hour of which nothing was stored. */
  read(projectId: number, hour: number): HourOfCounts | undefined;
  /** Replaces what is stored of the hour, and may remove hours that no baseline needs. Rejects when the store can't be written. */
  write(projectId: number, hour: number, counts: HourOfCounts): Promise<void>;
}

const hoursOfDay = 24;
const hoursOfWeek = 7 * hoursOfDay;
const weeks = 4;
/** Hours back of the oldest one that a baseline needs. */
export const baselineHoursBack = weeks * hoursOfWeek;
/** Five-minute pieces of an hour. */
const piecesOfHour = 12;

/** Returns the usual count of five minutes in this hour by value: a map, 0 for all others. */
export function usualCounts(hours: BaselineHours, projectId: number, hour: number): Map<string, number> {
  const steps = (step: number, count: number) =>
    Array.from({ length: count }, (_, index) => hours.read(projectId, hour - step * (index + 1))).filter(
      (each) => each !== undefined,
    );
  let found = steps(hoursOfWeek, weeks);
  if (found.length === 0) found = steps(hoursOfDay, 6);
  if (found.length === 0) found = steps(1, hoursOfDay);
  const counts = new Map<string, number[]>();
  for (const [index, each] of found.entries()) {
    for (const [key, count] of each) {
      const of = counts.get(key) ?? Array<number>(found.length).fill(0);
      of[index] = count;
      counts.set(key, of);
    }
  }
  const usual = new Map<string, number>();
  for (const [key, of] of counts) {
    const count = median(of) / piecesOfHour;
    if (count > 0) usual.set(key, count);
  }
  return usual;
}
