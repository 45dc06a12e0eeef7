/**
 * How many requests each address may have answered at once in one tick of the event loop. uWebSockets answers all that lies in a socket's buffer
 * before anybody else's turn, so a few connections with thousands of pipelined requests would keep everybody waiting for seconds. Connections can't
 * be told apart here, addresses can. Those beyond the share are answered in the next tick, by when uWebSockets has closed the connections that
 * pipelined: a proxy, or a load test, with thousands of connections and one request at a time on each loses none.
 */
import { limits } from "../limits.js";

/** One an HTTP thread; begins anew each tick. */
export class TickShares {
  #requests = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #endTick = (): void => {
    this.#requests = 0;
    if (this.#byAddress.size > 0) this.#byAddress.clear();
  };

  /** Counts a request; false for one beyond its address's share. `addressOf` is asked only in a tick with more requests than sockets. */
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
