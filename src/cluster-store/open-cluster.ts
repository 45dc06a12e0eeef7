/** Opens the cluster that `--store` names: looks at it first, then joins the sessions of this thread's store to it. */

import { readFileSync } from "node:fs";
import { ClusterClient, type ClusterOptions } from "../cluster/cluster-client.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { type Inspection, inspectCluster } from "../cluster/inspection.js";
import { faultsLine } from "../cluster/inspection-findings.js";
import { describeStoreUrl, parseStoreUrl, type StoreUrl } from "../cluster/store-url.js";
import { dayMs } from "../contract/durations.js";
import { limits } from "../limits.js";
import { openStore } from "../store/open-store.js";
import type { Store } from "../store/store.js";
import { StoreError } from "../store/store-error.js";
import { hasStore } from "../store/store-file.js";
import { ClusterLeases } from "./cluster-leases.js";
import { ConfigFollower } from "./config/config-follower.js";
import { storedPosition } from "./config/config-mirror.js";
import { ConfigState } from "./config/config-state.js";
import { ConfigTruth } from "./config/config-truth.js";
import { type OpenedConfig, openConfig, tryConfig } from "./config/open-config.js";
import { rowCommands, storeKeys } from "./permissions.js";
import { ClusterHourlyCounts } from "./recorded/cluster-hourly-counts.js";
import { clusterRecordedRows } from "./recorded/cluster-recorded-rows.js";
import { ClusterSessionRows } from "./sessions/cluster-session-rows.js";
import { ClusterSessions } from "./sessions/cluster-sessions.js";

/** The options of `serve` that concern the cluster. */
export interface ClusterChoice {
  /** As given to `--store`. */
  readonly store: string;
  /** File of the authorities of its certificates; "": those of the system. */
  readonly engineCa?: string;
  /** In the place of the URL's; "": that of the URL. */
  readonly enginePassword?: string;
  /** The folder of the mirror. */
  readonly dataDir: string;
  readonly engineAcks: number;
  readonly engineDeadlineMs: number;
  readonly engineDurable: boolean;
  readonly sessionDays: number;
  readonly blockDays: number;
  readonly statsDays: number;
  /** Of the verdict cache, seconds. */
  readonly verdictTtl: number;
}

/** A thread's client, and the store through which it reads and writes the cluster. */
export interface OpenedCluster {
  readonly client: ClusterClient;
  readonly url: StoreUrl;
  /** The mirror, whose sessions and changes of configuration are those of the cluster. */
  readonly store: Store;
  /** Why calls of the control plane can't be answered now; null: they can. */
  controlPlaneFault(): string | null;
  /** How long ago the node last heard of all changes of the configuration, ms. */
  configAgeMs(): number;
}

/** A thread of a node, and what it is for the configuration. */
export interface NodeThread {
  /** `newConfigState`, the same for all threads of the process. */
  readonly state: SharedArrayBuffer;
  /** Whether it follows the configuration, and keeps the node's lease, for all of them: one of a process does. */
  readonly isFollower: boolean;
  /** Told why the configuration can't be followed, each kind of fault once until it can be again; then null. */
  readonly onFault: (error: unknown | null) => void;
}

/** As long as `--session-days` and `--block-days` may be at most. */
const longestMs = 3650 * dayMs;

/** How a cluster is reached: all of it was checked before. Throws for another URL, or a file that has gone since. */
export function storeUrlOf({ store, engineCa = "", enginePassword = "" }: ReachedCluster): StoreUrl {
  const url = parseStoreUrl(store);
  if ("fault" in url) throw new Error(`the URL of the cluster ${url.fault}`);
  return {
    ...url,
    ...(enginePassword !== "" && { password: enginePassword }),
    ...(engineCa !== "" && { ca: readFileSync(engineCa, "utf8") }),
  };
}

/** What it takes to connect, for `serve` and commands alike. */
export type ReachedCluster = Pick<ClusterChoice, "store" | "engineCa" | "enginePassword">;

/**
 * What is wrong with the cluster for a start: throws a `StoreError` that names all faults; gives what may hurt one day, a line each.
 */
export async function checkCluster(choice: CheckedChoice, onWait?: OnWait): Promise<readonly string[]> {
  return (await fitCluster(choice, onWait)).warnings;
}

/** Told why the cluster takes long. */
type OnWait = (why: string) => void;

type CheckedChoice = ReachedCluster & Pick<ClusterChoice, "engineAcks" | "engineDurable">;

/** As `checkCluster`; gives the bytes that its masters have left, and the addresses of its nodes, too. */
export async function fitCluster(
  choice: CheckedChoice,
  onWait?: OnWait,
): Promise<{ warnings: readonly string[]; freeBytes: number; addresses: readonly string[] }> {
  const { faults, warnings, nodes } = await lookAtCluster(choice, onWait);
  if (faults.length > 0) throw unfit(choice, faults);
  const free = nodes
    .filter(({ role }) => role === "master")
    .map(({ maxmemory, usedMemory }) => (maxmemory === 0 ? Number.POSITIVE_INFINITY : maxmemory - usedMemory));
  return {
    warnings,
    freeBytes: Math.max(
      0,
      free.reduce((sum, bytes) => sum + bytes, 0),
    ),
    addresses: nodes.map(({ address }) => address),
  };
}

/** The cluster as people name it: its URL without user and password. */
export function describeCluster(choice: ReachedCluster): string {
  return describeStoreUrl(storeUrlOf(choice));
}

/** What a start is refused with: all faults of the cluster in one line. */
export function unfit(choice: ReachedCluster, faults: readonly string[]): StoreError {
  return new StoreError(`${describeCluster(choice)}: ${faultsLine(faults)}`);
}

/** What is wrong with the cluster as a store, and what may hurt one day. */
export function lookAtCluster(choice: CheckedChoice, onWait?: OnWait): Promise<Inspection> {
  const { engineAcks, engineDurable } = choice;
  const demands = { acks: engineAcks, isDurableOtherwise: engineDurable, commands: rowCommands, keys: storeKeys };
  return inspectCluster(storeUrlOf(choice), demands, { onWait });
}

/** Whether the folder is a mirror of this cluster already, so that a start is not the first. */
export async function isMirrorOf(choice: ReachedCluster & Pick<ClusterChoice, "dataDir">): Promise<boolean> {
  if (!hasStore(choice.dataDir)) return false;
  const store = openStore(choice.dataDir);
  const client = new ClusterClient({ url: storeUrlOf(choice) });
  try {
    const known = storedPosition(store)?.cluster;
    if (known === undefined) return false;
    await client.ready();
    return known === (await new ConfigTruth(client, 0).clusterId());
  } catch (error) {
    // Which one it is will be seen when it answers.
    if (error instanceof ClusterError) return true;
    throw error;
  } finally {
    client.close();
    await store.close();
  }
}

/** Why a cluster could not be opened: what is wrong with it as a store, if that says more than the error. */
export async function openingFault(error: unknown, choice: CheckedChoice, onWait: OnWait): Promise<unknown> {
  const isOfCluster = error instanceof ClusterError;
  if (!isOfCluster && !(error instanceof StoreError)) return error;
  const { faults, isMixed } = await lookAtCluster({ ...choice, engineAcks: 0, engineDurable: true }, onWait);
  // A cluster that the folder does not mirror, or that is empty, may be the second one of the URL.
  return (isOfCluster && faults.length > 0) || isMixed ? unfit(choice, faults) : error;
}

/** Opens the mirror, up to date, and a client to the cluster. Throws `StoreError` and `ClusterError`; nothing is left open then. */
export async function openCluster(choice: ClusterChoice, thread: NodeThread): Promise<OpenedCluster> {
  const state = new ConfigState(thread.state);
  const controlPlaneFault = (): string | null => state.fault;
  const { client, url, close, ...config } = await openMirror(choice, {
    fault: controlPlaneFault,
    times: {
      sessionMs: choice.sessionDays * dayMs,
      blockMs: choice.blockDays * dayMs,
      statsMs: choice.statsDays * dayMs,
      deadlineMs: Math.max(2, choice.engineDeadlineMs),
      patienceMs: limits.clusterWriteMs,
      heldMs: Math.min(limits.clusterRowMs, choice.verdictTtl * 1000),
    },
  });
  const follower = thread.isFollower ? new ConfigFollower({ ...config, state, onFault: thread.onFault }) : null;
  const stop = async (): Promise<void> => {
    await follower?.stop();
    await close();
  };
  try {
    await follower?.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    client,
    url,
    store: { ...config.store, leases: new ClusterLeases(client), close: stop },
    configAgeMs: () => state.ageMs,
    controlPlaneFault,
  };
}

/** How long what is written is kept, a verdict, and who asks for a whole session, waits for the cluster, and what was read is held, ms. */
interface ClusterTimes {
  readonly sessionMs: number;
  readonly blockMs: number;
  readonly statsMs?: number;
  readonly deadlineMs: number;
  readonly patienceMs: number;
  readonly heldMs: number;
}

/** For commands: what they write of sessions and blocks must not shorten the life of what a node keeps. */
const timesOfCommands: ClusterTimes = {
  sessionMs: longestMs,
  blockMs: longestMs,
  deadlineMs: limits.clusterWriteMs,
  patienceMs: limits.clusterGiveUpMs,
  heldMs: limits.clusterRowMs,
};

/** All that lies in the cluster itself, not in the mirror. */
function clusterTables(client: ClusterClient, acks: number, times: ClusterTimes) {
  const { sessionMs, blockMs, statsMs, deadlineMs, patienceMs, heldMs } = times;
  const common = { client, acks, sessionMs, now: Date.now };
  return {
    remoteSessions: new ClusterSessions(client, acks, patienceMs),
    counts: new ClusterHourlyCounts(client, statsMs),
    rows: new ClusterSessionRows({ ...common, deadlineMs, heldMs }),
    recorded: clusterRecordedRows({ ...common, blockMs }),
  };
}

/** What a command that changes the configuration has of a cluster. */
export interface OpenedMirror extends OpenedConfig {
  readonly client: ClusterClient;
  readonly url: StoreUrl;
  close(): Promise<void>;
}

interface MirrorOptions extends Pick<ClusterOptions, "onWait"> {
  readonly fault?: () => string | null;
  readonly times?: ClusterTimes;
}

/**
 * Opens the mirror, with the configuration as it is now, and a client to the cluster: all that a command needs, which is no node. `fault` of a
 * node says why nothing may be changed now, or null; `onWait` is told why the cluster takes long. Throws `StoreError` and `ClusterError`; nothing is left open then.
 */
export async function openMirror(
  choice: ReachedCluster & Pick<ClusterChoice, "dataDir" | "engineAcks">,
  { fault = () => null, times = timesOfCommands, onWait }: MirrorOptions = {},
): Promise<OpenedMirror> {
  const { dataDir, engineAcks: acks } = choice;
  const url = storeUrlOf(choice);
  const client = new ClusterClient({ url, ...(onWait && { onWait }) });
  const options = { client, acks, name: describeStoreUrl(url) };
  let store: Store | undefined;
  const close = async (): Promise<void> => {
    client.close();
    await store?.close();
  };
  try {
    await client.ready();
    if (!hasStore(dataDir)) await tryConfig(options);
    store = openStore(dataDir);
    const config = await openConfig(store, { ...options, fault });
    return { ...config, store: { ...config.store, ...clusterTables(client, acks, times) }, client, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** How long the counts of scoring threads may still be on their way when the last batch is answered, ms. */
export const countsOnTheirWayMs = 4 * limits.clusterCountsMs;
