/** Tells the HTTP thread, whose log it is, that a scoring thread refuses batches since the cluster fails, and that it takes them again. */
import { ClusterError } from "../cluster/cluster-error.js";
import type { ClusterMeters } from "../cluster/cluster-meters.js";
import { Refusal, UnavailableError } from "../errors.js";
import { reasonOf } from "./fault-line.js";
import { isOutageOpen, type OutageLog } from "./outage-log.js";

/** What a scoring thread says: why it refuses batches; null: it takes them. */
export interface BatchNews {
  readonly refusedBatches: string | null;
}

/** Least time between two messages: one a task would be too many. */
const newsEveryMs = 500;

/** One a scoring thread of a cluster. */
export class RefusedBatches {
  readonly #meters: ClusterMeters;
  readonly #outage: SharedArrayBuffer;
  readonly #tell: (news: BatchNews) => void;
  #fault: string | null = null;
  /** Of the meters, when the last task ended. */
  #missing = 0;
  #saidMs = Number.NEGATIVE_INFINITY;

  /** `outage`: that of the log which `tell` reaches. */
  constructor(meters: ClusterMeters, outage: SharedArrayBuffer, tell: (news: BatchNews) => void) {
    this.#meters = meters;
    this.#outage = outage;
    this.#tell = tell;
  }

  /** A question to the cluster failed. */
  failed(error: unknown): void {
    if (error instanceof ClusterError) this.#fault = reasonOf(error);
  }

  /** The outcomes of a task. */
  answered(outcomes: readonly object[]): void {
    const { acknowledgementsMissing } = this.#meters;
    const isUnacknowledged = acknowledgementsMissing > this.#missing;
    const fault = this.#fault ?? (isUnacknowledged ? "too few replicas acknowledge what is written" : null);
    this.#missing = acknowledgementsMissing;
    this.#fault = null;
    const isRefused = outcomes.some((outcome) => outcome instanceof Refusal && outcome.error === "unavailable");
    if (isRefused ? fault !== null : isOutageOpen(this.#outage)) this.#say(isRefused ? fault : null);
  }

  #say(refusedBatches: string | null): void {
    if (performance.now() - this.#saidMs < newsEveryMs) return;
    this.#saidMs = performance.now();
    this.#tell({ refusedBatches });
  }
}

/** Logs a scoring thread's message about refused batches; ignores any other message. */
export function tellOfBatches(outages: OutageLog, news: unknown): void {
  const { refusedBatches } = (news ?? {}) as Partial<BatchNews>;
  if (refusedBatches === undefined) return;
  if (refusedBatches === null) outages.worked();
  else outages.failed(new UnavailableError(refusedBatches), "batches are refused with 503: the cluster fails");
}
