/**
 * One line a request, at level debug only: built around a route's meter, so that a server that logs no requests pays nothing.
 * Holds the route's pattern and not the path (which may hold a session token), and the network of the client, not its address.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { RequestMeter } from "./exchange.js";

/** What one line of the access log holds; `route` is the pattern, `durationMs` runs from the request to the end of its answer. */
export interface AccessEntry {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** 0: the client went before its answer. */
  readonly status: number;
  readonly durationMs: number;
  /** The client's network. */
  readonly network: string;
}

interface Accessed {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly res: HttpResponse;
}

/** One an HTTP thread, made only at level debug. */
export class AccessLog {
  readonly #write: (entry: AccessEntry) => void;
  readonly #networkOf: (address: string) => string;

  constructor(write: (entry: AccessEntry) => void, networkOf: (address: string) => string) {
    this.#write = write;
    this.#networkOf = networkOf;
  }

  /** A meter for one request that also writes its line. Call in the synchronous callback. */
  around(meter: RequestMeter, { requestId, method, route, res }: Accessed): RequestMeter {
    const address = Buffer.from(res.getRemoteAddressAsText()).toString("latin1");
    const network = this.#networkOf(address);
    return {
      started: () => meter.started(),
      finished: (status, started) => {
        meter.finished(status, started);
        const durationMs = Math.round((meter.started() - started) * 1000) / 1000;
        this.#write({ requestId, method, route, status, durationMs, network });
      },
    };
  }
}
