/**
 * What the servers of the tests keep their sessions and configuration in: a folder of one host, or, with `TEST_STORE=cluster`, a cluster for each
 * folder, which then is the folder of its mirror. So the tests of the contract run on both.
 */
import { t as root } from "tap";
import { ClusterHourlyCounts } from "../../src/cluster-store/cluster-hourly-counts.js";
import { ClusterSessionRows } from "../../src/cluster-store/cluster-session-rows.js";
import { openMirror } from "../../src/cluster-store/open-cluster.js";
import { openStore, type Store } from "../../src/store/store.js";
import { type RedisCluster, startRedis } from "./redis-cluster.js";

export const isOnCluster = process.env["TEST_STORE"] === "cluster";

/** Why a test is left out on a cluster: the `skip` of its options. `false` on one host. */
export const notOnCluster = (why: string): string | false => isOnCluster && `on a cluster: ${why}`;

const clusters = new Map<string, Promise<RedisCluster>>();

/** The URL of the cluster that belongs to this folder, for `--store`; "" on one host. */
export async function storeUrlFor(dataDir: string): Promise<string> {
  if (!isOnCluster) return "";
  let cluster = clusters.get(dataDir);
  if (cluster === undefined) {
    cluster = startRedis(root);
    clusters.set(dataDir, cluster);
  }
  return (await cluster).url;
}

/** Opens what a server on this folder has, beside it, as the command line does. */
export async function openTestStore(dataDir: string): Promise<Store> {
  const url = await storeUrlFor(dataDir);
  if (url === "") return openStore(dataDir);
  const { store, client, close } = await openMirror({ store: url, dataDir, engineAcks: 1 });
  const rows = new ClusterSessionRows({
    client,
    acks: 1,
    sessionMs: 3_600_000,
    deadlineMs: 5000,
    now: Date.now,
  });
  return { ...store, rows, counts: new ClusterHourlyCounts(client), close };
}

/** How many sessions are stored. */
export async function countSessions(dataDir: string, store: Store): Promise<number> {
  if (!isOnCluster) return store.sessions.getCount();
  const { nodes } = await clusters.get(dataDir)!;
  let count = 0;
  for (const node of nodes) {
    if (!String(await node.ask("INFO", "replication")).includes("role:master")) continue;
    count += ((await node.ask("KEYS", "vd{*}s*")) as unknown[]).length;
  }
  return count;
}
