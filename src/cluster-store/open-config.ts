/** Joins a node's folder to the configuration of its cluster: refuses what does not belong together, then reads what is missing. */
import { randomUUID } from "node:crypto";
import type { ClusterClient } from "../cluster/cluster-client.js";
import { MirroredTables } from "../store/mirrored-tables.js";
import type { Store } from "../store/store.js";
import { StoreError } from "../store/store-error.js";
import { ClusterChanges } from "./config-changes.js";
import { ConfigMirror, storedPosition } from "./config-mirror.js";
import { ConfigTruth } from "./config-truth.js";

/** The cluster that a folder is joined to, and what its changes wait for. */
export interface ConfigOptions {
  readonly client: ClusterClient;
  /** Replicas that must have a change before anybody acts on it. */
  readonly acks: number;
  /** The cluster as people name it, without a password; for messages. */
  readonly name: string;
  /** Why this node must not change anything now, or null. Absent for a command, which is no node. */
  readonly fault?: () => string | null;
}

/** The joined store; its mirror is as of the last change that was read. */
export interface OpenedConfig {
  /** The store, whose configuration is that of the cluster. */
  readonly store: Store;
  readonly mirror: ConfigMirror;
  readonly truth: ConfigTruth;
}

/**
 * Makes `store` a mirror of the cluster's configuration, as it is now; a cluster without any gets an empty one. Throws a `StoreError`, and
 * changes nothing, when the folder holds the store of a single host or mirrors another cluster; `ClusterError` when the cluster does not
 * answer. Call once for an opened store, in each thread that opens one.
 */
export async function openConfig(store: Store, options: ConfigOptions): Promise<OpenedConfig> {
  const { client, acks, name, fault } = options;
  const truth = new ConfigTruth(client, acks);
  const cluster = await clusterOf(store, truth, name);
  const mirror = new ConfigMirror(store, new MirroredTables(store), truth, cluster);
  await mirror.catchUp();
  return { store: { ...store, changes: new ClusterChanges(mirror, truth, fault) }, mirror, truth };
}

/** Id of the cluster that this folder may mirror. */
async function clusterOf(store: Store, truth: ConfigTruth, name: string): Promise<string> {
  const known = storedPosition(store)?.cluster ?? null;
  const found = await truth.clusterId();
  if (await truth.isBeingCopied()) {
    throw new StoreError(
      `${name} is being filled by \`verdictd store migrate\`: finish that with --final, then it can be used`,
    );
  }
  if (known === null) {
    if (store.accounts.getKeysCount({ limit: 1 }) > 0 || store.sessions.getKeysCount({ limit: 1 }) > 0) {
      throw new StoreError(
        `${store.root.path} is the store of a single host: name another folder for the mirror of ${name}`,
      );
    }
    return found ?? truth.identify(randomUUID());
  }
  if (found === null) {
    throw new StoreError(
      `${store.root.path} mirrors cluster ${known}, but ${name} holds no configuration: it is another one, or has lost its rows`,
    );
  }
  if (found !== known) {
    throw new StoreError(
      `${store.root.path} mirrors cluster ${known}, but ${name} is cluster ${found}: name that one, or another folder`,
    );
  }
  return known;
}

/** Why the store can't be used as that of a single host; null: it can. */
export function mirrorFault(store: Store): string | null {
  if (storedPosition(store) === null) return null;
  return `${store.root.path} mirrors the configuration of a cluster: name that with --store, or another folder with --data-dir`;
}
