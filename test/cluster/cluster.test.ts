/** The client and a real cluster of three masters and three replicas: what moves, what dies, what freezes, and who may do what. */
import t from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { startRedis } from "../support/redis-cluster.js";

const cluster = await startRedis(t);
const client = new ClusterClient({ url: parseStoreUrl(cluster.url) as StoreUrl });
t.teardown(() => client.close());
const deadlineMs = 20_000;

const get = (key: string) => client.execute(["GET", key], keySlot(key), { deadlineMs, isIdempotent: true });
const set = (key: string, value: string | Uint8Array) => ({ command: ["SET", key, value], slot: keySlot(key) });

await client.ready();

t.test("a group is written to all masters and acknowledged by a replica of each", async (t) => {
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  const { outcomes, replicas } = await client.writeGroup(
    keys.map((key) => set(key, Buffer.from([0, 255, 13, 10]))),
    { deadlineMs, acks: 1, ackMs: 5000 },
  );
  t.ok(outcomes.every((each) => each === "OK"));
  t.same(new Set(replicas), new Set([1]));
  t.same(await get("key-7"), Buffer.from([0, 255, 13, 10]));
  t.equal(client.meters.acknowledgementsMissing, 0);
});
