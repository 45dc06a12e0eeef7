/** Piscina entry of the scoring threads: opens the store once, then commits the batches of each task. No logic of its own. */

import { parentPort } from "node:worker_threads";
import { move, workerData } from "piscina";
import { Credentials } from "../src/auth/credentials.js";
import type { ScoringWorkerData } from "../src/contract/configuration/scoring-worker.js";
import { readFrame } from "../src/ingest/frame.js";
import { commitToLmdb } from "../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../src/ingest/lmdb-unit-of-work.js";
import { ScoringFaults } from "../src/ingest/scoring-faults.js";
import { encodeOutcomes } from "../src/ingest/task-answer.js";
import { lowerThreadPriority } from "../src/ingest/thread-priority.js";
import { TokenMint } from "../src/ingest/token-mint.js";
import { ScoringMeters } from "../src/metrics/scoring-meters.js";
import { GroupWriter } from "../src/store/group-writer.js";
import { openStore } from "../src/store/open-store.js";
import { WriteMarker } from "../src/store/write-watch.js";

lowerThreadPriority();
const {
  dataDir,
  durability,
  ipStorage,
  plans,
  sessionsMax,
  sharesStore,
  meters: buffer,
  writeCounts,
} = workerData as ScoringWorkerData;
const store = openStore(dataDir);
const meters = new ScoringMeters(buffer);
const faults = new ScoringFaults((news) => parentPort?.postMessage(news));
const commit = {
  unit: new LmdbUnitOfWork(store),
  writer: new GroupWriter(store, durability, new WriteMarker(writeCounts)),
  context: { credentials: new Credentials(store), plans, ipStorage, mint: new TokenMint(), sessionsMax },
  readsAhead: sharesStore,
  onFired: (detectionId: number) => meters.countDetection(detectionId),
  onFault: (error: unknown) => faults.failed(error),
};

/** What `move` makes of the outcomes, in the order of the frame's batches, once they are committed (and on the disk, where that is asked for). */
export type TaskAnswer = ReturnType<typeof move>;

/** Called by the pool with a frame of batches; gives their outcomes in order, most often in the memory of the frame. */
export function commitFrame(frame: Uint8Array<ArrayBuffer>): TaskAnswer {
  const startedMs = meters.now();
  const outcomes = commitToLmdb(commit, readFrame(frame));
  meters.countTask(outcomes.length, meters.now() - startedMs);
  return move(encodeOutcomes(frame, outcomes));
}
