/** Work that one node at a time does for all nodes: the one that holds its lease. */
import { randomUUID } from "node:crypto";
import type { ClusterClient } from "../cluster/cluster-client.js";
import { defineScript } from "../cluster/script.js";
import type { Leases } from "../store/store.js";
import { askAll, scriptOn } from "./cluster-asking.js";
import { leaseRow } from "./keys.js";

/** Takes or prolongs a lease. Keys: the lease. Arguments: the holder, ms that it lasts. Returns 1 if this holder has it now, newly or still. */
export const takeLease = defineScript({
  name: "take-lease",
  version: 2,
  allowsFullMemory: true,
  source: `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
});

/** One per thread of a node. `take` prolongs a lease that is still held, and rejects when the cluster does not answer. */
export class ClusterLeases implements Leases {
  readonly #client: ClusterClient;
  readonly #holder = randomUUID();

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  async take(name: string, ms: number): Promise<boolean> {
    const [taken] = await askAll(this.#client, [scriptOn(takeLease, [leaseRow(name)], [this.#holder, ms])]);
    return taken === 1;
  }
}
