/** What commands are tried on: a cluster that is fit for a store, one that is too small, and a server that is none. */
import type { Test } from "tap";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { type RedisCluster, startRedis } from "../support/redis-cluster.js";

/** The engines, and how the first is named. */
interface CommandClusters {
  readonly cluster: RedisCluster;
  /** Of the cluster, for a user who may do no more than the store needs. */
  readonly url: string;
  /** One master without replicas. */
  readonly other: RedisCluster;
  readonly single: RedisCluster;
}

/** Starts them. */
export async function startCommandClusters(t: Pick<Test, "teardown">): Promise<CommandClusters> {
  const user = ["user", "store", "on", ">secret", ...storeAclRules];
  const [cluster, other, single] = await Promise.all([
    startRedis(t, { settings: [user] }),
    startRedis(t, { masters: 1, replicas: 0 }),
    startRedis(t, { isSingle: true }),
  ]);
  return { cluster, url: cluster.url.replace("redis://", "redis://store:secret@"), other, single };
}
