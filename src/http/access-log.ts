/**
 * Logs one line per request, at level debug only. It wraps a route's meter, so a server that logs no requests pays nothing. A line has the route's
 * pattern instead of the path (which may hold a session token), and the client's network instead of its address.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { RequestMeter } from "./exchange.js";

/** One line of the access log. `route` is the pattern; `durationMs` runs from the request to the end of its answer. */
interface AccessEntry {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** 0 means that the client left before its answer. */
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

/** One per HTTP thread; exists only at level debug. */
export class AccessLog {
  readonly #write: (entry: AccessEntry) => void;
  readonly #networkOf: (address: string) => string;

  constructor(write: (entry: AccessEntry) => void, networkOf: (address: string) => string) {
    this.#write = write;
    this.#networkOf = networkOf;
  }

  /** Returns a meter for one request that also writes its line. Call in the synchronous callback. */
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
