/** Piscina entry of the scoring threads: opens the store once, then commits the batches of each task. No logic of its own. */
import { setPriority } from "node:os";
import { move, workerData } from "piscina";
import { Credentials } from "../src/auth/credentials.js";
import type { ScoringWorkerData } from "../src/contract/scoring-worker.js";
import { readFrame } from "../src/ingest/frame.js";
import { commitToLmdb } from "../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../src/ingest/lmdb-unit-of-work.js";
import { encodeOutcomes } from "../src/ingest/task-answer.js";
import { TokenMint } from "../src/ingest/token-mint.js";
import { limits } from "../src/limits.js";
import { ScoringMeters } from "../src/metrics/scoring-meters.js";
import { GroupWriter } from "../src/store/group-writer.js";
import { openStore } from "../src/store/store.js";
import { WriteMarker } from "../src/store/write-watch.js";

giveWay();
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
const commit = {
  unit: new LmdbUnitOfWork(store),
  writer: new GroupWriter(store, durability, new WriteMarker(writeCounts)),
  context: { credentials: new Credentials(store), plans, ipStorage, mint: new TokenMint(), sessionsMax },
  readsAhead: sharesStore,
  onFired: (detectionId: number) => meters.countDetection(detectionId),
};

/** On a full machine a verdict must not wait for scoring. Elsewhere than on Linux the priority would be that of the whole process. */
function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(limits.scoringNiceness);
  } catch {
    // A hardened service may forbid it; then the kernel shares evenly.
  }
}

/** What `move` makes of the outcomes, in the order of the frame's batches, once they are committed (and on the disk, where that is asked for). */
export type TaskAnswer = ReturnType<typeof move>;

/** Called by the pool with a frame of batches; gives their outcomes in order, most often in the memory of the frame. */
export function commitFrame(frame: Uint8Array<ArrayBuffer>): TaskAnswer {
  const startedMs = meters.now();
  const outcomes = commitToLmdb(commit, readFrame(frame));
  meters.countTask(outcomes.length, meters.now() - startedMs);
  return move(encodeOutcomes(frame, outcomes));
}
