/**
 * What the servers of the tests keep their sessions and configuration in: a folder of one host, or, with `TEST_STORE=cluster`, a cluster for each
 * folder, which then is the folder of its mirror. So the tests of the contract run on both. What only a cluster needs is loaded only for one.
 */

import { dirname, resolve } from "node:path";
import { t as root } from "tap";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import type { RedisCluster } from "./redis-cluster.js";
import { waitUntil } from "./wait-until.js";

export const isOnCluster = process.env["TEST_STORE"] === "cluster";

const clusters = new Map<string, Promise<RedisCluster>>();

async function clusterOf(dataDir: string): Promise<RedisCluster> {
  const folder = resolve(dataDir);
  let cluster = clusters.get(folder);
  if (cluster === undefined) {
    cluster = import("./redis-cluster.js").then(({ startRedis }) => startRedis(root));
    clusters.set(folder, cluster);
  }
  return cluster;
}

/** The cluster that an open store mirrors; null: it is that of one host. */
export async function clusterBehind(store: Store): Promise<RedisCluster | null> {
  return isOnCluster ? clusterOf(dirname(store.root.path)) : null;
}

/** The URL of the cluster that belongs to this folder, for `--store`; "" on one host. */
export async function storeUrlFor(dataDir: string): Promise<string> {
  return isOnCluster ? (await clusterOf(dataDir)).url : "";
}

/** Opens what a server on this folder has, beside it, as the command line does. */
export async function openTestStore(dataDir: string): Promise<Store> {
  if (!isOnCluster) return openStore(dataDir);
  const { openMirror } = await import("../../src/cluster-store/open-cluster.js");
  const { store, close } = await openMirror({ store: await storeUrlFor(dataDir), dataDir, storeAcks: 1 });
  return { ...store, close };
}

/** Rows of all sessions, or of all `Idempotency-Key`s, that are stored. */
export async function countRows(store: Store, kind: "sessions" | "idempotency"): Promise<number> {
  const cluster = await clusterBehind(store);
  if (cluster === null) return store[kind].getKeysCount();
  let count = 0;
  for (const node of await cluster.masters()) {
    count += ((await node.ask("KEYS", `vd{[0-9]*}${kind[0]}*`)) as unknown[]).length;
  }
  return count;
}

/** What lags behind on a cluster, such as counts: what is seen at once on one host, and on a cluster once `isThere` of it. */
export function seenOnce<T>(look: () => Promise<T>, isThere: (seen: T) => boolean): Promise<T> {
  return isOnCluster ? waitUntil(look, isThere) : look();
}
