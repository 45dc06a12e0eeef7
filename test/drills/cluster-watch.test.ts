/** What a running node says of its cluster: whether to stay in the load balancer, which shards are short of replicas, how each engine process is. */
import t, { type Test } from "tap";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { freePort } from "../support/free-port.js";
import { command, type Served, serve } from "../support/process.js";
import { type RedisCluster, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";
import { makeZones } from "../support/zones.js";

t.jobs = 2;

const threads = ["--http-threads", "2", "--scoring-threads", "2"];

/** A node of this cluster with two HTTP threads. */
async function nodeOf(t: Test, store: string): Promise<Served> {
  const folder = t.testdir();
  const made = await command(["init", "--json", "--store", store, "--data-dir", folder]);
  if (made.code !== 0) throw new Error(made.stderr);
  return serve(t, folder, { flags: ["--store", store, ...threads] });
}

/** `/readyz` of both addresses, once both are this; as they are after a minute otherwise. */
async function readyOnce(node: Served, status: number): Promise<readonly number[]> {
  const statuses = async (): Promise<number[]> => [
    (await node.admin("/readyz")).status,
    (await node.ask("GET", "/readyz")).status,
  ];
  return waitUntil(statuses, (all) => all.every((each) => each === status));
}

async function onAll(cluster: RedisCluster, ...words: string[]): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.ask(...words)));
}

t.test("permissions and settings that change under a running node; a cluster that is away", async (t) => {
  const cluster = await startRedis(t, { masters: 3, replicas: 1, settings: [["cluster-require-full-coverage", "no"]] });
  await onAll(cluster, "ACL", "SETUSER", "verdictd", "on", ">secret", ...storeAclRules, "+config|get");
  const node = await nodeOf(t, cluster.url.replace("redis://", "redis://verdictd:secret@"));
  t.same(await readyOnce(node, 200), [200, 200]);
  t.match(await (await node.admin("/readyz")).json(), { status: "ready", cluster: true });

  await onAll(cluster, "ACL", "SETUSER", "verdictd", "-evalsha");
  t.same(await readyOnce(node, 503), [503, 503], "it can write no session");
  t.match(await (await node.admin("/readyz")).json(), { store: true, workers: true, cluster: false });
  const { faults } = await node.logged("the cluster is no longer as it has to be: not ready");
  t.match(faults, [/^verdictd may not run EVALSHA 0 on /]);
  await onAll(cluster, "ACL", "SETUSER", "verdictd", "+evalsha");
  t.same(await readyOnce(node, 200), [200, 200], "it comes back without a restart");

  await onAll(cluster, "CONFIG", "SET", "cluster-allow-replica-migration", "yes");
  t.same(await readyOnce(node, 503), [503, 503], "an empty replica may become a master");
  await onAll(cluster, "CONFIG", "SET", "cluster-allow-replica-migration", "no");
  t.same(await readyOnce(node, 200), [200, 200]);

  await onAll(cluster, "ACL", "SETUSER", "verdictd", "resetpass", ">other");
  await onAll(cluster, "CLIENT", "KILL", "USER", "verdictd");
  t.same(await readyOnce(node, 503), [503, 503], "no engine takes its password");
  await onAll(cluster, "ACL", "SETUSER", "verdictd", "resetpass", ">secret");
  t.same(await readyOnce(node, 200), [200, 200]);

  await Promise.all(cluster.nodes.map((each) => each.kill()));
  const isDown = (value: number) => value === 0;
  const away = await node.metricsOnce((seen) => {
    const up = seen.samples.filter(({ name }) => name === "verdictd_cluster_engine_up");
    return up.length === 6 && up.every(({ value }) => isDown(value));
  });
  t.equal(away.sum("verdictd_cluster_engine_up"), 0);
  t.equal(away.sum("verdictd_ready"), 1, "nobody has the cluster: the nodes stay in and let visitors in");
  t.notOk(node.log.some(({ msg }) => msg === "most of the cluster is out of this node's reach: not ready"));
});

t.test("shards that are short of replicas, and each engine process", async (t) => {
  const cluster = await startRedis(t, { masters: 3, replicas: 2, settings: [["maxmemory", "100mb"]] });
  const node = await nodeOf(t, cluster.url);
  const short = "verdictd_cluster_shards_short_of_replicas";
  const first = await node.metricsOnce((seen) => seen.sum("verdictd_cluster_engine_up") === 9);
  t.equal(first.sum("verdictd_cluster_engine_up"), 9);
  t.equal(first.sum("verdictd_cluster_engine_master"), 3);
  t.equal(first.sum("verdictd_cluster_engine_replicas"), 6);
  t.equal(first.sum("verdictd_cluster_engine_link_up"), 6);
  t.equal(first.sum("verdictd_cluster_engine_memory_max_bytes"), 9 * 100 * 1024 ** 2);
  t.ok(first.sum("verdictd_cluster_engine_memory_bytes") > 9e6);
  t.equal(first.sum(short), 0);
  const [master] = await cluster.masters();
  const replicas = await cluster.replicasOf(master!);
  t.equal(replicas.length, 2);

  await replicas[0]!.kill();
  const spare = await node.metricsOnce((seen) => seen.sum(short, { batches: "accepted" }) === 1);
  t.equal(spare.sum(short, { batches: "accepted" }), 1);
  t.match(await node.logged("shards are short of replicas"), {
    masters: [master!.address],
    demanded: 2,
    level: "warn",
  });
  await replicas[1]!.kill();
  const refused = await node.metricsOnce((seen) => seen.sum(short, { batches: "refused" }) === 1);
  t.equal(refused.sum(short, { batches: "refused" }), 1);
  t.equal(refused.sum("verdictd_ready"), 1, "what a shard lacks takes no node out");
  await cluster.restore();
  t.equal((await node.metricsOnce((seen) => seen.sum(short) === 0)).sum(short), 0);
  await node.logged("every shard has its replicas again");
});

t.test("a node that alone is cut off is not ready, and the others are", async (t) => {
  const zones = makeZones(t, 3);
  if (zones === null) throw new Error("this test makes network namespaces: run it as root");
  const cluster = await startRedis(t, { masters: 3, replicas: 1, placeOf: (index) => zones[index % 3]! });
  const folder = t.testdir({ 0: {}, 1: {} });
  const ports = [await freePort(), await freePort()];
  const flags = ["--store", cluster.url, "--host", "0.0.0.0", ...threads];
  const made = await command(["init", "--json", "--store", cluster.url, "--data-dir", `${folder}/0`]);
  t.equal(made.code, 0, made.stderr);
  for (const number of [0, 1]) {
    await serve(t, `${folder}/${number}`, { flags, port: ports[number]!, under: zones[number]!.under });
  }
  const statuses = (): Promise<number[]> =>
    Promise.all([0, 1].map(async (at) => (await fetch(`http://${zones[at]!.askedAt}:${ports[at]}/readyz`)).status));
  t.same(await statuses(), [200, 200]);
  zones[0]!.cut();
  t.same(await waitUntil(statuses, ([one]) => one === 503), [503, 200]);
  zones[0]!.join();
  t.same(await waitUntil(statuses, ([one]) => one === 200), [200, 200]);
});
