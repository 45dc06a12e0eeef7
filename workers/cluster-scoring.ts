/**
 * Piscina entry of the scoring threads where sessions lie in a cluster: opens the mirror of the configuration and a client once, then commits
 * the batches of each task. No logic of its own.
 */

import { parentPort } from "node:worker_threads";
import { move, workerData } from "piscina";
import { Credentials } from "../src/auth/credentials.js";
import { ClusterClient } from "../src/cluster/cluster-client.js";
import type { ClusterError } from "../src/cluster/cluster-error.js";
import { CountSender } from "../src/cluster-store/ingest/batch-counts.js";
import { ClusterCommit } from "../src/cluster-store/ingest/cluster-commit.js";
import { ClusterPathReuseIndex } from "../src/cluster-store/ingest/cluster-path-reuse-index.js";
import { PostponedBatches } from "../src/cluster-store/ingest/postponed-batches.js";
import { ClusterCounts } from "../src/cluster-store/ingest/recent-counts.js";
import { RefusedBatches } from "../src/cluster-store/ingest/refused-batches.js";
import type { ScoringWorkerData } from "../src/contract/configuration/scoring-worker.js";
import { readFrame } from "../src/ingest/frame.js";
import { ScoringFaults } from "../src/ingest/scoring-faults.js";
import { encodeOutcomes } from "../src/ingest/task-answer.js";
import { lowerThreadPriority } from "../src/ingest/thread-priority.js";
import { TokenMint } from "../src/ingest/token-mint.js";
import { limits } from "../src/limits.js";
import { ScoringMeters } from "../src/metrics/scoring-meters.js";
import { openStore } from "../src/store/open-store.js";
import { TickReads } from "../src/store/store.js";

const { dataDir, ipStorage, plans, sessionsMax, cluster, meters: buffer } = workerData as ScoringWorkerData;
lowerThreadPriority();
if (cluster === undefined) throw new Error("started without a cluster");
const meters = new ScoringMeters(buffer);
const store = openStore(dataDir);
const reads = new TickReads(store);
const client = new ClusterClient({ url: cluster.url });
const paths = new ClusterPathReuseIndex(client);
const counts = new ClusterCounts(client);
const refused = new RefusedBatches(cluster.outage, (news) => parentPort?.postMessage(news));
const faults = new ScoringFaults((news) => parentPort?.postMessage(news));
const onFailure = (error: ClusterError): void => {
  meters.countClusterFailure();
  refused.failed(error);
};
const committer = new ClusterCommit({
  client,
  context: { credentials: new Credentials(store), plans, ipStorage, mint: new TokenMint(), sessionsMax },
  paths,
  counts,
  sender: new CountSender(client, paths, counts, onFailure, cluster.trafficMs),
  acks: cluster.acks,
  sessionMs: cluster.sessionMs,
  onFired: (detectionId) => meters.countDetection(detectionId),
  onConflict: (batches) => meters.countConflicts(batches),
  onUnacknowledged: (error) => refused.failed(error),
  onFailure,
  onFault: (error) => faults.failed(error),
});
const postponed = new PostponedBatches(
  (news) => parentPort?.postMessage(news),
  (outcomes) => refused.answered(outcomes),
);
setInterval(() => void paths.refresh(), limits.clusterPathsRefreshMs).unref();

/**
 * Called by the pool with a frame of batches; gives their outcomes in order, most often in the memory of the frame. Those of batches that are
 * postponed follow by message.
 */
export async function commitFrame(frame: Uint8Array<ArrayBuffer>): Promise<ReturnType<typeof move>> {
  const startedMs = meters.now();
  // A key that was revoked, or has just been made, before the batch came.
  reads.begin();
  const outcomes = await postponed.answer(committer.begin(readFrame(frame)));
  meters.countTask(outcomes.length, meters.now() - startedMs);
  refused.answered(outcomes);
  meters.showClient(client.meters);
  return move(encodeOutcomes(frame, outcomes));
}
