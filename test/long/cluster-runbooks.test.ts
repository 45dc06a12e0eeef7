/** Runbooks of the documentation on real clusters, while a node serves: most masters are gone, masters are added and taken away. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { batch } from "../support/batches.js";
import { startNodes } from "../support/cluster-nodes.js";
import { type RedisCluster, type RedisNode, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

const run = promisify(execFile);

/** A node, and what it has acknowledged. */
async function startServing(t: Test, cluster: RedisCluster) {
  const { nodes, owner } = await startNodes(t, cluster, { count: 1, flags: ["--scoring-threads", "1"] });
  const { client } = nodes[0]!;
  const authorization = `Bearer ${owner.token}`;
  const tokens: string[] = [];
  let sent = 0;
  /** Sends a first contact, again until it is taken. */
  const contact = async (): Promise<void> => {
    const id = `runbook${String(sent++).padStart(5, "0")}`;
    const reply = await waitUntil(
      () => client.send(owner.siteKey, batch(id, 3), id),
      ({ status }) => status === 202,
    );
    t.equal(reply.status, 202);
    tokens.push(reply.json.session_token);
  };
  const lost = async (): Promise<string[]> => {
    const path = `/v1/projects/${owner.projectId}/sessions`;
    const statusOf = async (token: string): Promise<number> =>
      (await client.ask("GET", `${path}/${token}`, { authorization })).status;
    const statuses = await Promise.all(
      tokens.map((token) =>
        waitUntil(
          () => statusOf(token),
          (status) => status !== 503,
        ),
      ),
    );
    return tokens.filter((_, index) => statuses[index] !== 200);
  };
  return { contact, lost };
}

const many = async (count: number, act: () => Promise<void>): Promise<void> => {
  await Promise.all(Array.from({ length: count }, act));
};

t.test(
  "two of three masters are gone: of each shard the replica with the latest data takes over when told",
  async (t) => {
    const cluster = await startRedis(t, { replicas: 2, settings: [["cluster-require-full-coverage", "no"]] });
    const { contact, lost } = await startServing(t, cluster);
    await many(40, contact);
    const [kept, ...gone] = (await cluster.masters()) as [RedisNode, ...RedisNode[]];
    const replicas = await Promise.all(gone.map((master) => cluster.replicasOf(master)));
    await Promise.all(gone.map((master) => master.kill()));
    const seen = await waitUntil(
      () => kept.ask("CLUSTER", "INFO").then(String),
      (info) => info.includes("cluster_state:fail"),
    );
    t.match(seen, "cluster_state:fail", "one master of three elects nobody");

    for (const own of replicas) {
      const offsets = await Promise.all(own.map(async (each) => [await offsetOf(each), each] as const));
      const [[, latest]] = offsets.sort(([one], [other]) => other - one) as [readonly [number, RedisNode]];
      t.equal(String(await latest.ask("CLUSTER", "FAILOVER", "TAKEOVER")), "OK");
    }
    await cluster.waitOk();
    await many(20, contact);
    t.same(await lost(), []);

    for (const each of gone) await each.restart();
    for (const each of gone) {
      const role = await waitUntil(
        () => each.ask("INFO", "replication").then(String, String),
        (info) => info.includes("role:slave") && info.includes("master_link_status:up"),
      );
      t.match(role, "role:slave", "it follows who has taken over");
    }
    await many(10, contact);
    t.same(await lost(), []);
  },
);

async function offsetOf(replica: RedisNode): Promise<number> {
  return Number(/slave_repl_offset:(\d+)/.exec(String(await replica.ask("INFO", "replication")))?.[1]);
}

t.test("masters are added, slots balanced, and a master is taken away again, while batches come", async (t) => {
  const cluster = await startRedis(t, { replicas: 1 });
  const { contact, lost } = await startServing(t, cluster);
  await many(40, contact);
  const [first] = cluster.nodes as [RedisNode];
  const added = await cluster.addMaster();
  const id = String(await added.ask("CLUSTER", "MYID"));
  const rebalance = async (...words: string[]): Promise<void> => {
    let isDone = false;
    const balancing = run("redis-cli", [
      "--cluster",
      "rebalance",
      first.address,
      "--cluster-pipeline",
      "100",
      ...words,
    ]);
    const over = balancing.finally(() => {
      isDone = true;
    });
    while (!isDone) await contact();
    await over;
  };
  await rebalance("--cluster-use-empty-masters");
  t.equal(await slotsOf(added), 4096);
  t.same(await lost(), []);

  await rebalance("--cluster-weight", `${id}=0`);
  t.equal(await slotsOf(added), 0);
  for (const each of [...(await cluster.replicasOf(added)), added]) {
    await run("redis-cli", ["--cluster", "del-node", first.address, String(await each.ask("CLUSTER", "MYID"))]);
  }
  await many(10, contact);
  t.same(await lost(), []);
});

async function slotsOf(node: RedisNode): Promise<number> {
  const row = String(await node.ask("CLUSTER", "NODES"))
    .split("\n")
    .find((line) => line.includes("myself"))!;
  const ranges = row
    .trim()
    .split(" ")
    .slice(8)
    .map((range) => range.split("-").map(Number));
  return ranges.reduce((sum, [from = 0, to = from]) => sum + to - from + 1, 0);
}
