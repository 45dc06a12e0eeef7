/** Opens the cluster that a store is copied to, once it was found to be fit for it. */
import { ClusterClient } from "../cluster/cluster-client.js";
import { describeStoreUrl } from "../cluster/store-url.js";
import type { Store } from "../store/store.js";
import { StoreError } from "../store/store-error.js";
import { type MigrationReport, migrateStore } from "./migrate.js";
import { type ClusterChoice, fitCluster, type ReachedCluster, storeUrlOf } from "./open-cluster.js";

export type { MigrationReport } from "./migrate.js";

/** The options of `store migrate`. */
export interface MigrationChoice
  extends ReachedCluster,
    Pick<ClusterChoice, "engineAcks" | "engineDurable" | "sessionDays" | "statsDays" | "blockDays"> {
  readonly isFinal: boolean;
  readonly isAnew: boolean;
  readonly onWarning: (warning: string) => void;
  readonly onProgress: (done: number, total: number) => void;
}

const dayMs = 86_400_000;

/** As `migrateStore`. Throws a `StoreError` with what is wrong with the cluster before anything is written. */
export async function migrateToCluster(store: Store, choice: MigrationChoice): Promise<MigrationReport> {
  const { warnings, freeBytes, addresses } = await fitCluster(choice);
  const url = storeUrlOf(choice);
  const name = describeStoreUrl(url);
  // One of those that the URL names may fail before it has named the others once more.
  const client = new ClusterClient({ url: { ...url, seeds: [...new Set([...url.seeds, ...addresses])] } });
  try {
    await client.ready();
    return await migrateStore({
      store,
      client,
      acks: choice.engineAcks,
      name,
      sessionMs: choice.sessionDays * dayMs,
      trafficMs: choice.statsDays * dayMs,
      blockMs: choice.blockDays * dayMs,
      isFinal: choice.isFinal,
      isAnew: choice.isAnew,
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

/** Memory of a row beside its value: key, expiry, the server's own tables. Measured with redis 7.0. */
const rowOverheadBytes = 250;

interface TableStats {
  readonly entryCount: number;
  readonly pageSize: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** About how much memory the sessions take in the masters. */
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
