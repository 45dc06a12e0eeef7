/**
 * Slows down who guesses account tokens: after some wrong ones from an address, each further wrong one is answered later. Right ones
 * are never held back, so nobody behind the same address is locked out; the data plane does not come here.
 */
import { limits } from "../limits.js";

interface Guesses {
  count: number;
  readonly sinceMs: number;
}

export class GuessDelay {
  readonly #byAddress = new Map<string, Guesses>();
  #held = 0;

  /** Counts a wrong guess; ms to wait before it is answered, most often 0. */
  delayMs(address: string, nowMs: number): number {
    let guesses = this.#byAddress.get(address);
    if (guesses === undefined || nowMs - guesses.sinceMs >= limits.guessWindowMs || nowMs < guesses.sinceMs) {
      // Addresses must not fill the memory: a full memo starts anew.
      if (this.#byAddress.size >= limits.guessAddressesMax) this.#byAddress.clear();
      guesses = { count: 0, sinceMs: nowMs };
      this.#byAddress.set(address, guesses);
    }
    guesses.count++;
    return guesses.count > limits.guessesFree && this.#held < limits.guessesHeldMax ? limits.guessDelayMs : 0;
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
