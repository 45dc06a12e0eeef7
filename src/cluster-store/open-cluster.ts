/** Opens the cluster that `--store` names: looks at it first, then joins the sessions of this thread's store to it. */
import { ClusterClient } from "../cluster/cluster-client.js";
import { inspectCluster } from "../cluster/inspection.js";
import { describeStoreUrl, parseStoreUrl, type StoreUrl } from "../cluster/store-url.js";
import { limits } from "../limits.js";
import { openStore, type Store } from "../store/store.js";
import { StoreError } from "../store/store-error.js";
import { ClusterHourlyCounts } from "./cluster-hourly-counts.js";
import { ClusterSessionRows } from "./cluster-session-rows.js";

export interface ClusterChoice {
  /** As given to `--store`. */
  readonly store: string;
  /** The folder of the mirror. */
  readonly dataDir: string;
  readonly engineAcks: number;
  readonly engineDeadlineMs: number;
  readonly engineDurable: boolean;
  readonly sessionDays: number;
}

export interface OpenedCluster {
  readonly client: ClusterClient;
  readonly url: StoreUrl;
  /** The mirror, whose sessions are those of the cluster. */
  readonly store: Store;
}

const dayMs = 86_400_000;

/** The parts of a URL that was checked before. Throws for another. */
export function storeUrlOf(text: string): StoreUrl {
  const url = parseStoreUrl(text);
  if ("fault" in url) throw new Error(`the URL of the cluster ${url.fault}`);
  return url;
}

/**
 * What is wrong with the cluster for a start: throws a `StoreError` with a line for each fault; gives what may hurt one day, a line each.
 */
export async function checkCluster({ store, engineAcks, engineDurable }: ClusterChoice): Promise<readonly string[]> {
  const url = storeUrlOf(store);
  const { faults, warnings } = await inspectCluster(url, { acks: engineAcks, isDurableOtherwise: engineDurable });
  if (faults.length > 0) throw new StoreError(`${describeStoreUrl(url)}:\n${faults.join("\n")}`);
  return warnings;
}

/** Opens the mirror, and a client to the cluster. Throws `StoreError` and `ClusterError`; nothing is left open then. */
export async function openCluster(choice: ClusterChoice): Promise<OpenedCluster> {
  const url = storeUrlOf(choice.store);
  const client = new ClusterClient({ url });
  const store = openStore(choice.dataDir);
  try {
    await client.ready();
    const rows = new ClusterSessionRows({
      client,
      acks: choice.engineAcks,
      sessionMs: choice.sessionDays * dayMs,
      deadlineMs: Math.max(2, choice.engineDeadlineMs),
      now: Date.now,
    });
    const close = async (): Promise<void> => {
      client.close();
      await store.close();
    };
    return { client, url, store: { ...store, counts: new ClusterHourlyCounts(client), rows, close } };
  } catch (error) {
    client.close();
    await store.close();
    throw error;
  }
}

/** How long the counts of scoring threads may still be on their way when the last batch is answered, ms. */
export const countsOnTheirWayMs = 4 * limits.clusterCountsMs;
