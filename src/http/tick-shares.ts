/**
 * Limits how many requests of an address are answered at once in one tick of the event loop. uWebSockets processes all that is in a socket's buffer
 * before the next socket, so a few connections with thousands of pipelined requests would make all others wait for seconds. Connections can't be told
 * apart here, but addresses can. Requests beyond the share are answered in the next tick. By then, uWebSockets has closed the connections that
 * pipelined. A proxy or load test with thousands of connections and one request at a time on each loses none.
 */
import { limits } from "../limits.js";

/** One per HTTP thread; it is reset each tick. */
export class TickShares {
  #requests = 0;
  #number = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #endTick = (): void => {
    this.#requests = 0;
    this.#number++;
    if (this.#byAddress.size > 0) this.#byAddress.clear();
  };

  /** Of this tick, among those that had a request. */
  get number(): number {
    return this.#number;
  }

  /** Counts a request; false for one beyond its address's share. Calls `addressOf` only in a tick with more requests than sockets. */
  take(addressOf: () => string): boolean {
    if (this.#requests === 0) setImmediate(this.#endTick);
    this.#requests++;
    if (this.#requests <= limits.socketsPerTick) return true;
    const address = addressOf();
    const count = (this.#byAddress.get(address) ?? 0) + 1;
    this.#byAddress.set(address, count);
    return count <= limits.requestsPerTickMax;
  }
}
