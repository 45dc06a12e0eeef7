/**
 * Gives answers at the end of a tick of the event loop that has many. Sending an answer wakes whoever waits for it on this machine, which takes the kernel
 * longer than the rest of sending; answers that follow at once wake nobody.
 *
 * uWebSockets closes a connection whose next request comes before the answer, so no answer waits where requests are pipelined. Connections can't be told
 * apart here: more answers in a tick than connections are a sign of it, and a connection that ends with its answer ready is another. Answers wait only
 * after many busy ticks without a sign, since whoever pipelines gives one soon.
 */
import { limits } from "../limits.js";

/** One per HTTP thread. */
export class TickEnd {
  #waiting: (() => void)[] = [];
  /** Of the tick at hand: its number, its answers so far, and the connections that were open at the first of them. */
  #tick = -1;
  #answers = 0;
  #connections = 0;
  /** Busy ticks in a row without a sign of pipelining. */
  #plainTicks = 0;
  readonly #giveAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const give of waiting) give();
  };

  /** Counts an answer; true if it may wait, in the tick of this number and with so many open connections. */
  takes(tick: number, connections: number): boolean {
    if (tick !== this.#tick) {
      this.#tick = tick;
      this.#answers = 0;
      this.#connections = connections;
    }
    this.#answers++;
    if (this.#answers <= limits.answersAtOnce) return false;
    if (this.#answers > Math.max(this.#connections, connections)) this.startAnew();
    else if (this.#answers === limits.answersAtOnce + 1) this.#plainTicks++;
    return this.#plainTicks > limits.plainTicksMin;
  }

  /** Calls `give` at the end of this tick; it must not throw. */
  add(give: () => void): void {
    if (this.#waiting.length === 0) setImmediate(this.#giveAll);
    this.#waiting.push(give);
  }

  /** Some client pipelines, or seems to. */
  startAnew(): void {
    this.#plainTicks = 0;
  }
}
