/** What the services of one HTTP thread count (ingest, verdicts, blocks) and the state they show (queue, DNS, event loop). */
import { performance } from "node:perf_hooks";
import { type Action, actions, type Band, bands, type VerdictSubject } from "../contract/verdicts/verdict.js";
import { histogramCells, newCells, observe } from "./cells.js";

/** From a batch's arrival at the queue to its commit. */
export const lagBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** Where an answer came from: `fail_open` is the body of a session without a verdict, and of a failure. */
export const verdictSources = ["computed", "cached", "fail_open"] as const;
/** Value of the label `source`. */
type VerdictSourceLabel = (typeof verdictSources)[number];

/** Counters and gauges by name; the order is the layout. */
const names = [
  "eventsAccepted",
  "eventsDuplicate",
  "batchesAccepted",
  "batchesDuplicate",
  "batchesSampled",
  "batchesShed",
  "batchesFailed",
  "batchesUnavailable",
  "batchesNoRoom",
  "contactsShed",
  "blocksRecorded",
  "blocksFailed",
  "eventLogDropped",
  "verdictFailures",
  "verdictsUnanswered",
  "verdictsOverRuleBudget",
  "backtestsDone",
  "backtestsAborted",
  "backtestsRefused",
  "backtestSessions",
  "queueBatches",
  "queueBytes",
  "queueTasks",
  "ready",
  "loopDelayP50Ms",
  "loopDelayP99Ms",
  "loopDelayMaxMs",
  "dnsCached",
  "dnsActive",
  "dnsWaiting",
  "dnsLookups",
  "dnsFailures",
  "dnsDropped",
  "signaturesVerified",
  "signaturesUnverified",
  "signaturesInvalid",
  "signaturesShed",
  "signaturesForeign",
  "noncesForgotten",
  "agentFetches",
  "agentFetchFailures",
  "requestsCut",
  "requestsOver",
  "requestsIgnored",
  "clusterRoundTrips",
  "clusterRetries",
  "clusterDeadlineMisses",
  "clusterAcknowledgementsMissing",
] as const;
/** A counter or gauge of an HTTP thread by its name. */
export type ServiceCell = (typeof names)[number];

const indexOf = Object.fromEntries(names.map((name, index) => [name, index])) as Record<ServiceCell, number>;

const indices = <T extends string>(list: readonly T[], step: number): Record<T, number> =>
  Object.fromEntries(list.map((name, index) => [name, index * step])) as Record<T, number>;
const bandStep = indices(bands, actions.length * verdictSources.length);
const actionStep = indices(actions, verdictSources.length);
const sourceStep = indices(verdictSources, 1);

/** Bands and actions without the source: such an answer is always computed. */
const requestCell = (band: Band, action: Action): number =>
  (bandStep[band] + actionStep[action]) / verdictSources.length;

const verdictsAt = names.length;
const lagAt = verdictsAt + bands.length * actions.length * verdictSources.length;
const requestsAt = lagAt + histogramCells({ boundsMs: lagBoundsMs });
/** How many cells a thread has: names, verdicts by band, action and source, the lag histogram, verdicts on requests. */
export const serviceCells = requestsAt + bands.length * actions.length;

const backtestCells = { done: "backtestsDone", aborted: "backtestsAborted", refused: "backtestsRefused" } as const;

/** What became of a batch that was at the workers. */
interface BatchOutcome {
  readonly accepted: number;
  readonly duplicates: number;
}

/** What the services of one HTTP thread count into, in `buffer`; `ServiceReading` reads it. Durations are in ms. */
export class ServiceMeters {
  readonly buffer = newCells(serviceCells);
  readonly #cells = new Float64Array(this.buffer);

  add(name: ServiceCell, count = 1): void {
    this.#cells[indexOf[name]]! += count;
  }

  /** For `rule-backtest.ts`. */
  readonly backtests = {
    evaluated: (): void => this.add("backtestSessions"),
    ended: (how: keyof typeof backtestCells): void => this.add(backtestCells[how]),
  };

  set(name: ServiceCell, value: number): void {
    this.#cells[indexOf[name]] = value;
  }

  countVerdict(band: Band, action: Action, source: VerdictSourceLabel, subject: VerdictSubject): void {
    this.#cells[verdictsAt + bandStep[band] + actionStep[action] + sourceStep[source]]!++;
    if (subject === "request") this.#cells[requestsAt + requestCell(band, action)]!++;
  }

  /** A committed batch. One without any event of its own counts as nothing. */
  countBatch({ accepted, duplicates }: BatchOutcome): void {
    const cells = this.#cells;
    cells[indexOf.eventsAccepted]! += accepted;
    cells[indexOf.eventsDuplicate]! += duplicates;
    if (accepted > 0) cells[indexOf.batchesAccepted]!++;
    else if (duplicates > 0) cells[indexOf.batchesDuplicate]!++;
  }

  /** Now, ms, on the clock of `observeLag`. */
  now(): number {
    return performance.now();
  }

  observeLag(ms: number): void {
    observe(this.#cells, lagAt, lagBoundsMs, ms);
  }
}

/** Reads one thread's cells, or the sum of all threads'. */
export class ServiceReading {
  readonly #cells: Float64Array;

  constructor(cells: Float64Array) {
    this.#cells = cells;
  }

  get(name: ServiceCell): number {
    return this.#cells[indexOf[name]]!;
  }

  verdicts(band: Band, action: Action, source: VerdictSourceLabel): number {
    return this.#cells[verdictsAt + bandStep[band] + actionStep[action] + sourceStep[source]]!;
  }

  /** Of these those on requests without a scored session. */
  requestVerdicts(band: Band, action: Action): number {
    return this.#cells[requestsAt + requestCell(band, action)]!;
  }

  /** The cells of the lag histogram. */
  lag(): Float64Array {
    return this.#cells.subarray(lagAt, requestsAt);
  }
}
