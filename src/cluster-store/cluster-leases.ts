/** Work that one node at a time does for all: whoever holds its lease. */
import { randomUUID } from "node:crypto";
import type { ClusterClient } from "../cluster/cluster-client.js";
import { defineScript } from "../cluster/script.js";
import type { Leases } from "../store/store.js";
import { askAll, scriptOn } from "./cluster-asking.js";
import { leaseRow } from "./keys.js";

/** Takes or prolongs a lease. Keys: the lease. Arguments: who takes it, ms that it lasts. Gives 1 when it is theirs, anew or still. */
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

/** One a thread of a node. A lease that is still held is prolonged; `take` rejects when the cluster can't say. */
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
