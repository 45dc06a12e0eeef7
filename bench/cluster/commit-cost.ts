/**
 * What a batch costs a scoring thread and the engine: the same batches, committed to LMDB and to a cluster in turns, in this process. Run
 * by `npm run bench -- --only cluster`, which starts the cluster.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Credentials } from "../../src/auth/credentials.js";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import type { StoreUrl } from "../../src/cluster/store-url.js";
import { CountSender } from "../../src/cluster-store/ingest/batch-counts.js";
import { ClusterCommit } from "../../src/cluster-store/ingest/cluster-commit.js";
import { ClusterPathReuseIndex } from "../../src/cluster-store/ingest/cluster-path-reuse-index.js";
import { ClusterCounts } from "../../src/cluster-store/ingest/recent-counts.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { noHeaders } from "../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { Refusal } from "../../src/errors.js";
import type { IngestOutcome } from "../../src/ingest/commit-batches.js";
import { FrameWriter, type IngestRequest, readFrame } from "../../src/ingest/frame.js";
import { commitToLmdb } from "../../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import { openStore } from "../../src/store/open-store.js";
import { newWriteCounts, WriteMarker } from "../../src/store/write-watch.js";
import { batchText, idPlaces, jitterPlaces, tokenPlaceholder, UniqueIds } from "../load/batches.js";

export interface CommitCost {
  /** Batches of a group. */
  readonly group: number;
  /** CPU of this process a batch, microseconds: LMDB, cluster. */
  readonly lmdbUs: number;
  readonly clusterUs: number;
  /** CPU of the engine a batch, microseconds: of the master that has it, and of each of its replicas. Without what they take idle. */
  readonly masterUs: number;
  readonly replicaUs: number;
  /** Wall time of a group, milliseconds, median. */
  readonly groupMs: number;
}

interface CommitCostOptions {
  readonly url: StoreUrl;
  /** Processes of the engine. */
  readonly masters: readonly number[];
  readonly replicas: readonly number[];
  readonly acks: number;
  readonly sessions: number;
  readonly groups: number;
  readonly groupSizes: readonly number[];
}

/** Groups in flight at once on the cluster, as the pool gives them to a thread. */
export const inFlight = 2;
/** How long the engine is watched doing nothing. */
const idleMs = 3000;

/** Measures each group size, LMDB and cluster in turns. */
export async function measureCommitCost(options: CommitCostOptions): Promise<CommitCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "verdictd-bench-"));
  const store = openStore(folder);
  const client = new ClusterClient({ url: options.url });
  try {
    const projects = new Projects(store, Date.now);
    const made = await createFirstAccount(new Accounts(store, Date.now), projects);
    if (made instanceof Refusal) throw new Error(made.message);
    const keys = await projects.enableScoring(made.projectId);
    if (keys instanceof Refusal) throw new Error(keys.message);
    const { siteKey } = keys;
    const context = {
      credentials: new Credentials(store),
      plans: defaultPlans,
      ipStorage: "full" as const,
      sessionsMax: 1e9,
    };
    const lmdb = {
      unit: new LmdbUnitOfWork(store),
      writer: new GroupWriter(store, "process", new WriteMarker(newWriteCounts())),
      context: { ...context, mint: new TokenMint() },
      onFired: () => {},
    };
    await client.ready();
    const onFailure = (error: unknown): void => {
      throw error;
    };
    const paths = new ClusterPathReuseIndex(client);
    const counts = new ClusterCounts(client);
    const sender = new CountSender(client, paths, counts, onFailure);
    const cluster = new ClusterCommit({
      client,
      context: { ...context, mint: new TokenMint() },
      paths,
      counts,
      sender,
      acks: options.acks,
      sessionMs: 3_600_000,
      onFired: () => {},
      onConflict: () => {},
      onUnacknowledged: onFailure,
      onFailure,
      onFault: onFailure,
    });
    const toLmdb = async (frames: Uint8Array<ArrayBuffer>[]): Promise<void> => {
      for (const frame of frames) check(commitToLmdb(lmdb, readFrame(frame)) as IngestOutcome[]);
    };
    const groupMs: number[] = [];
    const toCluster = async (frames: Uint8Array<ArrayBuffer>[]): Promise<void> => {
      const waiting = [...frames];
      const work = async (): Promise<void> => {
        for (let frame = waiting.shift(); frame !== undefined; frame = waiting.shift()) {
          const from = performance.now();
          check(await cluster.commit(readFrame(frame)));
          groupMs.push(performance.now() - from);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, work));
    };
    const known = {
      lmdb: await firstContacts(siteKey, options.sessions, async (r) => commitToLmdb(lmdb, r) as IngestOutcome[]),
      cluster: await firstContacts(siteKey, options.sessions, (r) => cluster.commit(r)),
    };
    const idle = await idleShares(options);
    const costs: CommitCost[] = [];
    for (const group of options.groupSizes) {
      const sums = { lmdb: 0, cluster: 0, masters: 0, replicas: 0, batches: 0 };
      groupMs.length = 0;
      for (let turn = 0; turn < 10; turn++) {
        const make = (tokens: readonly string[]) => framesOf(siteKey, tokens, options.groups / 10, group);
        const [one, other] = [make(known.lmdb), make(known.cluster)];
        sums.lmdb += await cpuUs(() => toLmdb(one));
        const before = [engineUs(options.masters), engineUs(options.replicas)] as const;
        const fromMs = performance.now();
        sums.cluster += await cpuUs(() => toCluster(other));
        const us = (performance.now() - fromMs) * 1000;
        sums.masters += engineUs(options.masters) - before[0] - us * idle.masters;
        sums.replicas += engineUs(options.replicas) - before[1] - us * idle.replicas;
        sums.batches += one.length * group;
      }
      groupMs.sort((one, other) => one - other);
      costs.push({
        group,
        lmdbUs: sums.lmdb / sums.batches,
        clusterUs: sums.cluster / sums.batches,
        masterUs: sums.masters / sums.batches,
        // Each batch is on as many replicas as a master has.
        replicaUs: (sums.replicas / sums.batches) * (options.masters.length / Math.max(1, options.replicas.length)),
        groupMs: groupMs[groupMs.length >> 1]!,
      });
    }
    await sender.flush();
    return costs;
  } finally {
    client.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

const ids = new UniqueIds();
const facts = {
  ...noHeaders,
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  acceptLanguage: "en-GB,en;q=0.9",
  accept: "*/*",
  contentType: "application/json",
};

const eventsPerBatch = 10;
/** Of so many batches one is a first contact. */
const contactEvery = 20;

function requestOf(siteKey: string, seed: number, token: string | null): IngestRequest {
  const body = Buffer.from(batchText(eventsPerBatch, seed, token === null));
  for (const at of idPlaces(body)) ids.write(body, at);
  for (const at of jitterPlaces(body)) body[at] = 48 + Math.floor(Math.random() * 10);
  if (token !== null) body.write(token, body.indexOf(tokenPlaceholder));
  return {
    siteKey,
    idempotencyKey: ids.next(),
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...facts, nowMs: Date.now(), ip: `10.0.${seed & 255}.${Math.floor(Math.random() * 256)}` },
    body,
  };
}

async function firstContacts(
  siteKey: string,
  count: number,
  commit: (requests: IngestRequest[]) => Promise<IngestOutcome[]>,
): Promise<string[]> {
  const tokens: string[] = [];
  while (tokens.length < count) {
    const outcomes = await commit(Array.from({ length: 100 }, (_, index) => requestOf(siteKey, index, null)));
    check(outcomes);
    tokens.push(...outcomes.flatMap((each) => ("session_token" in each ? each.session_token : [])));
  }
  return tokens;
}

function framesOf(siteKey: string, tokens: readonly string[], count: number, group: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: count }, () => {
    const frame = new FrameWriter();
    for (let index = 0; index < group; index++) {
      const token = index % contactEvery === 0 ? null : tokens[Math.floor(Math.random() * tokens.length)]!;
      frame.add(requestOf(siteKey, Math.floor(Math.random() * 1e6), token));
    }
    return frame.take();
  });
}

function check(outcomes: readonly IngestOutcome[]): void {
  for (const outcome of outcomes) {
    if (!("accepted" in outcome) || outcome.accepted !== eventsPerBatch) {
      throw new Error(`a batch was not taken: ${JSON.stringify(outcome)}`);
    }
  }
}

async function cpuUs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** How much of a core all masters, and all replicas, take when nobody asks them anything. */
async function idleShares({ masters, replicas }: CommitCostOptions): Promise<{ masters: number; replicas: number }> {
  const before = [engineUs(masters), engineUs(replicas)] as const;
  await delay(idleMs);
  return {
    masters: (engineUs(masters) - before[0]) / (idleMs * 1000),
    replicas: (engineUs(replicas) - before[1]) / (idleMs * 1000),
  };
}

/** Ticks of user and system time of these processes, in microseconds. */
function engineUs(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * 10_000;
}
