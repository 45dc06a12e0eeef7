/**
 * Slows down who guesses account tokens: after some wrong ones from an address (IPv6: a /64), each further wrong one is answered later. Right ones
 * are never held back, so nobody behind the same address is locked out; the data plane does not come here.
 */
import { limits } from "../limits.js";

interface FailedAuths {
  count: number;
  readonly sinceMs: number;
}

/** One an HTTP thread; each counts for itself. */
export class FailedAuthThrottle {
  /** By source, the one that failed least recently first. */
  readonly #bySource = new Map<string, FailedAuths>();
  #held = 0;

  /** Counts a wrong token from this address as uWebSockets prints it; ms to wait before it is answered, most often 0. */
  delayMs(address: string, nowMs: number): number {
    const source = sourceOf(address);
    let failed = this.#bySource.get(source);
    if (failed === undefined || nowMs - failed.sinceMs >= limits.failedAuthWindowMs || nowMs < failed.sinceMs) {
      failed = { count: 0, sinceMs: nowMs };
    }
    // Sources must not fill the memory: beyond the bound the one that failed least recently is forgotten, and no other.
    this.#bySource.delete(source);
    this.#bySource.set(source, failed);
    if (this.#bySource.size > limits.failedAuthAddressesMax) this.#bySource.delete(this.#bySource.keys().next().value!);
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

/**
 * Whose failure it is: an IPv4 address, or the /64 of IPv6, which is the least that one customer gets. Takes IPv6 in full, with all
 * eight groups of four digits; other text stands for itself.
 */
function sourceOf(address: string): string {
  const isFull = address.length === 39 && !address.includes(".");
  if (!isFull || address.startsWith("0000:0000:0000:0000:0000:ffff:")) return address;
  return address.slice(0, 19);
}
