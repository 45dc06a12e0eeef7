/**
 * Collects what one HTTP thread tells the detector. Runs on the path of the answer: up to `limits.incidentFactsOfSecond` requests a second are told one
 * by one; above that, each told one stands for as many as were left out. Which one is told is drawn by chance: of two tools that take turns, every second
 * request would be one tool alone.
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
  /** One of how many is told, how many come until the next one, and how many came since the last one. */
  #every = 1;
  #gap = 1;
  #leftOut = 0;
  readonly #random: () => number;

  /** `random`: from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  onJudged(facts: JudgedFacts): void {
    const ageMs = facts.atMs - this.#sinceMs;
    if (ageMs >= 1000 || ageMs < 0) {
      this.#every = Math.max(1, Math.ceil(this.#seen / limits.incidentFactsOfSecond));
      this.#sinceMs = facts.atMs;
      this.#gap = Math.min(this.#gap, this.#every);
      this.#seen = 0;
      this.#told = 0;
    }
    this.#seen += facts.weight;
    this.#leftOut += facts.weight;
    if (this.#leftOut < this.#gap) return;
    if (this.#told >= limits.incidentFactsOfSecond) {
      this.#every *= 2;
      this.#told = limits.incidentFactsOfSecond / 2;
    }
    this.#told++;
    if (this.#requests.length < limits.incidentEarlyMax) this.#requests.push(countedRequest(facts, this.#leftOut));
    this.#leftOut = 0;
    this.#gap = this.#nextGap();
  }

  /** From 1 to twice `#every` less one, which it is on average. */
  #nextGap(): number {
    return this.#every === 1 ? 1 : 1 + Math.floor(this.#random() * (2 * this.#every - 1));
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
