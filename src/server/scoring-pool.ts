/**
 * Starts the pool of scoring threads and watches over it. The code of a thread is in `workers/scoring.ts`.
 */

import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import type { ServeConfig } from "../config/config.js";
import { defaultPlans } from "../contract/configuration/plans.js";
import type { ScoringCluster, ScoringWorkerData } from "../contract/configuration/scoring-worker.js";
import { dayMs } from "../contract/values/durations.js";
import type { IngestQueue } from "../ingest/queue.js";
import { limits } from "../limits.js";
import type { ThreadMeters } from "../metrics/thread-meters.js";
import type { Logger } from "../runtime/log.js";
import type { WriteWatch } from "../store/write-watch.js";

/** Starts threads that take one frame of batches per task. They are still starting when this returns: see `scoringThreadsUp`. */
export function scoringPool(
  config: ServeConfig,
  threads: number,
  meters: SharedArrayBuffer,
  writeCounts: SharedArrayBuffer,
  worker: URL,
  cluster: Pick<ScoringCluster, "url" | "outage"> | null,
): Piscina<Uint8Array, Uint8Array> {
  const workerData: ScoringWorkerData = {
    dataDir: config.dataDir,
    durability: config.durability,
    ipStorage: config.ipStorage,
    plans: defaultPlans,
    sessionsMax: config.sessionsMax,
    sharesStore: config.scoringThreads > 1 || config.httpThreads > 1,
    ...(cluster !== null && {
      cluster: {
        ...cluster,
        acks: config.storeAcks,
        sessionMs: config.sessionDays * dayMs,
        trafficMs: config.statsDays * dayMs,
      },
    }),
    meters,
    writeCounts,
  };
  return new Piscina({
    filename: fileURLToPath(worker),
    name: "commitFrame",
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: limits.tasksInFlightPerThread,
    atomics: "async",
    resourceLimits: {
      maxOldGenerationSizeMb: limits.scoringHeapMibMax,
      ...(cluster !== null && { maxYoungGenerationSizeMb: limits.clusterYoungHeapMib }),
    },
    workerData,
  });
}

/**
 * Resolves when all scoring threads have opened the store: a server that listens can also score. Rejects when one fails before that; `onFailure`
 * is called with each later failure. Call this as soon as the pool exists.
 */
export async function scoringThreadsUp(
  pool: Piscina,
  threads: number,
  meters: ThreadMeters,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let failure: unknown = null;
  let areUp = false;
  pool.on("error", (error: unknown) => {
    if (areUp) onFailure(error);
    else failure = error;
  });
  const untilMs = Date.now() + limits.workersUpMs;
  // Does not keep a process alive whose start failed for another reason.
  const pause = { ref: false };
  while (meters.scoringThreadsUp < threads && failure === null && Date.now() < untilMs)
    await delay(1, undefined, pause);
  if (failure !== null) throw new Error("a scoring thread could not start", { cause: failure });
  if (meters.scoringThreadsUp < threads) throw new Error("the scoring threads did not start in time");
  areUp = true;
}

/**
 * Answers batches that wait too long for scoring, and replaces threads that hang outside of a transaction. A thread that hangs or dies inside a
 * transaction ends the process, because nothing else releases the lock. Acknowledged batches are in the store; the service manager starts the process
 * again.
 */
export function watchScoring(queue: IngestQueue, pool: Piscina, watch: WriteWatch, log: Logger): NodeJS.Timeout {
  return setInterval(() => {
    if (queue.tick() && watch.isIdle) {
      log.error("a scoring task does not finish: replacing the scoring threads");
      for (const thread of pool.threads) void thread.terminate();
    }
    if (watch.tick() < limits.watchTicksMax) return;
    log.fatal("a scoring thread hangs in a write transaction and blocks the store: ending the process; restart it");
    // An orderly exit would wait for that thread.
    process.kill(process.pid, "SIGKILL");
  }, limits.watchEveryMs);
}
