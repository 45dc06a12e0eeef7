/**
 * Several nodes on a cluster that is full, frozen or cut off: what is answered then, and what keys are worth. Times are printed, not
 * asserted: they are the machine's.
 */
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import { audit, ClusterLoad, newCounts } from "../resilience/cluster-load.js";
import { type ClusterNodes, startNodes, type VerdictdNode } from "../support/cluster-nodes.js";
import { type RedisCluster, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";
import { makeZones } from "../support/zones.js";

interface Scene extends ClusterNodes {
  readonly cluster: RedisCluster;
}

async function scene(t: Test, flags: readonly string[] = []): Promise<Scene> {
  const cluster = await startRedis(t, { masters: 3, replicas: 2 });
  return { cluster, ...(await startNodes(t, cluster, { count: 3, flags: ["--scoring-threads", "1", ...flags] })) };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const verdict = (node: VerdictdNode, key: string, token: string) =>
  node.client.ask("GET", `/v1/sessions/${token}/verdict`, bearer(key));

/** The sum of a field of INFO over all nodes of the engine. */
async function infoOf(cluster: RedisCluster, field: string): Promise<number> {
  let sum = 0;
  for (const node of cluster.nodes) {
    sum += Number(new RegExp(`^${field}:(\\d+)`, "m").exec(String(await node.ask("INFO")))?.[1] ?? 0);
  }
  return sum;
}

t.test("a full memory: batches are refused with 503, verdicts served, nothing is evicted", async (t) => {
  const { cluster, nodes, owner } = await scene(t);
  const load = new ClusterLoad({ nodes, owner, visitors: 32, seed: Date.now() % 100_000 });
  load.start();
  await load.taken(1000);
  for (const node of cluster.nodes) {
    const used = /^used_memory:(\d+)/m.exec(String(await node.ask("INFO", "memory")))![1]!;
    await node.ask("CONFIG", "SET", "maxmemory", String(Number(used) + 400_000));
  }
  await waitUntil(
    async () => load.counts.refused,
    (refused) => refused > 500,
  );
  for (let count = 0; count < 100; count++) {
    const token = load.anyToken();
    // One that the machine was too busy for fails open, and is asked for again.
    const { status, json } = await waitUntil(
      () => verdict(nodes[count % 3]!, owner.privateKey, token),
      ({ json }) => json.verdict !== "not_computed",
    );
    if (status !== 200 || json.verdict === "not_computed") t.fail(`the verdict of ${token} is not served`);
  }
  t.equal((await nodes[0]!.client.ask("GET", "/readyz")).status, 200, "nodes stay with the load balancer");
  t.equal(await infoOf(cluster, "evicted_keys"), 0);
  const { refused } = load.counts;
  load.counts = newCounts();
  for (const node of cluster.nodes) await node.ask("CONFIG", "SET", "maxmemory", "0");
  await load.caughtUp();
  await load.stop();
  t.match(await audit(cluster, owner, load.ledger), { lost: 0, doubled: 0, unknown: 0 });
  t.same(load.counts.wrong, []);
  t.comment(`${refused} tries refused while full, ${load.ledger.size} sessions, all there`);
});

t.test("frozen masters, then all of the engine: every verdict is answered", async (t) => {
  const { cluster, nodes, owner } = await scene(t, ["--verdict-ttl", "0"]);
  const load = new ClusterLoad({ nodes, owner, visitors: 32, seed: Date.now() % 100_000 });
  load.start();
  await load.taken(1500);
  await load.stop();
  // One verdict at a time and node, so that the time is the server's and not this process's.
  const ask = async (seconds: number): Promise<{ ms: number[]; computed: number }> => {
    const ms: number[] = [];
    let computed = 0;
    const endMs = performance.now() + seconds * 1000;
    await Promise.all(
      nodes.map(async (node) => {
        while (performance.now() < endMs) {
          const fromMs = performance.now();
          const { status, json } = await verdict(node, owner.privateKey, load.anyToken());
          ms.push(performance.now() - fromMs);
          if (status !== 200 || json.action !== "allow") t.match(json, { action: "allow" });
          if (json.verdict !== "not_computed") computed++;
          // The pace of the reads, on each node.
          await delay(5);
        }
      }),
    );
    return { ms: ms.sort((a, b) => a - b), computed };
  };
  const say = (what: string, { ms, computed }: { ms: number[]; computed: number }): void =>
    t.comment(
      `${what}: ${ms.length} verdicts, ${computed} of them computed; p50 ${ms[ms.length >> 1]!.toFixed(1)}, ` +
        `p99 ${ms[Math.floor(ms.length * 0.99)]!.toFixed(1)}, most ${ms.at(-1)!.toFixed(1)} ms`,
    );
  say("all awake", await ask(2));
  const masters = new Set(await Promise.all([0, 8000, 16_000].map((slot) => cluster.masterOf(slot))));
  t.equal(masters.size, 3);
  for (const master of masters) master.freeze();
  const served = await ask(4);
  say("masters frozen", served);
  t.ok(served.computed > 0, "replicas answer for their masters");
  for (const node of cluster.nodes) node.freeze();
  const open = await ask(4);
  say("all frozen", open);
  for (const node of cluster.nodes) node.thaw();
  await cluster.waitOk();
  const again = await waitUntil(
    () => verdict(nodes[0]!, owner.privateKey, load.anyToken()),
    ({ json }) => json.verdict !== "not_computed",
  );
  t.not(again.json.verdict, "not_computed", "all is as before");
});

t.test("random balancing: few batches are done again because another node was ahead", async (t) => {
  const { nodes, owner, cluster } = await scene(t);
  const count = async (name: string): Promise<number> => {
    const counts = await Promise.all(nodes.map((node) => node.count(name)));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  for (const doubled of [0, 0.2]) {
    const load = new ClusterLoad({ nodes, owner, visitors: 200, seed: Date.now() % 100_000, doubled });
    const before = await count("verdictd_cluster_conflicts_total");
    load.start();
    await load.taken(6000);
    await load.stop();
    const conflicts = (await count("verdictd_cluster_conflicts_total")) - before;
    const share = conflicts / load.counts.batches;
    t.comment(
      `${doubled * 100} % sent to two nodes at once: ${load.counts.batches} batches, ${(share * 100).toFixed(2)} % conflicts`,
    );
    if (doubled === 0) t.ok(share < 0.01, "under 1 %");
    t.match(load.counts, { wrong: [], refused: 0 });
  }
  t.ok(await cluster.nodes[0]!.ask("PING"));
});

t.test("a revoked key is refused by every node once its revocation is answered", async (t) => {
  const zones = makeZones(t, 3);
  if (zones === null) t.comment("no network namespaces: no node is cut off");
  const cluster = await startRedis(t, {
    masters: 3,
    replicas: 2,
    ...(zones && { placeOf: (index: number) => zones[(index + Math.floor(index / 3)) % 3]! }),
  });
  const flags = ["--scoring-threads", "1"];
  const { nodes, owner } = await startNodes(t, cluster, { count: 3, flags, ...(zones && { places: zones }) });
  const [first, second, third] = nodes as [VerdictdNode, VerdictdNode, VerdictdNode];
  const known =
    (await first.client.send(owner.siteKey, { session_token: null, events: [] })).json?.session_token ?? "sess_x";
  const tokenStatus = async (token: string, of = nodes): Promise<number[]> =>
    Promise.all(
      of.map(
        async (node) => (await node.client.ask("GET", `/v1/projects/${owner.projectId}/rules`, bearer(token))).status,
      ),
    );
  const newToken = async (): Promise<{ id: number; secret: string }> => {
    const body = { abilities: ["projects:read"] };
    const { json } = await first.client.ask("POST", "/v1/tokens", bearer(owner.token), body);
    return { id: json.id, secret: json.account_token };
  };
  const revoke = (node: VerdictdNode, id: number) => node.client.ask("DELETE", `/v1/tokens/${id}`, bearer(owner.token));
  for (let run = 0; run < 20; run++) {
    const { id, secret } = await newToken();
    t.same(await tokenStatus(secret), [200, 200, 200], "a new token holds everywhere");
    t.equal((await revoke(nodes[run % 3]!, id)).status, 200);
    t.same(await tokenStatus(secret), [401, 401, 401], "a revoked one nowhere");
  }
  let { privateKey } = owner;
  for (let run = 0; run < 20; run++) {
    const { json } = await nodes[run % 3]!.client.ask(
      "POST",
      `/v1/projects/${owner.projectId}/scoring/rotate`,
      bearer(owner.token),
      { type: "private" },
    );
    const statuses = await Promise.all(nodes.map(async (node) => (await verdict(node, privateKey, known)).status));
    t.same(statuses, [401, 401, 401], "a rotated key is refused everywhere");
    privateKey = json.key;
  }
  if (zones === null) return;
  const { id, secret } = await newToken();
  const isFirstMaster = (await cluster.masterOf(0)).address.startsWith(zones[2]!.host);
  t.notOk(isFirstMaster);
  zones[2]!.cut();
  const fromMs = performance.now();
  const answer = await waitUntil(
    () => revoke(second, id),
    ({ status }) => status !== 503,
  );
  t.ok(answer.status === 200 || answer.status === 404, "revoked beside the node that is cut off");
  t.comment(`answered after ${((performance.now() - fromMs) / 1000).toFixed(1)} s`);
  t.same(await tokenStatus(secret, [first, second]), [401, 401]);
  t.match(await tokenStatus(secret, [third]), [/^(401|503)$/], "a node that is cut off takes no token");
  t.equal((await verdict(third, privateKey, known)).status, 200, "and answers verdicts");
  zones[2]!.join();
  t.equal(
    (
      await waitUntil(
        () => tokenStatus(secret, [third]),
        ([status]) => status === 401,
      )
    )[0],
    401,
    "it has heard of it once it is back",
  );
});
