/**
 * Which verdicts are counted by value. All of them, until a project has so many of one kind in an hour that fewer tell the same: then one of 2, later of 4
 * and of 8, at random, counts for all since the one before it. What is not simply allowed, and whatever proves or claims to be a bot, is always counted.
 */
import { type Band, bands, type VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { hourOf } from "../store/keys.js";

/** The allowed verdicts of one project, subject and band in the present hour. */
interface Kind {
  readonly projectId: number;
  readonly subject: VerdictSubject;
  readonly band: Band;
  seen: number;
  /** Since the last one that was counted. */
  left: number;
  /** How many stand for one. */
  next: number;
}

/** One per HTTP thread. */
export class CountedShare {
  readonly #random: () => number;
  readonly #kinds = new Map<number, Kind>();
  #hour = 0;
  #last: Kind | null = null;

  /** `random`: numbers in [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** For how many allowed verdicts of its kind this one stands; 0: it is left out. All that were left out are in the next one's, but for the last of an hour. */
  weightOf(projectId: number, subject: VerdictSubject, band: Band, atMs: number): number {
    const kind = this.#kindOf(projectId, subject, band, atMs);
    kind.seen++;
    if (++kind.left < kind.next) return 0;
    const weight = kind.left;
    kind.left = 0;
    // Whole numbers from 1 to 2 * every - 1, so `every` on average, and no rhythm of the traffic's own is met again and again.
    const every = everyOf(kind.seen);
    kind.next = every === 1 ? 1 : 1 + Math.floor(this.#random() * (2 * every - 1));
    return weight;
  }

  #kindOf(projectId: number, subject: VerdictSubject, band: Band, atMs: number): Kind {
    const hour = hourOf(atMs);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#kinds.clear();
      this.#last = null;
    }
    const last = this.#last;
    // Most verdicts are like the one before.
    if (last?.projectId === projectId && last.band === band && last.subject === subject) return last;
    const key = (projectId * bands.length + bands.indexOf(band)) * 2 + (subject === "session" ? 1 : 0);
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      kind = { projectId, subject, band, seen: 0, left: 0, next: 1 };
      this.#kinds.set(key, kind);
    }
    this.#last = kind;
    return kind;
  }
}

/** How many verdicts one stands for after so many of its kind. */
function everyOf(seen: number): number {
  let every = 1;
  for (let from = limits.trafficCountedMax; seen >= from && every < limits.trafficEveryMax; from *= 2) every *= 2;
  return every;
}

/**
 * By how much the count of a value may be wrong, four standard deviations: `spread` is the sum of `weight * (weight - 1)` of the verdicts that were counted,
 * `share` the value's own of all (0.5: the worst). Of `weight` verdicts that one stands for, each has the value by itself: a variance of
 * share * (1 - share) for each, and `weight` times that for the one that is taken `weight` times.
 */
export function errorOfCount(spread: number, share = 0.5): number {
  return 4 * Math.sqrt(spread * share * (1 - share));
}
