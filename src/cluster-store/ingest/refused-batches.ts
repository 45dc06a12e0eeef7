/** Tells the HTTP thread, which owns the log, that a scoring thread refuses batches because the cluster fails, and when it takes them again. */
import type { ClusterError } from "../../cluster/cluster-error.js";
import { Refusal, UnavailableError } from "../../errors.js";
import { limits } from "../../limits.js";
import { reasonOf } from "../fault-line.js";
import { isOutageOpen, type OutageLog } from "../outage-log.js";

/** A message of a scoring thread: why it refuses batches; `null` means that it takes them. */
interface BatchNews {
  readonly refusedBatches: string | null;
}

/** How long after a failure refusals count as its result: longer than a batch waits. */
const faultKnownMs = 2 * limits.clusterWriteMs;
/** Least time between two messages of a kind, because one per task would be too many. */
const newsEveryMs = 500;

/** One per scoring thread of a cluster. */
export class RefusedBatches {
  readonly #outage: SharedArrayBuffer;
  readonly #tell: (news: BatchNews) => void;
  #fault: string | null = null;
  #faultMs = 0;
  /** When it last reported that it takes batches, and that it refuses some: while one shard is away, both are true. */
  readonly #saidMs = { taken: Number.NEGATIVE_INFINITY, refused: Number.NEGATIVE_INFINITY };

  /** `outage`: that of the log to which `tell` sends. */
  constructor(outage: SharedArrayBuffer, tell: (news: BatchNews) => void) {
    this.#outage = outage;
    this.#tell = tell;
  }

  /** A question to the cluster failed, or too few replicas have a write. */
  failed(error: ClusterError): void {
    this.#fault = reasonOf(error);
    this.#faultMs = performance.now();
  }

  /** The outcomes of a task. */
  answered(outcomes: readonly object[]): void {
    // The batches that a failure refuses may be postponed, while other tasks end.
    if (performance.now() - this.#faultMs > faultKnownMs) this.#fault = null;
    const fault = this.#fault;
    const isRefused = outcomes.some((outcome) => outcome instanceof Refusal && outcome.error === "unavailable");
    if (isRefused ? fault !== null : isOutageOpen(this.#outage)) this.#say(isRefused ? fault : null);
  }

  #say(refusedBatches: string | null): void {
    const kind = refusedBatches === null ? "taken" : "refused";
    if (performance.now() - this.#saidMs[kind] < newsEveryMs) return;
    this.#saidMs[kind] = performance.now();
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
