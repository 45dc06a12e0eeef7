/** Scans of all keys: what a lost connection, and a master that is restarted, do to them. */
import t from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { ClusterError } from "../../src/cluster/cluster-error.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { BulkClient } from "../../src/cluster-store/bulk-client.js";
import { scanKeys } from "../../src/cluster-store/scan.js";
import { limits } from "../../src/limits.js";
import { type RedisNode, startRedis } from "../support/redis-cluster.js";

const cluster = await startRedis(t, { masters: 1, replicas: 0, settings: [["appendfsync", "always"]] });
const [master] = cluster.nodes as [RedisNode];
const client = new ClusterClient({ url: parseStoreUrl(cluster.url) as StoreUrl });
t.teardown(() => client.close());
await client.ready();
const bulk = new BulkClient(client, 0);
const names = Array.from({ length: 5 * limits.clusterScanKeys }, (_, index) => `vd{${index % 7}}x:${index}`);
await bulk.write(names.map((name) => ({ command: ["SET", name, "1"], slot: keySlot(name) })));

/** All keys that a scan returns; `between` runs after its first page. */
async function scanned(between: () => Promise<unknown>): Promise<Set<string>> {
  const found = new Set<string>();
  let pages = 0;
  for await (const { keys } of scanKeys(bulk)) {
    for (const key of keys) found.add(key.toString());
    if (pages++ === 0) await between();
  }
  t.ok(pages > 1, "it has more than one page");
  return found;
}

t.test("a lost connection costs no key", async (t) => {
  t.same(await scanned(() => master.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")), new Set(names));
});

t.test("a master that is restarted ends the scan: it would leave out keys", async (t) => {
  const restart = async () => {
    await master.kill();
    await master.restart();
    await cluster.waitOk();
  };
  const error = await scanned(restart).then(
    () => null,
    (fault: unknown) => fault,
  );
  t.type(error, ClusterError);
  t.match(error, {
    reason: "unsettled",
    message: `${master.address} was restarted or replaced while its rows were read`,
  });
  t.same(await scanned(async () => {}), new Set(names), "the next one has all");
});
