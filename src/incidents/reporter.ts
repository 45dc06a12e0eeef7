/**
 * Collects what one HTTP thread tells the detector. Runs on the path of the answer: up to `limits.incidentFactsOfSecond` requests a second are told one
 * by one; above that, one of each block of so many is told and stands for them all. Which one of them is drawn by chance: of two tools that take turns,
 * every second request would be one tool alone.
 */
import {
  type JudgedFacts,
  singleDimensions,
  type TrafficDimension,
  type TrafficObserver,
  valuesInOrder,
} from "../contract/traffic/traffic.js";
import { limits } from "../limits.js";
import type { CountedRequest } from "./counted-request.js";

/** One per HTTP thread. */
export class RequestReporter implements TrafficObserver {
  #requests: CountedRequest[] = [];
  #sinceMs = 0;
  /** Requests of this second: all, and those that were told. */
  #seen = 0;
  #told = 0;
  /** How many requests a block has, how many of them came, and after how many the one that is told comes. */
  #every = 1;
  #came = 0;
  #drawn = 0;
  readonly #random: () => number;

  /** `random`: from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * Each request is told with a chance of one in the size of its block, and counts for as many. So whatever the sizes become, and whoever comes before
   * or after it, it counts for one on average; a block that a new second cuts short is not made up for by the requests of that second.
   */
  onJudged(facts: JudgedFacts): void {
    const ageMs = facts.atMs - this.#sinceMs;
    if (ageMs >= 1000 || ageMs < 0) {
      const secondBefore = ageMs < 2000 ? this.#seen : 0;
      const every = Math.max(1, Math.ceil(secondBefore / limits.incidentFactsOfSecond));
      if (every !== this.#every) this.#came = 0;
      this.#every = every;
      this.#sinceMs = facts.atMs;
      this.#seen = 0;
      this.#told = 0;
    }
    this.#seen += facts.weight;
    const weight = this.#weightOf(facts.weight);
    if (weight === 0) return;
    this.#told++;
    if (this.#requests.length < limits.incidentEarlyMax) this.#requests.push(countedRequest(facts, weight));
  }

  /** As how many it is told, 0: it is not. One that stands for several is several of a block, or of more than one. */
  #weightOf(requests: number): number {
    let weight = 0;
    for (let left = requests; left > 0; ) {
      if (this.#came === 0) this.#beginBlock();
      const end = Math.min(this.#came + left, this.#every);
      if (this.#drawn >= this.#came && this.#drawn < end) weight += this.#every;
      left -= end - this.#came;
      this.#came = end === this.#every ? 0 : end;
    }
    return weight;
  }

  /** Only here blocks become larger within a second: after one was drawn, the rest of its block would count twice. */
  #beginBlock(): void {
    if (this.#told >= limits.incidentFactsOfSecond) {
      this.#every *= 2;
      this.#told = limits.incidentFactsOfSecond / 2;
    }
    this.#drawn = this.#every === 1 ? 0 : Math.floor(this.#random() * this.#every);
  }

  /** Returns what was collected since the last call. */
  take(): CountedRequest[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }
}

function countedRequest(facts: JudgedFacts, weight: number): CountedRequest {
  const { projectId, atMs, detectionIds, sessionToken, band, action, rule, isLoggedIn } = facts;
  const values: Partial<Record<TrafficDimension, string>> = {};
  for (const [index, value] of valuesInOrder(facts.values).entries()) {
    if (value !== "") values[singleDimensions[index]!] = value;
  }
  return {
    projectId,
    atMs,
    weight,
    values,
    detectionIds,
    hasSession: sessionToken !== null,
    band,
    action,
    isByRule: rule !== null,
    isLoggedIn,
  };
}
