/**
 * Joins a node's folder to the configuration of its cluster. Refuses a folder that belongs to another store or cluster, then reads what is missing.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { ClusterClient } from "../../cluster/cluster-client.js";
import { limits } from "../../limits.js";
import { StoreError } from "../../store/failures.js";
import { migrationMark } from "../../store/migration-mark.js";
import { MirroredTables } from "../../store/mirrored-tables.js";
import type { Store } from "../../store/store.js";
import { storeFileFault } from "../../store/store-file.js";
import { ClusterChanges } from "./config-changes.js";
import { ConfigMirror, storedPosition } from "./config-mirror.js";
import { ConfigTruth } from "./config-truth.js";

/** The cluster that a folder joins, and how long its changes wait. */
interface ConfigOptions {
  readonly client: ClusterClient;
  /** Replicas that must have a change before any node acts on it. */
  readonly acks: number;
  /** The name of the cluster in messages, without a password. */
  readonly name: string;
  /** Returns why this node must not change anything now, or null. Absent for a command, because that is no node. */
  readonly fault?: () => string | null;
}

/** The joined store; its mirror has every change up to the last one read. */
export interface OpenedConfig {
  /** The store with the configuration of the cluster. */
  readonly store: Store;
  readonly mirror: ConfigMirror;
  readonly truth: ConfigTruth;
}

/**
 * Makes `store` a mirror of the cluster's current configuration; a cluster without one gets an empty one. Throws a `StoreError`, and changes nothing,
 * if the folder holds the store of a single host or mirrors another cluster; throws a `ClusterError` if the cluster does not answer. Call once for an
 * opened store, in each thread that opens one.
 */
export async function openConfig(store: Store, options: ConfigOptions): Promise<OpenedConfig> {
  const { client, acks, name, fault } = options;
  const truth = new ConfigTruth(client, acks);
  const cluster = await clusterOf(store, truth, name);
  const mirror = new ConfigMirror(store, new MirroredTables(store), truth, cluster);
  await mirror.catchUp();
  return { store: { ...store, changes: new ClusterChanges(mirror, truth, fault) }, mirror, truth };
}

/** Asks for the configuration as a new mirror would, without its rows. If it fails, a start has not yet created a folder. Throws as `openConfig`. */
export async function tryConfig({ client, acks, name }: Omit<ConfigOptions, "fault">): Promise<void> {
  const truth = new ConfigTruth(client, acks);
  const cluster = (await openedClusterId(truth, name)) ?? (await truth.identify(randomUUID()));
  await truth.follow({ cluster, revision: -1, change: "" }, null, limits.configLeaseMs);
}

/** Returns the id of the cluster, or null when it has no configuration yet. Throws a `StoreError` while a store is being copied into it. */
async function openedClusterId(truth: ConfigTruth, name: string): Promise<string | null> {
  if (await truth.isBeingCopied()) {
    throw new StoreError(
      `${name} is being filled by \`verdictd store migrate\`: finish that with --final, then it can be used`,
    );
  }
  return truth.clusterId();
}

/** Returns the id of the cluster that this folder may mirror. */
async function clusterOf(store: Store, truth: ConfigTruth, name: string): Promise<string> {
  const known = storedPosition(store)?.cluster ?? null;
  const found = await openedClusterId(truth, name);
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

/** Returns why the mirror in this folder can't be opened, or null; also null when there is none yet. */
export function mirrorFileFault(dataDir: string): string | null {
  return storeFileFault(
    dataDir,
    `the mirror of a cluster is made again from it: move ${resolve(dataDir)} away, then run this again`,
  );
}

/** Returns why the store can't be used as the store of a single host; `null` means that it can. */
export function mirrorFault(store: Store, canNameCluster = true): string | null {
  if (storedPosition(store) === null) return null;
  const way = canNameCluster
    ? "name that with --store, or another folder with --data-dir"
    : "name the folder of a single host's store with --data-dir";
  return `${store.root.path} mirrors the configuration of a cluster: ${way}`;
}

/**
 * Returns why the store must not be used: it was migrated to a cluster, or the last step of that is under way. `null` means that it may be used. May
 * be called in a write transaction.
 */
export function migratedFault(store: Store): string | null {
  const mark = migrationMark(store);
  if (mark === null) return null;
  const { cluster, name = `cluster ${cluster}`, doneAt, final = null } = mark;
  if (doneAt === null) {
    if (final === null) return null;
    return (
      `${store.root.path} is being migrated to ${name} by \`verdictd store migrate --final\` since ${final.since}: wait until that has ended; ` +
      "if it was killed, run it again, or take this store back into use with `verdictd store reopen`"
    );
  }
  return (
    `${store.root.path} was migrated to ${name} at ${doneAt}: name that with --store, and another --data-dir; ` +
    "or take this store back into use, without what the cluster has recorded since, with `verdictd store reopen`"
  );
}
