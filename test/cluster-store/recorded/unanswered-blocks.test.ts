/** Recorded blocks of several projects while the master of one of them does not answer. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { blockRows } from "../../../src/cluster-store/keys.js";
import { clusterRecordedRows } from "../../../src/cluster-store/recorded/cluster-recorded-rows.js";
import { UnavailableError } from "../../../src/errors.js";
import { addressSubject, Blocks } from "../../../src/recording/blocks.js";
import type { Store } from "../../../src/store/store.js";
import { startRedis } from "../../support/redis-cluster.js";
import { ruleBlock } from "../../support/rule-block.js";
import { waitUntil } from "../../support/wait-until.js";

// No master is taken for failed while it is frozen.
const redis = await startRedis(t, { replicas: 0, settings: [["cluster-node-timeout", "60000"]] });
const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
t.teardown(() => client.close());
const dayMs = 86_400_000;
const rows = clusterRecordedRows({ client, acks: 0, sessionMs: dayMs, blockMs: dayMs, now: Date.now });
const blocks = new Blocks({ recorded: rows } as Store, Date.now);

const masterOf = (projectId: number) => redis.masterOf(keySlot(blockRows(projectId).last));
const frozen = await masterOf(1);
const projects = { frozen: 1, other: 2 };
while ((await masterOf(projects.other)) === frozen) projects.other++;

const atMs = Date.now();

function record(projectId: number, path: string): void {
  const block = ruleBlock(projectId, null, { path, atMs });
  // One record a path; further blocks raise its count.
  t.ok(blocks.record(block, addressSubject(path)));
}

/** Path and count of each block, the first one first. */
async function stored(projectId: number): Promise<string[]> {
  const latest = await rows.blocks.before(projectId, Number.POSITIVE_INFINITY, 100);
  return latest.map(({ path, count }) => `${path} ${count}`).reverse();
}

t.test("every block is counted once, and those of other masters do not wait", async (t) => {
  for (const projectId of [projects.frozen, projects.other])
    for (const path of ["/a", "/a", "/b"]) record(projectId, path);
  frozen.freeze();
  t.teardown(() => frozen.thaw());
  await t.rejects(blocks.flush(true), UnavailableError);
  t.same(await stored(projects.other), ["/a 2", "/b 1"]);
  // Again, beside what is new.
  for (const projectId of [projects.frozen, projects.other]) for (const path of ["/b", "/c"]) record(projectId, path);
  await t.rejects(blocks.flush(true), UnavailableError);
  const expected = ["/a 2", "/b 2", "/c 1"];
  t.same(await stored(projects.other), expected);
  // What it was sent while it was frozen it does now, beside what it is sent again.
  frozen.thaw();
  const flushed = () => blocks.flush(true).catch(() => null);
  const count = await waitUntil(flushed, (seen) => seen !== null);
  t.equal(count, 10, "all that were stored since the last flush which said so");
  await blocks.flush(true);
  t.same(await stored(projects.frozen), expected);
  t.same(await stored(projects.other), expected);
});

t.test("a thread's last write of a project is remembered for hours, and no more than that", async (t) => {
  for (const path of ["/d", "/e"]) {
    record(projects.other, path);
    await blocks.flush();
  }
  const master = await masterOf(projects.other);
  const remembered = (await master.ask("KEYS", blockRows(projects.other).write("*"))) as Buffer[];
  t.equal(remembered.length, 1);
  t.ok(Number(await master.ask("PTTL", remembered[0]!)) > dayMs / 2);
});
