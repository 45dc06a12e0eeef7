/** What happens to a cluster and its nodes under load, one incident at a time, and what came of the batches meanwhile. */
import { setTimeout as delay } from "node:timers/promises";
import { configSlot, shardSlots } from "../../src/cluster-store/keys.js";
import type { ClusterNodes } from "../support/cluster-nodes.js";
import type { RedisCluster, RedisNode } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";
import type { Zone } from "../support/zones.js";
import { type Audit, audit, type ClusterLoad, type LoadCounts, newCounts } from "./cluster-load.js";

export interface Scene extends ClusterNodes {
  readonly cluster: RedisCluster;
  readonly load: ClusterLoad;
  /** Where the engine's and verdictd's nodes are; null: all in one network. */
  readonly zones: readonly Zone[] | null;
}

interface Incident {
  readonly name: string;
  /** Only with zones; only with two replicas a master. */
  readonly needsZones?: boolean;
  readonly needsTwoReplicas?: boolean;
  /** Does it under load; how many processes it has killed. `run` counts from 0, for what is to be another one each time. */
  readonly happen: (scene: Scene, run: number) => Promise<number>;
}

/** The cluster takes a node for dead after 2 s: what is frozen this long is replaced. */
const freezeMs = 6000;

/** Within it, an engine that may move replicas has given one to a master that lost its own. */
const migrationMs = 10_000;
/** The others have noticed the death of a master and elected another, if one stands for election. */
const noticedMs = 6000;

const masterOfRun = ({ cluster }: Scene, run: number): Promise<RedisNode> =>
  cluster.masterOf(shardSlots[(run * 97) % shardSlots.length]!);

/** Until the master has a replica besides its own, or could have had one. */
async function strangerOrSome(cluster: RedisCluster, master: RedisNode, own: readonly RedisNode[]): Promise<void> {
  const endMs = performance.now() + migrationMs;
  await waitUntil(
    () => cluster.replicasOf(master),
    (replicas) => replicas.some((each) => !own.includes(each)) || performance.now() > endMs,
  );
}

/** Batches of all shards are taken while what was killed is still gone. */
async function goesOn({ load }: Scene): Promise<void> {
  await load.caughtUp();
  await load.taken(100);
}

export const incidents: readonly Incident[] = [
  {
    name: "kill of a node",
    happen: async (scene, run) => {
      const node = scene.nodes[run % scene.nodes.length]!;
      await node.kill();
      await goesOn(scene);
      await node.restart();
      return 1;
    },
  },
  {
    name: "kill of a master",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      await (await masterOfRun(scene, run)).kill();
      await goesOn(scene);
      return 1;
    },
  },
  {
    // With one replica a master, its shard acknowledges nothing before the killed one is back.
    name: "kill of a master until it is replaced",
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      await master.kill();
      await waitUntil(
        () => masterOfRun(scene, run),
        (other) => other !== master,
      );
      await master.restart();
      await goesOn(scene);
      return 1;
    },
  },
  {
    name: "kill of a replica",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      const replicas = await scene.cluster.replicasOf(await masterOfRun(scene, run));
      await replicas[0]!.kill();
      await goesOn(scene);
      return 1;
    },
  },
  {
    // The replica that is left takes over, but nobody acknowledges what it writes until one of the two is back.
    name: "kill of a master and a replica of it, until one is back",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      const replicas = await scene.cluster.replicasOf(master);
      await Promise.all([master.kill(), replicas[0]!.kill()]);
      await waitUntil(
        () => masterOfRun(scene, run),
        (other) => other !== master,
      );
      await replicas[0]!.restart();
      await goesOn(scene);
      return 2;
    },
  },
  {
    // An engine that may move replicas gives the master one of another shard. If the master dies before that has its first copy, the stranger is elected
    // with nothing, and all others of the shard throw their data away to follow it.
    name: "kill of a whole shard, its master some seconds after its replicas",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      const { cluster } = scene;
      const master = await masterOfRun(scene, run);
      const replicas = await cluster.replicasOf(master);
      await Promise.all(replicas.map((replica) => replica.kill()));
      await strangerOrSome(cluster, master, replicas);
      await master.kill();
      await delay(noticedMs);
      for (const each of [master, ...replicas]) await each.restart();
      await goesOn(scene);
      return 1 + replicas.length;
    },
  },
  {
    name: "restart of a master before it is replaced",
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      await master.kill();
      await master.restart();
      await goesOn(scene);
      return 1;
    },
  },
  {
    name: "kill of a master while a replica lags behind",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      const [replica] = await scene.cluster.replicasOf(master);
      replica!.freeze();
      // Time is the subject: what the frozen one misses.
      await delay(1500);
      await master.kill();
      replica!.thaw();
      await goesOn(scene);
      return 1;
    },
  },
  {
    name: "kill of a master while all its replicas lag behind",
    needsTwoReplicas: true,
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      const replicas = await scene.cluster.replicasOf(master);
      for (const replica of replicas) replica.freeze();
      // As above.
      await delay(1500);
      await master.kill();
      for (const replica of replicas) replica.thaw();
      await goesOn(scene);
      return 1;
    },
  },
  {
    name: "freeze of a master for 6 s",
    happen: async (scene, run) => {
      const master = await masterOfRun(scene, run);
      master.freeze();
      await delay(freezeMs);
      master.thaw();
      await goesOn(scene);
      return 0;
    },
  },
  {
    name: "a zone cut off for 8 s",
    needsZones: true,
    happen: async (scene, run) => {
      const zone = scene.zones![run % scene.zones!.length]!;
      zone.cut();
      // Time is the subject.
      await delay(8000);
      zone.join();
      await goesOn(scene);
      return 0;
    },
  },
  {
    name: "move of slots to another master, that of the configuration among them",
    happen: async (scene, run) => {
      const slots = [...new Set([configSlot, ...shardSlots.slice((run * 24) % 240, ((run * 24) % 240) + 16)])];
      const to = await otherMaster(scene.cluster, configSlot);
      const from = await Promise.all(slots.map((slot) => scene.cluster.masterOf(slot)));
      await scene.cluster.move(slots, to);
      await goesOn(scene);
      // Back, so that masters keep their slots.
      for (const [index, slot] of slots.entries()) await scene.cluster.move([slot], from[index]!);
      return 0;
    },
  },
];

async function otherMaster(cluster: RedisCluster, slot: number): Promise<RedisNode> {
  const owner = await cluster.masterOf(slot);
  for (const each of shardSlots) {
    const master = await cluster.masterOf(each);
    if (master !== owner) return master;
  }
  throw new Error("there is one master only");
}

interface IncidentOutcome extends Audit {
  readonly kills: number;
  readonly counts: LoadCounts;
}

/** One incident under load, to its end: afterwards every node is there again, nothing is on its way, and the ledger was compared. */
export async function runIncident(scene: Scene, incident: Incident, run: number): Promise<IncidentOutcome> {
  const { load, cluster, owner } = scene;
  load.counts = newCounts();
  load.start();
  await load.taken(100);
  const kills = await incident.happen(scene, run);
  const { longestMs } = load.counts;
  await cluster.restore();
  await load.taken(100);
  await load.stop();
  const found = await audit(cluster, owner, load.ledger);
  // What the way back costs, such as giving the lead back, is no part of the incident.
  return { ...found, kills, counts: { ...load.counts, longestMs } };
}

export interface IncidentSum {
  readonly name: string;
  runs: number;
  kills: number;
  batches: number;
  lost: number;
  doubled: number;
  unknown: number;
  refused: number;
  unanswered: number;
  readonly longestMs: number[];
  readonly wrong: string[];
}

export const newSum = (name: string): IncidentSum => ({
  name,
  runs: 0,
  kills: 0,
  batches: 0,
  lost: 0,
  doubled: 0,
  unknown: 0,
  refused: 0,
  unanswered: 0,
  longestMs: [],
  wrong: [],
});

/** Adds a run. `before`: what the audit before it found, since the ledger is of all runs. */
export function addRun(sum: IncidentSum, outcome: IncidentOutcome, before: Audit): void {
  const { counts } = outcome;
  sum.runs++;
  sum.kills += outcome.kills;
  sum.batches += counts.batches;
  sum.lost += outcome.lost - before.lost;
  sum.doubled += outcome.doubled - before.doubled;
  sum.unknown += outcome.unknown - before.unknown;
  sum.refused += counts.refused;
  sum.unanswered += counts.unanswered;
  sum.longestMs.push(counts.longestMs);
  sum.wrong.push(...counts.wrong);
}

/** The table of the documentation. */
export function incidentTable(sums: readonly IncidentSum[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const rows = sums.map(({ name, runs, kills, batches, lost, doubled, refused, unanswered, longestMs }) => {
    const sorted = [...longestMs].sort((a, b) => a - b);
    const waits = `${seconds(sorted[sorted.length >> 1] ?? 0)} / ${seconds(sorted.at(-1) ?? 0)}`;
    return [name, runs, kills, batches, lost, doubled, refused + unanswered, waits];
  });
  const head = ["what", "runs", "kills", "acknowledged batches", "events lost", "counted twice", "tries in vain"];
  return [
    [...head, "longest wait, median / most, s"],
    [...head, ""].map((_, index) => (index === 0 ? "---" : "--:")),
    ...rows,
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
