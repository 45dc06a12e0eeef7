/** Nodes on a real cluster that share its configuration, in this process: what tests of the mirror change, cut off and kill. */

import type { Test } from "tap";
import { Credentials } from "../../../src/auth/credentials.js";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { ConfigFollower } from "../../../src/cluster-store/config/config-follower.js";
import { ConfigState } from "../../../src/cluster-store/config/config-state.js";
import { type OpenedConfig, openConfig } from "../../../src/cluster-store/config/open-config.js";
import { storeAclRules } from "../../../src/cluster-store/permissions.js";
import { Accounts } from "../../../src/control-plane/accounts/accounts.js";
import { Projects } from "../../../src/control-plane/accounts/projects.js";
import { Rules } from "../../../src/control-plane/rules/rules.js";
import { Refusal, UnavailableError } from "../../../src/errors.js";
import { mirroredTableNames } from "../../../src/store/mirrored-tables.js";
import { openStore } from "../../../src/store/open-store.js";
import type { Store } from "../../../src/store/store.js";
import { tables } from "../../../src/store/tables.js";
import { ownFolder } from "../../support/own-folder.js";
import { type RedisCluster, startRedis } from "../../support/redis-cluster.js";
import { waitUntil } from "../../support/wait-until.js";

/** A cluster whose nodes are not taken for dead because the machine is busy, and its URL for a user who may do no more than the store needs. */
export async function startConfigCluster(t: Pick<Test, "teardown">): Promise<{ cluster: RedisCluster; url: StoreUrl }> {
  const user = ["user", "store", "on", ">secret", ...storeAclRules];
  const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "60000"], user] });
  return { cluster, url: parseStoreUrl(cluster.url.replace("redis://", "redis://store:secret@")) as StoreUrl };
}

/** A node of its own folder, as far as the configuration goes. */
interface Node extends OpenedConfig {
  readonly client: ClusterClient;
  readonly state: ConfigState;
  readonly folder: string;
  readonly faults: unknown[];
  readonly accounts: Accounts;
  readonly projects: Projects;
  readonly rules: Rules;
  readonly credentials: Credentials;
  /** As `kill -9` of its process, as far as others can tell. */
  vanish(): void;
  stop(): Promise<void>;
}

/** A node that follows the configuration of a cluster. */
export async function startNodeOn(url: StoreUrl, t: Test, folder = ownFolder(t)): Promise<Node> {
  const client = new ClusterClient({ url });
  const opened = openStore(folder);
  const state = new ConfigState();
  let follower: ConfigFollower | undefined;
  const stop = async (): Promise<void> => {
    await follower?.stop();
    follower = undefined;
    client.close();
    await opened.close();
  };
  t.teardown(stop);
  const config = await openConfig(opened, { client, acks: 1, name: "the test's", fault: () => state.fault });
  const faults: unknown[] = [];
  follower = new ConfigFollower({ ...config, state, onFault: (error) => faults.push(error) });
  await follower.start();
  const { store } = config;
  return {
    ...config,
    client,
    state,
    folder,
    faults,
    accounts: new Accounts(store, Date.now),
    projects: new Projects(store, Date.now),
    rules: new Rules(store, Date.now),
    credentials: new Credentials(store),
    vanish: () => client.close(),
    stop,
  };
}

/** What a change came to; throws for a refusal. */
export const done = <T>(result: T | Refusal): T => {
  if (result instanceof Refusal) throw new Error(result.message);
  return result;
};

/** Once the node may be asked again; a busy machine may let its lease run out. */
export const current = (node: Node) =>
  waitUntil(
    async () => node.state.fault,
    (fault) => fault === null,
  );

/** Does it until it is possible: what was not changed may be asked again. */
export async function eventually<T>(node: Node, change: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    await current(node);
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries === 20) throw error;
    }
  }
}

/** All that is mirrored, as bytes. */
export function mirrored(store: Store): Map<string, string> {
  store.root.resetReadTxn();
  const rows = new Map<string, string>();
  for (const table of mirroredTableNames.split(" ")) {
    const raw = store.root.openDB<Buffer, Buffer>({ name: table, encoding: "binary", keyEncoding: "binary" });
    for (const { key, value } of raw.getRange({})) {
      const name = key.toString("latin1");
      if (table !== tables.meta.name || name.includes("next:")) rows.set(`${table} ${name}`, value.toString("hex"));
    }
  }
  return rows;
}
