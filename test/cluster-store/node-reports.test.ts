/** What nodes tell each other, in a real cluster, as a user who may do no more than the store needs. */
import t from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { ClusterNodeReports } from "../../src/cluster-store/cluster-node-reports.js";
import { nodeReportsRow } from "../../src/cluster-store/keys.js";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { startRedis } from "../support/redis-cluster.js";

t.test("each node reads what the others tell of a minute, and it expires", async (t) => {
  const redis = await startRedis(t, { replicas: 0, settings: [["user", "store", "on", ">secret", ...storeAclRules]] });
  const url = parseStoreUrl(redis.url.replace("redis://", "redis://store:secret@")) as StoreUrl;
  const node = () => {
    const client = new ClusterClient({ url });
    t.teardown(() => client.close());
    return { client, reports: new ClusterNodeReports(client) };
  };
  const [one, two, three] = [node(), node(), node()];
  const texts = async ({ reports }: ReturnType<typeof node>, minute: number) =>
    [...(await reports.others(minute)).values()].map(String).sort();
  t.same(await texts(one, 29_000_000), []);
  await one.reports.put(29_000_000, Buffer.from("of one"));
  await two.reports.put(29_000_000, Buffer.from("of two"));
  await two.reports.put(29_000_001, Buffer.from("later"));
  await two.reports.put(29_000_000, Buffer.from("of two again"));
  t.same(await texts(one, 29_000_000), ["of two again"]);
  t.same(await texts(two, 29_000_000), ["of one"]);
  t.same(await texts(three, 29_000_000), ["of one", "of two again"]);
  t.same(await texts(three, 29_000_001), ["later"]);
  const row = nodeReportsRow(29_000_000);
  const ttl = Number(await one.client.execute(["PTTL", row], keySlot(row), { deadlineMs: 10_000, isIdempotent: true }));
  t.ok(ttl > 0 && ttl <= 300_000, String(ttl));
});
