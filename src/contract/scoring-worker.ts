/** What a scoring thread is started with. */
import type { Plans } from "./plans.js";

/** What an acknowledged batch survives: a killed process (the kernel has it), or a power cut (the disk has it). */
export type Durability = "process" | "power-loss";

/** What of a visitor's address a session keeps. */
export type IpStorage = "full" | "truncated" | "none";

/** How scoring threads write to a cluster. */
export interface ScoringCluster {
  readonly url: {
    readonly isTls: boolean;
    readonly seeds: readonly string[];
    readonly user?: string;
    readonly password?: string;
    readonly ca?: string;
  };
  /** Replicas that acknowledge a batch before it is answered. */
  readonly acks: number;
  /** How long a session is kept after its last batch, and counts of an hour, ms. */
  readonly sessionMs: number;
  readonly trafficMs: number;
  /** What the log has said of batches that are refused, see `cluster-store/outage-log.ts`. */
  readonly outage: SharedArrayBuffer;
}

/** Given to the thread as `workerData`: plain values are copied to it, the shared buffers are not. */
export interface ScoringWorkerData {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly ipStorage: IpStorage;
  readonly plans: Plans;
  /** Sessions a project may have. */
  readonly sessionsMax: number;
  /** Whether other threads write to the store: what can be done outside of a transaction is done before it then. */
  readonly sharesStore: boolean;
  /** The cluster that sessions lie in, and how it is written to; absent: they lie in the store. */
  readonly cluster?: ScoringCluster;
  /** Where the threads of this pool count, see `metrics/scoring-meters.ts`. */
  readonly meters: SharedArrayBuffer;
  /** Where the thread marks that it is in a write transaction: `store/write-watch.ts`. */
  readonly writeCounts: SharedArrayBuffer;
}
