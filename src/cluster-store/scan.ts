/** Reads all of verdictd's keys in the cluster, a page of one master at a time. */
import { ClusterError } from "../cluster/cluster-error.js";
import type { RespReply } from "../cluster/resp-parser.js";
import { limits } from "../limits.js";
import { type BulkClient, buffersOf } from "./bulk-client.js";

/** Keys of one page, in no order. */
interface ScannedPage {
  /** As the server returned them; a key may come twice while the key space grows or shrinks. */
  readonly keys: readonly Buffer[];
}

/**
 * Pages of keys, some of them empty. `match`: a glob pattern that selects keys. A slot that moves meanwhile may be seen twice or not at all. Throws
 * `ClusterError`, also when a master was restarted or replaced before its last page: it would have left out keys without a sign.
 */
export async function* scanKeys(bulk: BulkClient, match = "vd{*"): AsyncGenerator<ScannedPage> {
  for (const master of mastersOf(bulk)) {
    const before = await identityOf(bulk, master);
    let cursor: string | Buffer = "0";
    do {
      const command = ["SCAN", cursor, "MATCH", match, "COUNT", limits.clusterScanKeys];
      const reply: RespReply = await bulk.onNode(master, command);
      const [next, keys] = Array.isArray(reply) ? reply : [];
      cursor = String(next ?? "0");
      yield { keys: buffersOf(keys) };
    } while (cursor !== "0");
    if ((await identityOf(bulk, master)) !== before) {
      throw new ClusterError("unsettled", "unknown", `${master} was restarted or replaced while its rows were read`);
    }
  }
}

/** A process that is started again, or begins to follow another, orders its keys anew: a cursor of before means nothing there. */
async function identityOf(bulk: BulkClient, master: string): Promise<string> {
  const info = String(await bulk.onNode(master, ["INFO"]));
  return (info.match(/^(run_id|role):.*$/gm) ?? []).join();
}

/** Addresses of all masters. */
export function mastersOf({ client }: Pick<BulkClient, "client">): string[] {
  return client.shards().map(({ master }) => master);
}
