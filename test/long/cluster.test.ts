/** The client through resharding, connections that are cut at random, TLS, and frozen nodes, all under load: no sum is lost or counted twice. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import { ClusterClient, scriptCommand } from "../../src/cluster/cluster-client.js";
import { ClusterError } from "../../src/cluster/cluster-error.js";
import type { ClusterTls } from "../../src/cluster/cluster-tls.js";
import { defineScript } from "../../src/cluster/script.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { selfSigned } from "../ops/certificates.js";
import { type RedisCluster, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

const add = defineScript({ name: "add", version: 1, source: `return redis.call("INCRBY", KEYS[1], ARGV[1])` });
const keys = Array.from({ length: 2000 }, (_, index) => `{${index % 256}}:${index}`);
const slotOf = new Map(keys.map((key) => [key, keySlot(key)]));

/** What was asked for, by key: increments that a master and a replica have, those that may be lost, and those that may be there. */
interface Ledger {
  readonly acknowledged: Map<string, number>;
  readonly unacknowledged: Map<string, number>;
  readonly unknown: Map<string, number>;
  readonly reasons: Map<string, number>;
  groups: number;
}

/** Increments random keys by groups until `isOver`; whatever can't be sent is left out. */
async function load(client: ClusterClient, isOver: () => boolean, ledger: Ledger): Promise<void> {
  const raise = (of: Map<string, number>, name: string) => of.set(name, (of.get(name) ?? 0) + 1);
  while (!isOver()) {
    const chosen = Array.from({ length: 32 }, () => keys[Math.floor(Math.random() * keys.length)]!);
    const commands = chosen.map((key) => scriptCommand(add, [key], [1], slotOf.get(key)!));
    const { outcomes, replicas } = await client.writeGroup(commands, { deadlineMs: 5000, acks: 1, ackMs: 1000 });
    ledger.groups++;
    for (const [index, outcome] of outcomes.entries()) {
      const key = chosen[index]!;
      if (!(outcome instanceof ClusterError)) {
        raise(replicas[index]! < 1 ? ledger.unacknowledged : ledger.acknowledged, key);
        continue;
      }
      raise(ledger.reasons, `${outcome.reason} ${outcome.outcome} ${outcome.serverCode}`);
      if (outcome.outcome === "unknown") raise(ledger.unknown, key);
    }
  }
}

const newLedger = (): Ledger => ({
  acknowledged: new Map(),
  unacknowledged: new Map(),
  unknown: new Map(),
  reasons: new Map(),
  groups: 0,
});

/** Every key has at least what was acknowledged, and at most what may have been carried out beside it. */
async function audit(t: Test, client: ClusterClient, ledger: Ledger): Promise<void> {
  const { acknowledged, unacknowledged, unknown } = ledger;
  const read = await client.pipeline(
    keys.map((key) => ({ command: ["GET", key], slot: slotOf.get(key)! })),
    { deadlineMs: 30_000, isIdempotent: true },
  );
  let lost = 0;
  let doubled = 0;
  for (const [index, key] of keys.entries()) {
    const found = Number(read[index] ?? 0);
    const least = acknowledged.get(key) ?? 0;
    const most = least + (unacknowledged.get(key) ?? 0) + (unknown.get(key) ?? 0);
    lost += Math.max(0, least - found);
    doubled += Math.max(0, found - most);
  }
  const counts = [acknowledged, unacknowledged, unknown].map((of) => [...of.values()].reduce((a, b) => a + b, 0));
  t.comment(
    `groups ${ledger.groups}; acknowledged, not acknowledged, unknown: ${counts}`,
    [...ledger.reasons],
    client.meters,
  );
  t.same({ lost, doubled }, { lost: 0, doubled: 0 });
  t.ok(counts[0]! > 1000, "there was load");
}

async function connected(t: Test, cluster: RedisCluster, tls?: ClusterTls): Promise<ClusterClient> {
  const url = parseStoreUrl(cluster.url) as StoreUrl;
  const client = new ClusterClient(tls === undefined ? { url } : { url, tls });
  t.teardown(() => client.close());
  await client.ready();
  return client;
}

/** Once the load has got on. */
async function progress(ledger: Ledger): Promise<void> {
  const before = ledger.groups;
  await waitUntil(
    async () => ledger.groups,
    (groups) => groups > before + 50,
  );
}

/** Runs `work` under load and returns what was asked for meanwhile. */
async function under(client: ClusterClient, work: (ledger: Ledger) => Promise<void>): Promise<Ledger> {
  const ledger = newLedger();
  let isOver = false;
  const running = Array.from({ length: 4 }, () => load(client, () => isOver, ledger));
  try {
    await progress(ledger);
    await work(ledger);
    await progress(ledger);
  } finally {
    isOver = true;
    await Promise.all(running);
  }
  return ledger;
}

t.test("resharding to a fourth master and back under load", async (t) => {
  const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "15000"]] });
  const client = await connected(t, cluster);
  const ledger = await under(client, async () => {
    const fourth = await cluster.addMaster();
    const used = [...new Set(slotOf.values())].filter((_, index) => index % 2 === 0);
    await cluster.move(used, fourth);
    const first = await cluster.masterOf(keySlot("any"));
    // Not the last ones: a master without slots becomes a replica, and closes connections that wait in it.
    await cluster.move(used.slice(20), first);
  });
  await audit(t, client, ledger);
  t.equal(ledger.unknown.size, 0, "a redirected command was not carried out, so that nothing is in doubt");
  t.same([...ledger.reasons], [], "and none failed");
  t.ok(client.meters.moved > 0 && client.meters.ask > 0, "slots moved, and keys of slots on their way were asked for");
});

t.test("connections that are cut again and again", async (t) => {
  const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "15000"]] });
  const client = await connected(t, cluster);
  const ledger = await under(client, async () => {
    for (let round = 0; round < 60; round++) {
      const node = cluster.nodes[round % cluster.nodes.length]!;
      await node.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      // Time is the subject: connections live this long.
      await delay(50);
    }
  });
  await audit(t, client, ledger);
  t.ok(client.meters.reconnects > 10, "connections were opened again");
});

t.test("a node that is frozen, then killed, while another client storms it with connections", async (t) => {
  const cluster = await startRedis(t, { replicas: 2 });
  const client = await connected(t, cluster);
  const ledger = await under(client, async (ledger) => {
    const master = await cluster.masterOf(keySlot("{7}"));
    master.freeze();
    // Time is the subject: the freeze, which the engine does not take for a death.
    await delay(4000);
    master.thaw();
    const storm = Array.from({ length: 50 }, () => connected(t, cluster));
    await Promise.all(storm);
    await cluster.waitOk();
    await progress(ledger);
    await (await cluster.masterOf(keySlot("{7}"))).kill();
  });
  await audit(t, client, ledger);
});

t.test("TLS: the same, with certificates that are checked", async (t) => {
  const files = selfSigned(t, "localhost");
  const cluster = await startRedis(t, { tls: files, password: "correct horse" });
  const ca = readFileSync(files.certificate);
  const client = await connected(t, cluster, { ca });
  const ledger = await under(client, async () => {
    const master = await cluster.masterOf(keySlot("{7}"));
    const slots = [...new Set(slotOf.values())].slice(0, 40);
    await cluster.move(slots, master);
    for (let round = 0; round < 10; round++) {
      await master.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      // Time is the subject: connections live this long.
      await delay(50);
    }
  });
  await audit(t, client, ledger);
  const big = Buffer.alloc(8 * 1024 * 1024, "x");
  const key = "big";
  const options = { deadlineMs: 30_000, isIdempotent: true };
  t.equal(await client.execute(["SET", key, big], keySlot(key), options), "OK");
  t.ok(big.equals((await client.execute(["GET", key], keySlot(key), options)) as Buffer));
  const url = parseStoreUrl(cluster.url) as StoreUrl;
  const stranger = new ClusterClient({ url, tls: { ca, serverName: "elsewhere.example" } });
  t.teardown(() => stranger.close());
  await t.rejects(stranger.ready(), { reason: "unreachable", message: /altnames/ });
});

/** Stands between the client and a node, and spoils what the node answers by `spoil`; `undefined` cuts the connection. */
async function spoiler(t: Test, port: number, spoil: (bytes: Buffer) => Buffer | undefined): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((outer) => {
    const inner = connect(port, "127.0.0.1");
    const end = (): void => {
      outer.destroy();
      inner.destroy();
    };
    for (const socket of [outer, inner]) sockets.add(socket.on("error", end).on("close", end));
    outer.pipe(inner);
    inner.on("data", (bytes) => {
      const spoiled = spoil(bytes);
      if (spoiled === undefined) end();
      else outer.write(spoiled);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

t.test("a node that answers nonsense: everything ends, and all is well once it does not", async (t) => {
  const cluster = await startRedis(t, { masters: 1, replicas: 0 });
  const [node] = cluster.nodes;
  let isSpoiling = false;
  const spoil = (bytes: Buffer): Buffer | undefined => {
    const chance = isSpoiling ? Math.random() : 1;
    if (chance < 0.02) return undefined;
    if (chance < 0.04) return bytes.subarray(0, Math.floor(Math.random() * bytes.length));
    if (chance < 0.06) return randomBytes(bytes.length);
    if (chance < 0.5) {
      const copy = Buffer.from(bytes);
      copy[Math.floor(Math.random() * copy.length)] = Math.floor(Math.random() * 256);
      return copy;
    }
    return bytes;
  };
  const port = await spoiler(t, node!.port, spoil);
  // What the client is told of the cluster leads through the spoiler too.
  await node!.ask("CONFIG", "SET", "cluster-announce-port", String(port));
  const client = new ClusterClient({ url: parseStoreUrl(`redis://127.0.0.1:${port}`) as StoreUrl, silenceMs: 200 });
  t.teardown(() => client.close());
  await client.ready();
  isSpoiling = true;
  const seen = new Map<string, number>();
  for (let round = 0; round < 300; round++) {
    const commands = Array.from({ length: 20 }, (_, index) => scriptCommand(add, [`{a}${index}`], [1], keySlot("{a}")));
    const { outcomes } = await client.writeGroup(commands, { deadlineMs: 100, acks: 0, ackMs: 0 });
    for (const outcome of outcomes) {
      const name = outcome instanceof ClusterError ? `${outcome.reason} ${outcome.outcome}` : typeof outcome;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  t.comment([...seen], client.meters);
  t.ok(seen.has("protocol unknown") && seen.has("deadline unknown") && seen.has("number"), "of all kinds");
  isSpoiling = false;
  const key = "{a}0";
  const options = { deadlineMs: 30_000, isIdempotent: true };
  t.ok(Number(await client.execute(["GET", key], keySlot(key), options)) > 0);
});
