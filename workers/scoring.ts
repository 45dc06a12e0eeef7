/** Piscina entry of the scoring threads: opens the store once, then commits the batches of each task. No logic of its own. */
import { workerData } from "piscina";
import { Credentials } from "../src/auth/credentials.js";
import type { ScoringWorkerData } from "../src/contract/scoring-worker.js";
import { commitBatches, type IngestOutcome } from "../src/ingest/commit-batches.js";
import { readFrame } from "../src/ingest/frame.js";
import { openStore } from "../src/store/store.js";

const { dataDir, durability, plans } = workerData as ScoringWorkerData;
const store = openStore(dataDir);
const options = { store, credentials: new Credentials(store), plans };

/** Outcomes in the order of the frame's batches, once they are committed (and on the disk, where that is asked for). */
export async function commitFrame(frame: Uint8Array): Promise<IngestOutcome[]> {
  const outcomes = commitBatches(options, readFrame(frame));
  if (durability === "power-loss") await store.root.flushed;
  return outcomes;
}
