/**
 * Slows down guessing of account tokens: after some wrong tokens from an address (IPv6: a /64), each further wrong one is answered later. Right tokens
 * are never delayed, so nobody behind the same address is locked out. The data plane does not use this.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../limits.js";
import { subscriberNetwork } from "../net/network.js";

interface FailedAuths {
  count: number;
  readonly sinceMs: number;
}

/** One per HTTP thread; each thread counts separately. */
export class FailedAuthThrottle {
  /** By source. They must not fill the memory: beyond the bound, only the one with the oldest failure is forgotten. */
  readonly #bySource = new LRUCache<string, FailedAuths>({ max: limits.failedAuthAddressesMax });
  #held = 0;

  /** Counts a wrong token from this address. Returns the delay of the answer, ms; usually 0. */
  delayMs(address: string, nowMs: number): number {
    const source = subscriberNetwork(address);
    let failed = this.#bySource.get(source);
    if (failed === undefined || nowMs - failed.sinceMs >= limits.failedAuthWindowMs || nowMs < failed.sinceMs) {
      failed = { count: 0, sinceMs: nowMs };
    }
    this.#bySource.set(source, failed);
    failed.count++;
    return failed.count > limits.failedAuthsFree && this.#held < limits.failedAuthsHeldMax
      ? limits.failedAuthDelayMs
      : 0;
  }

  /** Runs `answer` now, or after the delay. */
  hold(delayMs: number, answer: () => void): void {
    if (delayMs === 0) {
      answer();
      return;
    }
    this.#held++;
    setTimeout(() => {
      this.#held--;
      answer();
    }, delayMs);
  }
}
