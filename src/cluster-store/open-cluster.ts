/** Opens the cluster that `--store` names: checks it first, then connects this thread's store to its sessions. */

import { readFileSync } from "node:fs";
import { ClusterClient, type ClusterOptions } from "../cluster/cluster-client.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { type Inspection, inspectCluster } from "../cluster/inspection.js";
import { faultsLine } from "../cluster/inspection-findings.js";
import { describeStoreUrl, parseStoreUrl, type StoreUrl } from "../cluster/store-url.js";
import { dayMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import { StoreError } from "../store/failures.js";
import { openStore, openStoreAsIs } from "../store/open-store.js";
import type { Store } from "../store/store.js";
import { hasStore } from "../store/store-file.js";
import { ClusterLeases } from "./cluster-leases.js";
import { ClusterNodeReports } from "./cluster-node-reports.js";
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
  /** File with the authorities of its certificates; "" for the system's. */
  readonly storeCa?: string;
  /** Files with the certificate that it asks of its clients, and its key; "" for none. */
  readonly storeCert?: string;
  readonly storeKey?: string;
  /** Overrides the URL's; "" keeps the one in the URL. */
  readonly storePassword?: string;
  /** The folder of the mirror. */
  readonly dataDir: string;
  readonly storeAcks: number;
  readonly storeDeadlineMs: number;
  readonly storeDurable: boolean;
  readonly sessionDays: number;
  readonly blockDays: number;
  readonly statsDays: number;
  /** How long verdicts are cached, seconds. */
  readonly verdictTtl: number;
}

/** A thread's client, and the store that reads and writes the cluster. */
export interface OpenedCluster {
  readonly client: ClusterClient;
  readonly url: StoreUrl;
  /** The mirror. Its sessions and changes of configuration go to the cluster. */
  readonly store: Store;
  /** Returns why calls of the control plane can't be answered now; `null` means that they can. */
  controlPlaneFault(): string | null;
  /** How long ago the node last heard of all changes of the configuration, ms. */
  configAgeMs(): number;
}

/** A thread of a node, and its role in the configuration. */
export interface NodeThread {
  /** `newConfigState`, the same for all threads of the process. */
  readonly state: SharedArrayBuffer;
  /** Whether it follows the configuration and keeps the node's lease for all threads: one of a process does. */
  readonly isFollower: boolean;
  /** Called with why the configuration can't be followed, once for each kind of fault until it recovers; then with null. */
  readonly onFault: (error: unknown | null) => void;
}

/** The maximum of `--session-days` and `--block-days`. */
const longestMs = 3650 * dayMs;

/** How to reach a cluster; all of it was checked before. Throws for another URL, or a file that has gone since. */
export function storeUrlOf(reached: ReachedCluster): StoreUrl {
  const { store, storeCa = "", storeCert = "", storeKey = "", storePassword = "" } = reached;
  const url = parseStoreUrl(store);
  if ("fault" in url) throw new Error(`the URL of the cluster ${url.fault}`);
  return {
    ...url,
    ...(storePassword !== "" && { password: storePassword }),
    ...(storeCa !== "" && { ca: readFileSync(storeCa, "utf8"), caFile: storeCa }),
    ...(storeCert !== "" && { own: ownCertificateOf(storeCert, storeKey) }),
    ...(storePassword !== "" && passwordFileOf(storePassword)),
  };
}

function ownCertificateOf(certificateFile: string, keyFile: string): Required<StoreUrl>["own"] {
  const [certificate, key] = [readFileSync(certificateFile, "utf8"), readFileSync(keyFile, "utf8")];
  return { certificate, key, certificateFile, keyFile };
}

/** The file that the password was read from, if it was: new connections read it again. */
function passwordFileOf(storePassword: string): { passwordFile?: string } {
  const passwordFile = process.env["VERDICTD_STORE_PASSWORD_FILE"];
  if (passwordFile === undefined) return {};
  const held = readFileSync(passwordFile, "utf8").replace(/\r?\n$/, "");
  return held === storePassword ? { passwordFile } : {};
}

/** The connection settings, for `serve` and commands alike. */
export type ReachedCluster = Pick<ClusterChoice, "store" | "storeCa" | "storeCert" | "storeKey" | "storePassword">;

/** Checks the cluster before a start. Throws a `StoreError` that names all faults; returns possible later problems, a line each. */
export async function checkCluster(choice: CheckedChoice, onWait?: OnWait): Promise<readonly string[]> {
  return (await fitCluster(choice, onWait)).warnings;
}

/** Called with why the cluster takes long. */
type OnWait = (why: string) => void;

type CheckedChoice = ReachedCluster & Pick<ClusterChoice, "storeAcks" | "storeDurable">;

/** As `checkCluster`; also returns the free bytes of its masters and the addresses of its nodes. */
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

/** The name of the cluster in messages: its URL without user and password. */
export function describeCluster(choice: ReachedCluster): string {
  return describeStoreUrl(storeUrlOf(choice));
}

/** The error that refuses a start: all faults of the cluster in one line. */
export function unfit(choice: ReachedCluster, faults: readonly string[]): StoreError {
  return new StoreError(`${describeCluster(choice)}: ${faultsLine(faults)}`);
}

/** What is wrong with the cluster as a store, and what may become a problem later. */
export function lookAtCluster(choice: CheckedChoice, onWait?: OnWait): Promise<Inspection> {
  const { storeAcks, storeDurable } = choice;
  const demands = { acks: storeAcks, isDurableOtherwise: storeDurable, commands: rowCommands, keys: storeKeys };
  return inspectCluster(storeUrlOf(choice), demands, { onWait });
}

/**
 * Whether the folder mirrors this cluster already: then this start is not the first. `ifUnanswered`: what to say while the shard that holds the
 * configuration does not answer, which alone knows.
 */
export async function isMirrorOf(
  choice: ReachedCluster & Pick<ClusterChoice, "dataDir">,
  { ifUnanswered }: { readonly ifUnanswered: boolean } = { ifUnanswered: true },
): Promise<boolean> {
  if (!hasStore(choice.dataDir)) return false;
  const store = openStore(choice.dataDir);
  const client = new ClusterClient({ url: storeUrlOf(choice) });
  try {
    const known = storedPosition(store)?.cluster;
    if (known === undefined) return false;
    await client.ready();
    return known === (await new ConfigTruth(client, 0).clusterId());
  } catch (error) {
    if (error instanceof ClusterError) return ifUnanswered;
    throw error;
  } finally {
    client.close();
    await store.close();
  }
}

/** Returns why a cluster could not be opened: its faults as a store, if they say more than the error. */
export async function openingFault(error: unknown, choice: CheckedChoice, onWait: OnWait): Promise<unknown> {
  const isOfCluster = error instanceof ClusterError;
  if (!isOfCluster && !(error instanceof StoreError)) return error;
  const { faults, isMixed } = await lookAtCluster({ ...choice, storeAcks: 0, storeDurable: true }, onWait);
  // A cluster that the folder does not mirror, or that is empty, may be the second cluster of the URL.
  return (isOfCluster && faults.length > 0) || isMixed ? unfit(choice, faults) : error;
}

/** Opens the mirror, up to date, and a client to the cluster. Throws `StoreError` and `ClusterError`, and leaves nothing open then. */
export async function openCluster(choice: ClusterChoice, thread: NodeThread): Promise<OpenedCluster> {
  const state = new ConfigState(thread.state);
  const controlPlaneFault = (): string | null => state.fault;
  const { client, url, close, ...config } = await openMirror(choice, {
    isServer: true,
    fault: controlPlaneFault,
    times: {
      sessionMs: choice.sessionDays * dayMs,
      blockMs: choice.blockDays * dayMs,
      statsMs: choice.statsDays * dayMs,
      deadlineMs: Math.max(2, choice.storeDeadlineMs),
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
    store: {
      ...config.store,
      leases: new ClusterLeases(client),
      nodeReports: new ClusterNodeReports(client),
      close: stop,
    },
    configAgeMs: () => state.ageMs,
    controlPlaneFault,
  };
}

/** In ms: how long writes are kept, how long a verdict or a read of a whole session waits for the cluster, and how long a read session is held. */
interface ClusterTimes {
  readonly sessionMs: number;
  readonly blockMs: number;
  readonly statsMs?: number;
  readonly deadlineMs: number;
  readonly patienceMs: number;
  readonly heldMs: number;
}

/** For commands: their writes to sessions and blocks must not shorten what a node keeps. */
const timesOfCommands: ClusterTimes = {
  sessionMs: longestMs,
  blockMs: longestMs,
  deadlineMs: limits.clusterWriteMs,
  patienceMs: limits.clusterGiveUpMs,
  heldMs: limits.clusterRowMs,
};

/** Everything that is stored in the cluster itself, not in the mirror. */
function clusterTables(client: ClusterClient, acks: number, times: ClusterTimes) {
  const { sessionMs, blockMs, statsMs, deadlineMs, patienceMs, heldMs } = times;
  const common = { client, acks, sessionMs, now: Date.now };
  return {
    remoteSessions: new ClusterSessions(client, acks, patienceMs),
    counts: new ClusterHourlyCounts(client, statsMs),
    rows: new ClusterSessionRows({ ...common, deadlineMs, heldMs }),
    recorded: clusterRecordedRows({ ...common, blockMs, trafficMs: statsMs }),
  };
}

/** What a command that changes the configuration needs from a cluster. */
export interface OpenedMirror extends OpenedConfig {
  readonly client: ClusterClient;
  readonly url: StoreUrl;
  close(): Promise<void>;
}

interface MirrorOptions extends Pick<ClusterOptions, "onWait"> {
  /** Whether an older mirror is upgraded. */
  readonly isServer?: boolean;
  readonly fault?: () => string | null;
  readonly times?: ClusterTimes;
}

/**
 * Opens the mirror, with the current configuration, and a client to the cluster. A command needs no more, because it is no node. `fault` of a node
 * returns why nothing may be changed now, or null; `onWait` is called with why the cluster takes long. Throws `StoreError` and `ClusterError`, and
 * leaves nothing open then.
 */
export async function openMirror(
  choice: ReachedCluster & Pick<ClusterChoice, "dataDir" | "storeAcks">,
  { isServer = false, fault = () => null, times = timesOfCommands, onWait }: MirrorOptions = {},
): Promise<OpenedMirror> {
  const { dataDir, storeAcks: acks } = choice;
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
    store = isServer ? openStore(dataDir) : openStoreAsIs(dataDir);
    const config = await openConfig(store, { ...options, fault });
    return { ...config, store: { ...config.store, ...clusterTables(client, acks, times) }, client, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** How long the counts of scoring threads may still be under way after the last batch is answered, ms. */
export const countsOnTheirWayMs = 4 * limits.clusterCountsMs;
