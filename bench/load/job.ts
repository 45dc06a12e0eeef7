/** What a load generator is told and what it reports. Both travel between processes as JSON. */
import type { TrafficSpec } from "./traffic-spec.js";

export interface LoadJob {
  readonly url: string;
  readonly traffic: TrafficSpec;
  /** `raw`: a lean socket client of the bench's own; `autocannon`: the well-known tool, for latencies. */
  readonly tool: "raw" | "autocannon";
  readonly connections: number;
  /** Requests of a connection in flight at once (closed loop). */
  readonly pipelining: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  /**
   * Requests a second, sent when they are due whether or not earlier ones are answered, each timed from when it was due: a stalled
   * server is seen stalled. 0: as fast as answers come. `raw` only.
   */
  readonly rate: number;
  /** The statuses that are no errors. */
  readonly statuses: readonly number[];
  /** What every 64th answer must hold, head or body; "" for anything. `raw` only. */
  readonly contains: string;
  /** Where the answers' session tokens are appended: a file's path. */
  readonly tokensTo?: string;
  /** Send so many requests and wait for their answers, however long it takes; absent: by time. Closed loop without warm-up. */
  readonly requestsMax?: number;
}

export interface LoadResult {
  readonly requests: number;
  /** Answers with status 204 or 503: batches shed and challenges refused under load. */
  readonly shed: number;
  readonly errors: number;
  /** Why, for the first of the errors; "" without one. */
  readonly firstError: string;
  readonly seconds: number;
  /** Milliseconds at the percentiles of `curve`. */
  readonly latencyMs: readonly number[];
  /** The generator's own CPU time, seconds. */
  readonly generatorCpuSeconds: number;
}

/** Lets those visitors of a crowd come who are not there yet: all, unless told how many. */
export function arrivalJob(
  url: string,
  traffic: Extract<TrafficSpec, { kind: "visits" }>,
  connections: number,
  comers = traffic.visitors,
): LoadJob {
  return {
    url,
    traffic: { ...traffic, arriving: true },
    tool: "raw",
    connections,
    pipelining: 1,
    warmUpMs: 0,
    durationMs: 0,
    rate: 0,
    statuses: [202],
    contains: "",
    requestsMax: comers,
  };
}

/** The same visitors' batches after their first contacts. */
export function withoutArrival<Spec extends { readonly arriving?: true }>({
  arriving: _,
  ...traffic
}: Spec): Omit<Spec, "arriving"> {
  return traffic;
}
