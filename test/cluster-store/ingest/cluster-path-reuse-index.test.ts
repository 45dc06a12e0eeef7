/** Paths of many projects in one scoring thread of a cluster: what is loaded stays, in bounded memory. */

import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import type { RespReply } from "../../../src/cluster/resp-parser.js";
import { parseStoreUrl } from "../../../src/cluster/store-url.js";
import { ClusterPathReuseIndex } from "../../../src/cluster-store/ingest/cluster-path-reuse-index.js";
import { limits } from "../../../src/limits.js";
import { startRedis } from "../../support/redis-cluster.js";
import { scatteredHash } from "./scattered-hash.js";

const fullBytes = 8 * limits.shingleSlotsMax;
/** So many paths need all slots. */
const pathsOfFull = limits.shingleSlotsMax / 2;
/** So many projects with all slots fit. */
const fullProjects = Math.floor(limits.pathReuseHeldBytesMax / (fullBytes + 2048));

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

t.test("a thread's paths of many projects", async (t) => {
  const redis = await startRedis(t, { masters: 3, replicas: 0 });
  const url = parseStoreUrl(redis.url);
  if ("fault" in url) throw new Error(url.fault);
  const client = new ClusterClient({ url });
  t.teardown(() => client.close());

  // The clock stands still: on a busy machine, projects would become stale between two groups.
  const { now } = performance;
  let nowMs = performance.now();
  performance.now = () => nowMs;
  t.teardown(() => {
    performance.now = now;
  });

  /** As a group of batches does, but waits until all is loaded. */
  const load = async (index: ClusterPathReuseIndex, projectIds: readonly number[]): Promise<void> => {
    await Promise.all(projectIds.map((projectId) => index.load(projectId)));
    const late = projectIds.map((projectId) => index.of(projectId)).filter(({ isLoaded }) => !isLoaded);
    await Promise.all(late.map((paths) => paths.refresh(client)));
  };
  const fill = (index: ClusterPathReuseIndex, projectId: number) => {
    const paths = index.of(projectId);
    for (let path = 1; path <= pathsOfFull; path++) paths.add(scatteredHash(path), projectId);
  };
  const bytesOf = (index: ClusterPathReuseIndex, projectIds: readonly number[]) =>
    projectIds.reduce((sum, projectId) => sum + index.of(projectId).heldBytes, 0);

  await t.test("a group of many projects finds what it loaded, and the next one asks for nothing", async (t) => {
    const projectIds = range(1, 80);
    const [mine, other] = [new ClusterPathReuseIndex(client), new ClusterPathReuseIndex(client)];
    const pairsOf = (projectId: number) => new Uint8Array(Uint32Array.of(scatteredHash(projectId), projectId).buffer);
    const appending = projectIds.map((projectId) => other.appending(projectId, pairsOf(projectId)));
    const replies = await client.pipeline(appending, { deadlineMs: 5000 });
    t.ok(replies.every((reply: RespReply | Error) => Array.isArray(reply)));
    await load(mine, projectIds);
    const owners = () => projectIds.map((projectId) => mine.of(projectId).ownerOf(scatteredHash(projectId)));
    t.same(owners(), projectIds);
    const asked = client.meters.commands;
    for (let round = 0; round < 3; round++) await load(mine, projectIds);
    t.equal(client.meters.commands, asked);
    t.same(owners(), projectIds);
    t.ok(mine.heldBytes < 1024 * 1024);
  });

  await t.test("busy projects share the memory, and none is dropped", async (t) => {
    const projectIds = range(1001, 1000 + 2 * fullProjects);
    const index = new ClusterPathReuseIndex(client);
    await load(index, projectIds);
    const asked = client.meters.commands;
    for (const projectId of projectIds) {
      fill(index, projectId);
      if (index.heldBytes > limits.pathReuseHeldBytesMax) t.fail(`project ${projectId} brings too much`);
    }
    t.equal(index.heldBytes, bytesOf(index, projectIds));
    t.same(
      projectIds.filter((projectId) => index.load(projectId) !== null),
      [],
      "all are still loaded",
    );
    t.equal(client.meters.commands, asked);
    const least = Math.min(...projectIds.map((projectId) => index.of(projectId).slotBytes));
    t.equal(least, fullBytes / 2, "with twice as many as fit, each has half");
    const last = index.of(projectIds.at(-1)!);
    t.equal(last.ownerOf(scatteredHash(pathsOfFull)), projectIds.at(-1), "and remember what is new");
  });

  await t.test("a project that was given less grows again when there is memory", async (t) => {
    const index = new ClusterPathReuseIndex(client);
    const projectIds = range(2001, 2001 + fullProjects);
    await load(index, projectIds);
    for (const projectId of projectIds) fill(index, projectId);
    const short = projectIds.filter((projectId) => index.of(projectId).slotBytes < fullBytes);
    t.same(short, projectIds.slice(-1), "there is no room for all slots of one");
    await index.refresh();
    const [idle, wanting] = [index.of(2003), index.of(short[0]!)];
    nowMs += limits.clusterPathsIdleMs + 1;
    // All but one have batches.
    await load(
      index,
      projectIds.filter((projectId) => projectId !== 2003),
    );
    fill(index, short[0]!);
    t.equal(wanting.slotBytes, fullBytes);
    t.not(index.of(2003), idle, "the one without batches was dropped");
    t.equal(index.of(2003).isLoaded, false);
    t.ok(projectIds.every((projectId) => projectId === 2003 || index.of(projectId).isLoaded));
  });

  await t.test("more projects than fit take no more memory", async (t) => {
    const index = new ClusterPathReuseIndex(client);
    const projectIds = range(10_001, 40_000);
    const first = index.of(10_001);
    for (const projectId of projectIds) index.of(projectId);
    t.ok(index.heldBytes <= limits.pathReuseHeldBytesMax);
    fill(index, 40_000);
    t.ok(index.heldBytes <= limits.pathReuseHeldBytesMax);
    t.equal(index.of(40_000).slotBytes, fullBytes, "those without batches made room");
    const bytes = index.heldBytes;
    for (let path = 1; path <= pathsOfFull; path++) first.add(scatteredHash(path), 1);
    t.equal(index.heldBytes, bytes, "one that was dropped does not count");
  });
});
