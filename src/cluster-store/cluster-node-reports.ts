/** What the nodes of a cluster tell each other of a minute of traffic: one row a minute, which expires. */
import { randomUUID } from "node:crypto";
import type { ClusterClient } from "../cluster/cluster-client.js";
import { minuteMs } from "../contract/values/durations.js";
import type { NodeReports } from "../store/store.js";
import { askAll, onKey } from "./cluster-asking.js";
import { nodeReportsRow } from "./keys.js";

/** How long reports are kept: those of the minute before are read too. */
const keptMs = 5 * minuteMs;

/** One per node. Both reject when the cluster does not answer. */
export class ClusterNodeReports implements NodeReports {
  readonly #client: ClusterClient;
  readonly #node = randomUUID();

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  async put(minute: number, report: Buffer): Promise<void> {
    const row = nodeReportsRow(minute);
    await askAll(this.#client, [onKey("HSET", row, this.#node, report), onKey("PEXPIRE", row, keptMs)]);
  }

  async others(minute: number): Promise<ReadonlyMap<string, Buffer>> {
    const [fields] = await askAll(this.#client, [onKey("HGETALL", nodeReportsRow(minute))]);
    const reports = new Map<string, Buffer>();
    const pairs = Array.isArray(fields) ? (fields as readonly Buffer[]) : [];
    for (let at = 0; at < pairs.length; at += 2) {
      const node = pairs[at]!.toString();
      if (node !== this.#node) reports.set(node, pairs[at + 1]!);
    }
    return reports;
  }
}
