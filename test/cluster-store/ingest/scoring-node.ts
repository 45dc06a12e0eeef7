/** Scoring threads of several nodes in this process, on a real cluster: each commits groups of batches as a worker does. */
import type { Test } from "tap";
import { Credentials } from "../../../src/auth/credentials.js";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import type { StoreUrl } from "../../../src/cluster/store-url.js";
import { CountSender } from "../../../src/cluster-store/ingest/batch-counts.js";
import { ClusterCommit } from "../../../src/cluster-store/ingest/cluster-commit.js";
import { ClusterPathReuseIndex } from "../../../src/cluster-store/ingest/cluster-path-reuse-index.js";
import { ClusterCounts } from "../../../src/cluster-store/ingest/recent-counts.js";
import { sessionRow, shardOfSession, shardSlots } from "../../../src/cluster-store/keys.js";
import { defaultPlans } from "../../../src/contract/configuration/plans.js";
import { noHeaders } from "../../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../../src/contract/evidence/visitor.js";
import { decodeSessionToken } from "../../../src/contract/sessions/session-token.js";
import type { CommitContext, IngestOutcome, Recorded } from "../../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../../src/ingest/frame.js";
import { TokenMint } from "../../../src/ingest/token-mint.js";
import { sessionKey } from "../../../src/store/keys.js";
import { decodeSession } from "../../../src/store/session-record.js";
import type { Store } from "../../../src/store/store.js";
import type { Owner } from "../../support/owner.js";

/** Counts how often groups are run. */
class CountingMint extends TokenMint {
  runs = 0;

  override startGroup(): void {
    this.runs++;
    super.startGroup();
  }
}

/** A node's scoring thread, on the mirror in `store`; it ends with the test. */
export function scoringNode(t: Pick<Test, "teardown">, store: Store, url: StoreUrl, more: Partial<CommitContext> = {}) {
  const client = new ClusterClient({ url });
  const paths = new ClusterPathReuseIndex(client);
  const counts = new ClusterCounts(client);
  const state = {
    conflicts: 0,
    fired: [] as number[],
    faults: [] as unknown[],
    ours: [] as unknown[],
    unacknowledged: [] as string[],
  };
  const onFailure = (error: unknown) => state.faults.push(error);
  const sender = new CountSender(client, paths, counts, onFailure);
  const mint = new CountingMint();
  const context = {
    credentials: new Credentials(store),
    plans: defaultPlans,
    ipStorage: "full" as const,
    sessionsMax: 1e6,
    mint,
    ...more,
  };
  const committer = new ClusterCommit({
    client,
    context,
    paths,
    counts,
    sender,
    acks: 1,
    sessionMs: 3_600_000,
    onFired: (id) => state.fired.push(id),
    onConflict: (batches) => {
      state.conflicts += batches;
    },
    onUnacknowledged: (error) => state.unacknowledged.push(error.message),
    onFailure,
    onFault: (error) => state.ours.push(error),
  });
  t.teardown(async () => {
    await sender.flush();
    client.close();
  });
  const commit = (...requests: IngestRequest[]) => committer.commit(requests);
  return { client, paths, sender, state, committer, commit, context, mint };
}

type ScoringNode = ReturnType<typeof scoringNode>;

/** A batch of a visitor of this owner's site, as a scoring thread gets it. */
export function requestOf({ siteKey }: Owner, body: object, more: Partial<IngestRequest> = {}): IngestRequest {
  return {
    siteKey,
    idempotencyKey: null,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...noHeaders, userAgent: "Mozilla/5.0", nowMs: Date.now(), ip: "198.51.100.7" },
    body: Buffer.from(JSON.stringify(body)),
    ...more,
  };
}

/** The outcome of a batch that was taken; throws for any other. */
export function recorded(outcome: IngestOutcome | null | undefined): Recorded {
  if (!isRecorded(outcome)) throw new Error(JSON.stringify(outcome));
  return outcome;
}

/** Whether a batch was taken. */
export function isRecorded(outcome: IngestOutcome | null | undefined): outcome is Recorded {
  return outcome != null && "accepted" in outcome;
}

/** The `sessionKey` of a session of this owner's site. */
export function keyOf({ projectId }: Owner, token: string): Buffer {
  return sessionKey(projectId, decodeSessionToken(token)!);
}

/** A session as the cluster has it. */
export async function storedSession({ client }: ScoringNode, key: Buffer) {
  const row = await client.execute(["GET", sessionRow(key)], shardSlots[shardOfSession(key)]!, { deadlineMs: 5000 });
  return row instanceof Buffer ? decodeSession(Buffer.from(row.subarray(8))) : null;
}
