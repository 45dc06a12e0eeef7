/** The client and a real cluster of three masters and three replicas: what moves, what freezes, what dies. */
import t from "tap";
import { ClusterClient, type CommandOptions, scriptCommand } from "../../src/cluster/cluster-client.js";
import { ClusterError } from "../../src/cluster/cluster-error.js";
import { defineScript } from "../../src/cluster/script.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { failure } from "../support/cluster-client.js";
import { startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

// No node takes another for dead because the machine is busy, until one is killed.
const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "60000"]] });
const url = parseStoreUrl(cluster.url) as StoreUrl;
const client = new ClusterClient({ url });
t.teardown(() => client.close());
await client.ready();

/** So long that a busy machine needs less, and a failover too. */
const deadlineMs = 50_000;
const patient: CommandOptions = { deadlineMs, isIdempotent: true };
const group = { deadlineMs, acks: 1, ackMs: 2000 };

const keyed = (...command: [string, string, ...(string | Uint8Array)[]]) => ({ command, slot: keySlot(command[1]) });
const run = (...command: Parameters<typeof keyed>) => client.execute(command, keySlot(command[1]), patient);
const text = (reply: unknown) => (Buffer.isBuffer(reply) ? reply.toString() : reply);

const add = defineScript({
  name: "add",
  version: 1,
  source: `return redis.call("INCRBY", KEYS[1], ARGV[1])`,
});

t.test("a group is written to all masters and acknowledged by a replica of each", async (t) => {
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  const before = client.meters.roundTrips;
  const { outcomes, replicas } = await client.writeGroup(
    keys.map((key) => keyed("SET", key, Buffer.from([0, 255, 13, 10]))),
    group,
  );
  t.ok(outcomes.every((each) => each === "OK"));
  t.same(new Set(replicas), new Set([1]));
  t.ok(client.meters.roundTrips - before <= 6, "a greeting and a write for each master");
  t.same(await run("GET", "key-7"), Buffer.from([0, 255, 13, 10]));
  const read = await client.pipeline(
    keys.map((key) => keyed("GET", key)),
    { deadlineMs: 5000, readFrom: "replica", isIdempotent: true },
  );
  t.ok(
    read.every((each) => Buffer.isBuffer(each) && each.length === 4),
    "what is acknowledged by one replica of one can be read from it",
  );
});

t.test("more acknowledgements than there are replicas are missing, and said to be", async (t) => {
  const { outcomes, replicas } = await client.writeGroup([keyed("SET", "key", "1")], { ...group, acks: 2, ackMs: 50 });
  t.same([outcomes, replicas], [["OK"], [1]]);
  t.equal(client.meters.acknowledgementsMissing, 1);
});

t.test("keys are in the slots that the server finds them in", async (t) => {
  for (const key of ["", "a", "{a}b", "x{}{y}", "ключ", "{".repeat(9), ...Array.from({ length: 20 }, String)]) {
    t.equal(await cluster.nodes[0]!.ask("CLUSTER", "KEYSLOT", key), keySlot(key), key);
  }
});

t.test("errors stand in their place, and leave the others alone", async (t) => {
  const [wrong, right] = await client.pipeline([keyed("LPUSH", "key", "1"), keyed("GET", "key")], patient);
  t.match(wrong, { reason: "refused", outcome: "refused", serverCode: "WRONGTYPE" });
  t.equal(text(right), "1");
  t.match(await failure(run("MGET", "a", "b")), { serverCode: "CROSSSLOT" });
});

t.test("scripts are loaded where they are missing, once", async (t) => {
  const keys = Array.from({ length: 30 }, (_, index) => `{script}${index}`);
  const commands = keys.map((key) => scriptCommand(add, [key], [2], keySlot(key)));
  t.same(
    (await client.writeGroup(commands, group)).outcomes,
    keys.map(() => 2),
  );
  const master = await cluster.masterOf(keySlot("{script}"));
  await master.ask("SCRIPT", "FLUSH");
  const before = String(await master.ask("INFO", "commandstats"));
  t.same(
    (await client.writeGroup(commands, group)).outcomes,
    keys.map(() => 4),
  );
  const loads = (stats: string) => Number(/cmdstat_script\|load:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  t.equal(loads(String(await master.ask("INFO", "commandstats"))), loads(before) + 1);
  const read = defineScript({
    name: "read",
    version: 1,
    source: `return redis.call("GET", KEYS[1])`,
    isReadOnly: true,
  });
  const options = { ...patient, readFrom: "replica" } as const;
  t.equal(text(await client.run(read, [keys[0]!], [], keySlot(keys[0]!), options)), "4", "on a replica too");
  const broken = defineScript({ name: "broken", version: 1, source: "return (" });
  t.match(await failure(client.run(broken, ["a"], [], keySlot("a"), patient)), { message: /load script broken/ });
});

t.test("a slot that has moved is found, and its new master's replica acknowledges", async (t) => {
  const slot = keySlot("moved");
  await run("SET", "moved", "1");
  const to = await cluster.masterOf((slot + 8192) % 16_384);
  const late = new ClusterClient({ url });
  t.teardown(() => late.close());
  await late.ready();
  await cluster.move([slot], to);
  const { outcomes, replicas } = await late.writeGroup(
    [keyed("INCR", "moved"), keyed("INCR", "{moved}2"), keyed("INCR", "elsewhere")],
    group,
  );
  t.same(
    [outcomes, replicas],
    [
      [2, 1, 1],
      [1, 1, 1],
    ],
  );
  t.equal(late.meters.moved, 2, "only what has moved is redirected");
  t.equal(late.shardOf(slot)?.master, to.address);
});

t.test("a slot on its way is served by both masters, keys of both only when it has arrived", async (t) => {
  const slot = keySlot("{way}");
  for (const key of ["{way}a", "{way}b"]) await run("SET", key, key);
  const from = await cluster.masterOf(slot);
  const move = await cluster.beginMove(slot, await cluster.masterOf((slot + 8192) % 16_384));
  await move.keys("{way}a");
  t.equal(text(await run("GET", "{way}a")), "{way}a");
  t.equal(text(await run("GET", "{way}b")), "{way}b");
  const before = client.meters.ask;
  const sums = [scriptCommand(add, ["{way}new"], [1], slot), scriptCommand(add, ["{way}new"], [1], slot)];
  t.same((await client.writeGroup(sums, group)).outcomes, [1, 2], "new keys are where the slot goes");
  t.equal(client.meters.ask, before + 2);
  t.equal(client.shardOf(slot)?.master, from.address, "ASK is no move");
  const retries = client.meters.retries;
  const both = run("MGET", "{way}a", "{way}b");
  await waitUntil(
    async () => client.meters.retries,
    (seen) => seen > retries + 3,
  );
  await move.finish();
  t.same((await both) as Buffer[], [Buffer.from("{way}a"), Buffer.from("{way}b")]);
});

t.test("too much that waits is refused, and nothing of it is sent", async (t) => {
  const small = new ClusterClient({ url, pendingCommandsMax: 10 });
  t.teardown(() => small.close());
  await small.ready();
  const outcomes = await small.pipeline(
    Array.from({ length: 30 }, () => keyed("INCR", "bounded")),
    patient,
  );
  t.equal(text(await run("GET", "bounded")), "10");
  const busy = outcomes.filter((each) => each instanceof ClusterError);
  t.equal(busy.length, 20);
  t.match(busy[0], { reason: "busy", outcome: "not-sent" });
});

t.test("a master that wants more replicas than it has carries out no write, which may be repeated later", async (t) => {
  await run("SET", "{few}", "1");
  const master = await cluster.masterOf(keySlot("{few}"));
  await master.ask("CONFIG", "SET", "min-replicas-to-write", "2");
  t.teardown(() => master.ask("CONFIG", "SET", "min-replicas-to-write", "0"));
  const writes = [keyed("SET", "{few}", "2"), scriptCommand(add, ["{few}"], [1], keySlot("{few}"))];
  const { outcomes } = await client.writeGroup(writes, group);
  for (const outcome of outcomes) {
    t.match(outcome, { reason: "unacknowledged", outcome: "refused", serverCode: "NOREPLICAS" });
  }
  t.equal(text(await run("GET", "{few}")), "1");
});

t.test("a full memory refuses writes, by scripts too, and goes on answering reads", async (t) => {
  await run("SET", "{full}", "1");
  const master = await cluster.masterOf(keySlot("{full}"));
  await master.ask("CONFIG", "SET", "maxmemory", "1");
  t.teardown(() => master.ask("CONFIG", "SET", "maxmemory", "0"));
  const writes = [keyed("SET", "{full}", "2"), scriptCommand(add, ["{full}"], [1], keySlot("{full}"))];
  const { outcomes } = await client.writeGroup(writes, group);
  for (const outcome of outcomes) t.match(outcome, { reason: "refused", outcome: "refused", serverCode: "OOM" });
  t.equal(text(await run("GET", "{full}")), "1");
});

t.test("a frozen master: deadlines are kept, a replica answers, and what was sent is unknown", async (t) => {
  const slot = keySlot("frozen");
  await client.writeGroup([keyed("SET", "frozen", "1")], group);
  const master = await cluster.masterOf(slot);
  master.freeze();
  t.teardown(() => master.thaw());
  t.match(await failure(client.execute(["GET", "frozen"], slot, { deadlineMs: 200 })), {
    reason: "deadline",
    outcome: "unknown",
  });
  const fromReplica = { ...patient, readFrom: "replica" } as const;
  t.equal(text(await client.execute(["GET", "frozen"], slot, fromReplica)), "1");
  const { outcomes, replicas } = await client.writeGroup([keyed("INCR", "frozen")], { ...group, deadlineMs: 200 });
  t.match(outcomes[0], { reason: "deadline", outcome: "unknown" });
  t.same(replicas, [0]);
  master.thaw();
  await cluster.waitOk();
  t.equal(text(await run("GET", "frozen")), "2", "it was carried out afterwards");
});

t.test(
  "a killed master: what was under way is unknown and not given again, what comes waits for the next one",
  async (t) => {
    const slot = keySlot("killed");
    for (const node of cluster.nodes) await node.ask("CONFIG", "SET", "cluster-node-timeout", "2000");
    await client.writeGroup([keyed("SET", "killed", "0")], group);
    const master = await cluster.masterOf(slot);
    const [replica] = await cluster.replicasOf(master);
    master.freeze();
    const lost = client.writeGroup([keyed("INCR", "killed")], group);
    const given = client.meters.commands;
    await waitUntil(
      async () => client.meters.commands,
      (seen) => seen > given,
    );
    await master.kill();
    t.match((await lost).outcomes[0], { reason: "unreachable", outcome: "unknown" });
    const missing = client.meters.acknowledgementsMissing;
    const { outcomes, replicas } = await client.writeGroup([keyed("INCR", "killed")], { ...group, ackMs: 50 });
    t.same([outcomes, replicas], [[1], [0]], "one replica took over, and has none of its own");
    t.equal(client.meters.acknowledgementsMissing, missing + 1);
    t.equal(client.shardOf(slot)?.master, replica?.address);
    t.ok(client.meters.reconnects + client.meters.connectionLosses > 0);
    await master.restart();
    await cluster.waitOk();
    const again = await waitUntil(
      () => client.writeGroup([keyed("INCR", "killed")], { ...group, ackMs: 500 }),
      (seen) => seen.replicas[0] === 1,
    );
    t.same(again.replicas, [1], "the former master acknowledges as a replica");
  },
);

t.test("without cluster: everything ends at its deadline, and at close", async (t) => {
  const nowhere = new ClusterClient({ url: { isTls: false, seeds: ["127.0.0.1:1"] } });
  t.match(await failure(nowhere.ready()), { reason: "unreachable", message: /127\.0\.0\.1:1/ });
  t.match(await failure(nowhere.execute(["GET", "a"], 1, { deadlineMs: 60 })), {
    reason: "deadline",
    outcome: "not-sent",
  });
  t.match(await failure(nowhere.execute(["GET", "a"], 1, { deadlineMs: 60_000, failsFast: true })), {
    reason: "unreachable",
    outcome: "not-sent",
  });
  const waiting = nowhere.pipeline([keyed("GET", "a")], patient);
  nowhere.close();
  t.match(await waiting, [{ reason: "closed", outcome: "not-sent" }]);
  t.match((await nowhere.writeGroup([keyed("INCR", "a")], group)).outcomes, [{ reason: "closed" }]);
  t.match(await failure(nowhere.ready()), { reason: "closed" });
});
