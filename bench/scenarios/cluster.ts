/**
 * A node on a cluster of nine processes beside the single host, in the same run: what a batch costs node and engine, rates, reads beside
 * ingest. All of it shares this machine's cores, so that only ratios and CPU are worth quoting.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { startRedis } from "../../test/support/redis-cluster.js";
import { type CommitCost, inFlight, measureCommitCost } from "../cluster/commit-cost.js";
import { simulateRate } from "../cluster/nodes-simulation.js";
import { arrivalJob, type LoadJob, type LoadResult, withoutArrival } from "../load/job.js";
import { curve } from "../load/latencies.js";
import { longRuns, type Measured, measurePairs, median, settleMs } from "../measure.js";
import { redisServer, runCommand, scratchFolder, startVerdictd, type Target } from "../servers/servers.js";
import { verdictRead } from "../traffic/client-request.js";
import { atLeast, atMost, type BenchContext, type Figure, type Scenario } from "./scenario.js";

const masters = 3;
const replicas = 2;
const groupSizes = [128, 32] as const;
/** Goals of the engine's masters by the size of groups, microseconds a batch. */
const masterGoals: Readonly<Record<number, number>> = { 128: 40, 32: 60 };
const sessions = 5000;
const readsPerSecond = 1000;
const warmUpMs = 200;
/**
 * Batches that each node takes before it is measured: until about so many, compiling the code costs more than running it, and the node on a
 * cluster has more code. By number, not by time: on a busy machine a node gets through few in a second.
 */
const settleBatches = 30_000;
/** For the estimate: batches a second of the slower node. */
const settleRate = 4000;
/** Runs at half capacity, in runs at full speed. */
const runLength = 4;

export const clusterScenario: Scenario = {
  name: "cluster",
  title: "ingest, visits as recorded: a node on a cluster, beside one host",
  localOnly: true,
  readsSessions: false,
  estimateS: (options) =>
    60 +
    (2 * settleBatches) / settleRate +
    (2 * (settleMs + options.pairs * (warmUpMs + options.durationMs)) + runLength * longRuns(options) * 1000) / 1000,
  run: async (context) => {
    if (redisServer() === null) {
      context.say("  left out: there is no redis-server");
      return { measured: [], goals: {}, figures: [], fill: [] };
    }
    const teardowns: (() => unknown)[] = [];
    const cluster = await startRedis(
      { teardown: (work: () => unknown) => teardowns.unshift(work) },
      { masters, replicas },
    );
    try {
      const pids = cluster.nodes.map(({ pid }) => pid);
      const costs = await measureCommitCost({
        url: parseStoreUrl(cluster.url) as StoreUrl,
        masters: pids.slice(0, masters),
        replicas: pids.slice(masters),
        acks: 1,
        sessions,
        groups: 200,
        groupSizes,
      });
      const node = await ClusterNode.start(context, cluster.url);
      try {
        for (const target of [node.host, node.target]) await node.settle(target);
        const measured = await measurePairs(
          context.generator,
          [node.host, node.target],
          (target) => node.ingest(target),
          context.options.pairs,
        );
        const [host, clustered] = measured;
        const read = await node.readsAtHalf(clustered!.rate);
        return {
          measured,
          goals: {},
          fill: [],
          figures: [
            ...costs.flatMap(costFigures),
            ...wholeNode(host!, clustered!),
            {
              what: "rate of a node on a cluster ÷ one host's, with the engine on the same cores",
              value: clustered!.rate / host!.rate,
              unit: "",
            },
            atMost("uncached verdict p99 through a cluster at half of ingest's capacity", read, "ms", 5),
            ...costs.slice(0, 1).map(twoNodes),
          ],
        };
      } finally {
        await node.target.stop();
      }
    } finally {
      for (const teardown of teardowns) await teardown();
    }
  },
};

function costFigures({ group, lmdbUs, clusterUs, masterUs, replicaUs }: CommitCost): Figure[] {
  const groups = `in groups of ${group}`;
  return [
    atMost(`CPU of a scoring thread a batch on a cluster ÷ LMDB's, ${groups}`, clusterUs / lmdbUs, "", 1.15),
    atMost(`CPU of the engine's masters a batch, ${groups}`, masterUs, "µs", masterGoals[group]!),
    atMost(`CPU of each replica a batch, ${groups}`, replicaUs, "µs", 20),
  ];
}

/** All threads of a node, garbage collection among them, in groups as they come. */
function wholeNode(host: Measured, clustered: Measured): Figure[] {
  if (host.cpuMicros === null || clustered.cpuMicros === null) return [];
  const value = clustered.cpuMicros / host.cpuMicros;
  return [atMost("CPU of a whole node a batch on a cluster ÷ one host's, visits as recorded", value, "", 1.15)];
}

function twoNodes({ group, clusterUs, masterUs, groupMs }: CommitCost): Figure {
  const times = {
    group,
    nodeUs: clusterUs * group,
    mastersUs: masterUs * group,
    // Measured with several under way, of which one is worked on at a time.
    wholeUs: (groupMs * 1000) / inFlight,
  };
  const rate = (nodes: number): number => simulateRate(times, { nodes, masters, inFlight, conflicts: 0.01 });
  return atLeast("two nodes ÷ one, simulated from the measured times of a group", rate(2) / rate(1), "", 1.85);
}

/** A node on the cluster and the bench's own host, with as many sessions each. */
class ClusterNode {
  private constructor(
    readonly context: BenchContext,
    readonly host: Target,
    readonly target: Target,
    readonly keys: { readonly siteKey: string; readonly privateKey: string },
  ) {}

  static async start(context: BenchContext, url: string): Promise<ClusterNode> {
    const made = runCommand(scratchFolder("init"), "init", "--store", url) as {
      account_token: string;
      project_id: number;
    };
    // Reads are to be uncached.
    const flags = ["--store", url, "--verdict-ttl", "0", "--scoring-threads", "1"];
    const target = { ...(await startVerdictd(scratchFolder("mirror"), flags)), name: "a node on a cluster" };
    const answer = await fetch(`${target.url}/v1/projects/${made.project_id}/scoring`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.account_token}` },
    });
    const { site_key, private_key } = (await answer.json()) as { site_key: string; private_key: string };
    const host = { ...context.bed.verdictd, name: "one host" };
    const node = new ClusterNode(context, host, target, { siteKey: site_key, privateKey: private_key });
    for (const each of [host, target]) await node.#arrive(each);
    return node;
  }

  /** Batches of visitors as recorded, as fast as answers come. */
  ingest(target: Target): LoadJob {
    const { requestsMax: _, ...job } = this.#arrival(target);
    return {
      ...job,
      traffic: withoutArrival(job.traffic as Visits),
      warmUpMs,
      durationMs: this.context.options.durationMs,
    };
  }

  /** Lets the node take `settleBatches`. */
  async settle(target: Target): Promise<void> {
    const job = { ...this.ingest(target), warmUpMs: 0, durationMs: 0, requestsMax: settleBatches };
    const [{ errors, firstError }] = await this.context.generator.run(job);
    if (errors > 0) throw new Error(`batches were not taken: ${firstError}`);
  }

  /** 99th percentile of what the site asks about its visitors, beside their batches at half of this rate, ms. */
  async readsAtHalf(rate: number): Promise<number> {
    const { generator, options } = this.context;
    const durationMs = runLength * options.durationMs;
    const ingest = { ...this.ingest(this.target), durationMs, rate: rate / 2 };
    const request = await verdictRead(this.keys.privateKey);
    const read: LoadJob = {
      ...ingest,
      traffic: { kind: "page-views", crowd: this.target.url, request },
      connections: 16,
      rate: readsPerSecond,
      statuses: [200],
      contains: '"verdict":"',
    };
    const p99s: number[] = [];
    for (let run = 0; run < longRuns(options); run++) {
      const [, verdict] = await generator.run(ingest, read);
      p99s.push(p99(verdict!));
      await delay(100);
    }
    return median(p99s);
  }

  #arrival({ name, url }: Target): LoadJob {
    const { bed, options } = this.context;
    const { siteKey } = name === this.host.name ? bed.keys : this.keys;
    return arrivalJob(url, { kind: "visits", crowd: url, visitors: sessions, siteKey }, options.visitors);
  }

  async #arrive(target: Target): Promise<void> {
    const [{ errors, firstError }] = await this.context.generator.run(this.#arrival(target));
    if (errors > 0) throw new Error(`sessions could not be stored: ${firstError}`);
  }
}

type Visits = Extract<LoadJob["traffic"], { readonly kind: "visits" }>;

function p99({ latencyMs }: LoadResult): number {
  return latencyMs[curve.indexOf(99)]!;
}
