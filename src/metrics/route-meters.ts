/** Requests by route, method and status, and how long they took: the RED set of one HTTP thread. */
import { performance } from "node:perf_hooks";
import { histogramCells, newCells, observe } from "./cells.js";

/** Of a request: from its headers to its answer. The first bounds are where a verdict read lies, 50 ms is its target at p99. */
export const requestBoundsMs = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 1000, 5000] as const;

/** Statuses that are counted by themselves; `aborted`: the client went before its answer. */
export const statusLabels = [
  "200",
  "201",
  "202",
  "204",
  "302",
  "304",
  "401",
  "402",
  "403",
  "404",
  "405",
  "409",
  "422",
  "500",
  "503",
  "aborted",
  "other",
] as const;

/** The status to count for a request whose client went away. */
const abortedStatus = 0;

const other = statusLabels.indexOf("other");
const cellOfStatus = new Uint8Array(600).fill(other);
for (const [index, label] of statusLabels.entries()) if (/^\d/.test(label)) cellOfStatus[Number(label)] = index;
cellOfStatus[abortedStatus] = statusLabels.indexOf("aborted");

const shape = { boundsMs: requestBoundsMs };
/** Cells of one route: statuses, then the histogram. */
export const routeCells = statusLabels.length + histogramCells(shape);

/** One row of the route table as metrics name it. `method` is `other` for requests that no row takes. */
export interface RouteLabel {
  readonly route: string;
  readonly method: string;
}

/** Counts the requests of one route. Its two calls cost about 80 ns together, nearly all of it the clock. */
class RouteMeter {
  readonly #cells: Float64Array;
  readonly #at: number;

  constructor(cells: Float64Array, at: number) {
    this.#cells = cells;
    this.#at = at;
  }

  /** When a request came, ms: to be handed to `finished`. */
  started(): number {
    return performance.now();
  }

  /** Counts a request that was answered (or `abortedStatus`). */
  finished(status: number, startedMs: number): void {
    this.#cells[this.#at + (cellOfStatus[status] ?? other)]!++;
    observe(this.#cells, this.#at + statusLabels.length, requestBoundsMs, performance.now() - startedMs);
  }
}

/** The meters of all routes of a thread. Threads with the same routes have the same layout. */
export class RouteMeters {
  readonly buffer: SharedArrayBuffer;
  readonly labels: readonly RouteLabel[];

  constructor(labels: readonly RouteLabel[]) {
    this.labels = labels;
    this.buffer = newCells(labels.length * routeCells);
  }

  /** The meter of a route. Throws for one that is not in the table. */
  of(method: string, route: string): RouteMeter {
    const index = this.labels.findIndex((label) => label.method === method && label.route === route);
    if (index < 0) throw new Error(`no meter for ${method} ${route}`);
    return new RouteMeter(new Float64Array(this.buffer), index * routeCells);
  }
}
