/** The start parameters of a scoring thread. */
import type { Plans } from "./plans.js";

/** What an acknowledged batch survives: a killed process (the kernel has it), or a power cut (the disk has it). */
export type Durability = "process" | "power-loss";

/** How much of a visitor's address a session keeps. */
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
  /** How long a session is kept after its last batch, and how long counts of an hour are kept, ms. */
  readonly sessionMs: number;
  readonly trafficMs: number;
  /** What the log has reported about refused batches, see `cluster-store/outage-log.ts`. */
  readonly outage: SharedArrayBuffer;
}

/** Passed to the thread as `workerData`: plain values are copied, the shared buffers are not. */
export interface ScoringWorkerData {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly ipStorage: IpStorage;
  readonly plans: Plans;
  /** Sessions a project may have. */
  readonly sessionsMax: number;
  /** Whether other threads write to the store: then work that needs no transaction is done before it. */
  readonly sharesStore: boolean;
  /** The cluster that stores sessions, and how to write to it; absent if sessions are in the store. */
  readonly cluster?: ScoringCluster;
  /** The counters of this pool's threads, see `metrics/scoring-meters.ts`. */
  readonly meters: SharedArrayBuffer;
  /** The thread's mark that it is in a write transaction: `store/write-watch.ts`. */
  readonly writeCounts: SharedArrayBuffer;
}
