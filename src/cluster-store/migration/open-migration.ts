/** Opens the cluster that a store is copied to, after checking that it is fit for the store. */

import { ClusterClient } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import { describeStoreUrl } from "../../cluster/store-url.js";
import { dayMs } from "../../contract/values/durations.js";
import { StoreError } from "../../store/failures.js";
import type { MigrationMark } from "../../store/migration-mark.js";
import type { Store } from "../../store/store.js";
import { ConfigTruth } from "../config/config-truth.js";
import { faultLine } from "../fault-line.js";
import { type ClusterChoice, fitCluster, type ReachedCluster, storeUrlOf } from "../open-cluster.js";
import { type MigrationReport, migrateStore } from "./migrate.js";

export type { MigrationReport } from "./migrate.js";

/** The options of `store migrate`. */
interface MigrationChoice
  extends ReachedCluster,
    Pick<ClusterChoice, "storeAcks" | "storeDurable" | "sessionDays" | "statsDays" | "blockDays"> {
  readonly isFinal: boolean;
  readonly isAnew: boolean;
  readonly onWarning: (warning: string) => void;
  /** Throws while a server uses the store. */
  readonly refuseServed: () => Promise<void>;
  /** Called with why the cluster takes long, each time that it does. */
  readonly onWait: (why: string) => void;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Returns why the store with this mark must not be used again: nodes still serve the copy. `null` means that none does. Throws a `StoreError` if the
 * cluster can't be asked; `choice` names it, or is "" to use the name in the mark.
 */
export async function stillServed(
  { cluster, name = "", user }: MigrationMark,
  choice: ReachedCluster,
  onWait: (why: string) => void,
): Promise<string | null> {
  const store = choice.store === "" ? name : choice.store;
  if (store === "") throw new StoreError("it is not known where that cluster is: name it with --to URL");
  const isOfMark = choice.store === "" && user !== undefined;
  const url = { ...storeUrlOf({ ...choice, store }), ...(isOfMark && { user }) };
  const target = describeStoreUrl(url);
  const client = new ClusterClient({ url, onWait });
  try {
    await client.ready();
    const truth = new ConfigTruth(client, 0);
    const found = await truth.clusterId();
    // The cluster was emptied meanwhile.
    if (found === null) return null;
    if (found !== cluster)
      throw new StoreError(`${target} is cluster ${found}, not ${cluster}: name that with --to URL`);
    const nodes = await truth.liveNodes();
    if (nodes === 0) return null;
    return `${nodes === 1 ? "a node still serves" : `${nodes} nodes still serve`} ${target}: stop all of its nodes, then run this again`;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    const hint =
      error.serverCode === "NOAUTH" && isOfMark
        ? `; put the password of ${user} into a file and name it in VERDICTD_STORE_PASSWORD_FILE`
        : "";
    throw new StoreError(`${target}: ${faultLine(error)}${hint}`, { cause: error });
  } finally {
    client.close();
  }
}

/** As `migrateStore`. Before the first write, throws a `StoreError` with what is wrong with the cluster. */
export async function migrateToCluster(store: Store, choice: MigrationChoice): Promise<MigrationReport> {
  const { warnings, freeBytes, addresses } = await fitCluster(choice, choice.onWait);
  const url = storeUrlOf(choice);
  const name = describeStoreUrl(url);
  // A node that the URL names may fail before it has named the other nodes again.
  const seeds = [...new Set([...url.seeds, ...addresses])];
  const client = new ClusterClient({ url: { ...url, seeds }, onWait: choice.onWait });
  try {
    await client.ready();
    return await migrateStore({
      store,
      client,
      acks: choice.storeAcks,
      name,
      user: url.user,
      sessionMs: choice.sessionDays * dayMs,
      trafficMs: choice.statsDays * dayMs,
      blockMs: choice.blockDays * dayMs,
      isFinal: choice.isFinal,
      isAnew: choice.isAnew,
      refuseServed: choice.refuseServed,
      onBegun: () => {
        for (const warning of warnings) choice.onWarning(warning);
      },
      refuseFull: () => {
        const neededBytes = memoryOf(store);
        if (neededBytes <= freeBytes) return;
        throw new StoreError(
          `${name} has ${mib(freeBytes)} MiB left, this store needs about ${mib(neededBytes)}: raise maxmemory, or add masters`,
        );
      },
      onProgress: choice.onProgress,
    });
  } finally {
    client.close();
  }
}

/** Memory of a row besides its value: key, expiry, the server's own tables. Measured with redis 7.0. */
const rowOverheadBytes = 250;

interface TableStats {
  readonly entryCount: number;
  readonly pageSize: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** Estimates the memory that the sessions take in the masters. */
function memoryOf({ sessions, repeats }: Store): number {
  let bytes = 0;
  for (const table of [sessions, repeats]) {
    const stats = table.getStats() as TableStats;
    bytes += stats.entryCount * rowOverheadBytes + (stats.treeLeafPageCount + stats.overflowPages) * stats.pageSize;
  }
  return bytes;
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
