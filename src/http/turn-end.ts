/**
 * Gives answers at the end of a turn of the event loop where it has many. To send an answer wakes whoever waits for it on this machine, which takes the
 * kernel longer than all else of sending; who was woken is awake for the next ones, if they come at once.
 *
 * uWebSockets closes a connection whose next request comes before the answer, so nothing waits where requests are pipelined. Connections can't be told
 * apart here: more requests in a turn than connections are a sign of it, and a client that leaves with its answer ready is another.
 */
import { limits } from "../limits.js";

/** One per HTTP thread. */
export class TurnEnd {
  #waiting: (() => void)[] = [];
  /** Until when all answers are given at once, ms, on the clock of `performance`. */
  #offUntilMs = 0;
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const give of waiting) give();
  };

  /** Whether an answer may wait, with so many requests in this turn, its own among them, and open connections. */
  isOpen(requests: number, connections: number): boolean {
    if (requests <= limits.answersAtOnce) return false;
    if (requests > connections) this.closeForLong();
    return this.#offUntilMs === 0 || performance.now() >= this.#offUntilMs;
  }

  /** Calls `give` at the end of this turn; it must not throw. */
  add(give: () => void): void {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    this.#waiting.push(give);
  }

  /** Some client pipelines, or seems to. */
  closeForLong(): void {
    this.#offUntilMs = performance.now() + limits.answersAtOnceMs;
  }
}
