/** Counts of matching verdicts by minute, for alerts with an expression: a day of them. */
import { minuteMs } from "../contract/values/durations.js";
import type { AlertMatches } from "./alert-matcher.js";

/** The longest range of an alert. */
const minutesKept = 1440;

interface Minutes {
  readonly counts: Uint32Array;
  /** The latest minute counted, since the epoch. */
  latest: number;
}

/** One per node. */
export class AlertCounts {
  readonly #ofAlerts = new Map<number, Minutes>();

  /** Of the present minute, or of the one before, which another node told of late. */
  add(matches: readonly AlertMatches[], atMs: number): void {
    const minute = Math.floor(atMs / minuteMs);
    for (const { alertId, count } of matches) {
      let minutes = this.#ofAlerts.get(alertId);
      if (minutes === undefined) {
        minutes = { counts: new Uint32Array(minutesKept), latest: minute };
        this.#ofAlerts.set(alertId, minutes);
      }
      advance(minutes, minute);
      minutes.counts[minute % minutesKept]! += count;
    }
  }

  /** Matches of the last `minutes`, the present one included. */
  sum(alertId: number, minutes: number, nowMs: number): number {
    const found = this.#ofAlerts.get(alertId);
    if (found === undefined) return 0;
    const minute = Math.floor(nowMs / minuteMs);
    advance(found, minute);
    let sum = 0;
    for (let at = found.latest; at > found.latest - minutes && at > minute - minutes; at--) {
      sum += found.counts[at % minutesKept]!;
    }
    return sum;
  }

  /** Forgets all alerts but these. */
  keep(alertIds: ReadonlySet<number>): void {
    for (const id of this.#ofAlerts.keys()) if (!alertIds.has(id)) this.#ofAlerts.delete(id);
  }
}

/** A clock that was set back by more than a minute begins anew. */
function advance(minutes: Minutes, minute: number): void {
  if (minute < minutes.latest - 1 || minute >= minutes.latest + minutesKept) minutes.counts.fill(0);
  else for (let at = minutes.latest + 1; at <= minute; at++) minutes.counts[at % minutesKept] = 0;
  if (minute < minutes.latest - 1 || minute > minutes.latest) minutes.latest = minute;
}
