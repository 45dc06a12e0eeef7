/** What is said of clusters that can't be a store, by real servers that are set up wrongly. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import t, { type Test } from "tap";
import { inspectCluster } from "../../src/cluster/inspection.js";
import { faultsLine } from "../../src/cluster/inspection-findings.js";
import type { ClusterDemands } from "../../src/cluster/node-rules.js";
import { parseEndpoints } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { rowCommands, storeAclRules, storeKeys } from "../../src/cluster-store/permissions.js";
import { selfSigned } from "../ops/certificates.js";
import { listening } from "../support/listening.js";
import { type RedisNode, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

const password = "correct horse";
const [cluster, other, single] = await Promise.all([
  startRedis(t, {
    masters: 1,
    replicas: 1,
    password,
    settings: [
      ["maxmemory", "100mb"],
      ["cluster-require-full-coverage", "no"],
    ],
  }),
  startRedis(t, { masters: 1, replicas: 0, password }),
  startRedis(t, { isSingle: true }),
]);
const [master, replica] = cluster.nodes as [RedisNode, RedisNode];

const look = (url: string, demands: ClusterDemands = { acks: 1 }) =>
  inspectCluster(parseStoreUrl(url) as StoreUrl, demands);
const at = (node: { address: string }, credentials = `:${password}@`) => `redis://${credentials}${node.address}`;

/** A node with a server between that changes what it answers. */
async function changed(t: Test, node: RedisNode, from: RegExp, to: (found: string) => string) {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    const inner = connect(node.port, "127.0.0.1");
    for (const each of [socket, inner]) sockets.add(each.on("error", () => {}));
    socket.pipe(inner);
    inner.on("data", (bytes) => socket.write(Buffer.from(bytes.toString("latin1").replace(from, to), "latin1")));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sets something until the end of the test. */
async function configured(t: Test, node: RedisNode, name: string, value: string) {
  const [, before] = (await node.ask("CONFIG", "GET", name)) as [Buffer, Buffer];
  await node.ask("CONFIG", "SET", name, value);
  t.teardown(() => node.ask("CONFIG", "SET", name, before.toString()));
}

t.test("a cluster as it should be has no fault; one replica is worth a warning", async (t) => {
  const { faults, warnings, nodes } = await look(cluster.url);
  t.same(faults, []);
  t.same(warnings, [`${master.address} has only one replica: when one fails, writes are refused until it is back`]);
  t.match(
    nodes
      .map(({ address, role, kind, replicas }) => ({ address, role, kind, replicas }))
      .sort((a, b) => a.role.localeCompare(b.role)),
    [
      { address: master.address, role: "master", kind: "redis", replicas: 1 },
      { address: replica.address, role: "replica", kind: "redis", replicas: 0 },
    ],
  );
  t.ok(nodes.every(({ version }) => /^7\.\d+\.\d+$/.test(version)));
});

t.test("a single server", async (t) => {
  t.same((await look(single.url)).faults, [
    `${single.nodes[0]!.address} is a single server: start it with cluster-enabled yes, as a node of a cluster`,
  ]);
});

t.test("nobody there; a seed that is down beside one that is not", async (t) => {
  t.same((await look("redis://127.0.0.1:1")).faults, ["127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1"]);
  const { faults, warnings } = await look(`${cluster.url},127.0.0.1:1`);
  t.same(faults, []);
  t.match(warnings, [/^127\.0\.0\.1:1: connect ECONNREFUSED/, /one replica/]);
});

t.test("a server of another kind", async (t) => {
  const server = createHttpServer((_, response) => response.end("hello"));
  const { faults } = await look(`redis://${await listening(t, server)}`);
  t.match(faults, [/is it a Valkey or Redis server, and the port for clients\?; if it wants TLS, write valkeys:\/\/$/]);
});

t.test("a server that takes no more connections", async (t) => {
  const [node] = single.nodes as [RedisNode];
  // That of the test itself.
  await configured(t, node, "maxclients", "1");
  t.same((await look(single.url)).faults, [`${node.address}: ERR max number of clients reached`]);
});

t.test("no password, a wrong one, and none is in any line", async (t) => {
  t.same((await look(at(master, ""))).faults, [
    `${master.address}: NOAUTH Authentication required. Name a user and a password in the URL, or a file with the password`,
  ]);
  const { faults } = await look(at(master, "someone:hunter2@"));
  t.same(faults, [
    `${master.address}: WRONGPASS invalid username-password pair or user is disabled. Is the password that of someone?`,
  ]);
});

t.test("permissions that are missing, of the connection and of the store's commands", async (t) => {
  for (const node of [master, replica]) {
    await node.ask("ACL", "SETUSER", "blind", "on", ">secret", "+@all", "-info", "~*");
    await node.ask("ACL", "SETUSER", "reader", "on", ">secret", "+@all", "-set", "~mine:*");
  }
  t.match((await look(at(master, "blind:secret@"))).faults, [
    /NOPERM this user has no permissions to run the 'info' command/,
  ]);
  await master.ask("ACL", "SETUSER", "store-to-be", "on", ">secret", ...storeAclRules);
  const toBe = () => look(at(master, "store-to-be:secret@"), { acks: 1, commands: rowCommands, keys: storeKeys });
  t.match((await toBe()).faults, [new RegExp(`^${replica.address}: WRONGPASS`)], "each engine has users of its own");
  await replica.ask("ACL", "SETUSER", "store-to-be", "on", ">secret", ...storeAclRules, "-evalsha");
  t.same((await toBe()).faults, [`store-to-be may not run EVALSHA 0 on ${replica.address}`]);
  await master.ask("ACL", "SETUSER", "store-to-be", "-evalsha", "-wait");
  await replica.ask("ACL", "SETUSER", "store-to-be", "-wait");
  const both = [master.address, replica.address].sort().join(" and ");
  const ofBoth = (await toBe()).faults;
  t.ok(ofBoth.includes(`store-to-be may not run EVALSHA 0 on ${both}`), "what both lack is said once");
  for (const node of [master, replica]) {
    await node.ask("ACL", "SETUSER", "store-to-be", "resetkeys", "+evalsha", "+wait");
  }
  t.same((await toBe()).faults, [`store-to-be has no access to keys vd{* on ${both}`]);
  for (const node of [master, replica]) await node.ask("ACL", "SETUSER", "store-to-be", `~${storeKeys}`);
  await master.ask("ACL", "SETUSER", "store-to-be", "-time", "-wait", "-zadd", "-cluster|info");
  const missing = (await toBe()).faults;
  t.match(
    [...missing].sort(),
    [
      /'cluster\|info' command: see the perm/,
      /'time' command: see the perm/,
      /'wait' command: see the/,
      /may not run ZADD/,
    ],
    "each is named",
  );
  t.equal(missing.length, 4);
  const commands = [
    ["GET", "mine:1"],
    ["SET", "mine:1", "x"],
    ["GET", "yours:1"],
  ];
  t.same((await look(at(master, "reader:secret@"), { acks: 1, commands })).faults, [
    `reader may not run SET mine:1 on ${both}`,
    `reader may not run GET yours:1 on ${both}`,
  ]);
  t.same((await look(cluster.url, { acks: 1, commands })).faults, []);
  t.equal(await master.ask("EXISTS", "mine:1"), 0, "nothing was written");
});

t.test("a user who may do what the store needs is enough, and misses each permission that is taken away", async (t) => {
  const credentials = "store:secret@";
  for (const node of [master, replica]) await node.ask("ACL", "SETUSER", "store", "on", ">secret", ...storeAclRules);
  for (const node of [master, replica]) await node.ask("ACL", "LOG", "RESET");
  const demands = { acks: 1, commands: rowCommands, keys: storeKeys };
  t.same((await look(at(master, credentials), demands)).faults, []);
  for (const node of [master, replica]) t.same(await node.ask("ACL", "LOG"), [], "and asks for nothing else");
  for (const command of rowCommands) {
    const name = String(command[0]);
    await master.ask("ACL", "SETUSER", "store", `-${name}`);
    const faults = [`store may not run ${command.slice(0, 2).join(" ")} on ${master.address}`];
    t.same((await look(at(master, credentials), demands)).faults, faults);
    await master.ask("ACL", "SETUSER", "store", `+${name}`);
  }
});

t.test("a policy that evicts, no append-only file, no replica: one line for all nodes that have it", async (t) => {
  for (const node of [master, replica]) await configured(t, node, "maxmemory-policy", "allkeys-lru");
  await configured(t, replica, "appendonly", "no");
  const policy =
    /^on 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+ maxmemory-policy is allkeys-lru, which throws records away: set noeviction$/;
  const { faults } = await look(cluster.url);
  t.equal(faults.length, 2);
  t.match(faults[0], policy);
  t.ok(faults[0]!.includes(master.address) && faults[0]!.includes(replica.address));
  const noFile = `${replica.address} writes no append-only file, so that a restart loses everything: set appendonly yes`;
  t.equal(faults[1], `${noFile} (--store-durable for a managed service that keeps its data otherwise)`);
  t.same((await look(cluster.url, { acks: 0 })).faults, faults, "to accept losses by a failover is not to accept all");
  t.equal(
    faultsLine(faults),
    `2 faults: (1) ${faults[0]}; (2) ${faults[1]}`,
    "in one line each is set apart from the next",
  );
  t.equal((await look(cluster.url, { acks: 1, isDurableOtherwise: true })).faults.length, 1);
  const [node] = other.nodes as [RedisNode];
  const noReplica = `${node.address} has no replica, but one must acknowledge each write (--store-acks 1)`;
  t.same((await look(other.url)).faults, [`${noReplica}: give it 2, so that one may fail`]);
  const accepted = await look(other.url, { acks: 0 });
  t.same(accepted.faults, [], "which is as is wanted where losses are accepted");
  t.match(accepted.warnings, [
    /^no replica acknowledges writes \(--store-acks 0\): a failover may lose/,
    /has cluster-require-full-coverage yes, so that one shard without a master stops all: set no$/,
    /no maxmemory/,
  ]);
});

t.test("replicas that the engine moves to other masters by itself", async (t) => {
  for (const node of [master, replica]) await configured(t, node, "cluster-allow-replica-migration", "yes");
  const { faults, isAway, lacksReplicas } = await look(cluster.url, { acks: 0 });
  t.match(faults, [
    /have cluster-allow-replica-migration yes, by which an empty replica may become the master of a shard: set no$/,
  ]);
  t.same([isAway, lacksReplicas], [false, false], "nothing to wait for");
  await master.ask("ACL", "SETUSER", "short", "on", ">of-short", ...storeAclRules);
  await replica.ask("ACL", "SETUSER", "short", "on", ">of-short", ...storeAclRules);
  const { faults: unseen, warnings } = await look(at(master, "short:of-short@"));
  t.same(unseen, []);
  t.match(warnings.join("; "), /the user may not ask for cluster-allow-replica-migration \(CONFIG GET\): make sure/);
});

t.test("nodes of two clusters", async (t) => {
  const [stranger] = other.nodes as [RedisNode];
  const { faults } = await look(`${at(master)},${stranger.address}`);
  t.same(faults, [`${master.address} and ${stranger.address} are nodes of two clusters: name the nodes of one`]);
});

t.test("slots that nobody serves", async (t) => {
  const [node] = other.nodes as [RedisNode];
  await node.ask("CLUSTER", "DELSLOTS", "7");
  t.teardown(() => node.ask("CLUSTER", "ADDSLOTS", "7"));
  const { faults } = await look(other.url, { acks: 0 });
  t.same(faults, [`the cluster is down: 16383 of 16384 slots are served (CLUSTER INFO on ${node.address})`]);
});

t.test("a node that says the cluster is down while others are fine is not believed; alone it is", async (t) => {
  const fails = (found: string) =>
    found.replace(/\$(\d+)/, (_, length) => `$${Number(length) + 2}`).replace(/ok$/, "fail");
  const cutOff = await changed(t, master, /\$\d+\r\ncluster_state:ok/, fails);
  t.same((await look(`${at(cutOff)},${replica.address}`)).faults, []);
  const { faults, isAway } = await look(at(cutOff));
  t.same(faults, [`the cluster is down: CLUSTER INFO on ${cutOff.address} says cluster_state:fail`]);
  t.equal(isAway, true);
});

t.test("a node that still loads its data is not judged by what it says meanwhile", async (t) => {
  // As servers do: INFO answers, with settings that are not the final ones, and nearly everything else is refused.
  const loads = (node: RedisNode) =>
    changed(t, node, /[\s\S]+/, (found) =>
      found
        .replace(/loading:0/, "loading:1")
        .replace(/aof_enabled:1/, "aof_enabled:0")
        .replace(
          /\$\d+\r\n([0-9a-f]{40} |cluster_)[\s\S]*\r\n$/,
          "-LOADING Redis is loading the dataset in memory\r\n",
        ),
    );
  const seed = await loads(master);
  const alone = await look(at(seed));
  t.same(alone.faults, [`${seed.address} is still loading its data`]);
  t.equal(alone.isAway, true, "it is waited for");
  const beside = await look(`${at(seed)},${replica.address}`);
  t.same(beside.faults, []);
  // The replica is listed under the address of the one that stands between.
  const late = await changed(t, replica, /loading:0/, () => "loading:1");
  const { faults, warnings, nodes } = await look(at(late));
  t.same(faults, []);
  t.ok(warnings.includes(`${late.address} is still loading its data`));
  t.same(
    nodes.map(({ address }) => address),
    [master.address],
    "what it says of itself counts for nothing",
  );
  const head = await changed(t, master, /loading:0/, () => "loading:1");
  const needed = await look(at(head));
  t.same(needed.faults, [`${head.address} is still loading its data`]);
  t.equal(needed.isAway, true);
});

t.test("a master that can't be looked at is a fault, and may be waited for", async (t) => {
  await configured(t, master, "maxclients", "1");
  const { faults, isAway } = await look(at(replica));
  t.match(faults, [new RegExp(`^${master.address}: ERR max number of clients .*reached$`)]);
  t.equal(faults.length, 1);
  t.equal(isAway, true);
});

t.test("nodes are asked where the cluster announces them", async (t) => {
  const named = await startRedis(t, {
    masters: 1,
    replicas: 1,
    settings: [
      ["cluster-announce-hostname", "localhost"],
      ["cluster-preferred-endpoint-type", "hostname"],
      ["maxmemory-policy", "allkeys-lru"],
    ],
  });
  const [head, follower] = named.nodes as [RedisNode, RedisNode];
  const addresses = [head.address, `localhost:${follower.port}`];
  // Nodes tell each other their names a moment later.
  const endpoints = async () => [...parseEndpoints(await head.ask("CLUSTER", "SLOTS"), "").values()];
  await waitUntil(
    endpoints,
    (known) => known.length === 2 && known.every((address) => address.startsWith("localhost:")),
  );
  const { faults, nodes } = await look(`redis://${head.address}`);
  t.same(nodes.map(({ address }) => address).sort(), addresses);
  t.same(faults, [
    `on ${addresses.join(" and ")} maxmemory-policy is allkeys-lru, which throws records away: set noeviction`,
  ]);
});

t.test("a version that is too old, or newer than those tested", async (t) => {
  const old = await changed(t, master, /redis_version:7/, () => "redis_version:6");
  t.match((await look(at(old))).faults, [
    /^127\.0\.0\.1:\d+ is redis 6\.[\d.]+, which is too old: use valkey 7\.2 or newer, or redis 7\.0 to 7\.2$/,
  ]);
  const next = await changed(t, master, /redis_version:7/, () => "redis_version:8");
  const { faults, warnings } = await look(at(next));
  t.same(faults, []);
  t.match(warnings, [/is redis 8\.[\d.]+; tested are 7\.0 to 7\.2/, /one replica/]);
  const valkey = await changed(t, master, /redis_version:7\.0\.\d/, () => "valkey_version:7.1.");
  t.match((await look(at(valkey))).faults, [/is valkey 7\.1\.[\d.]+, which is too old/]);
});

t.test("a clock that is wrong: one node's, this machine's", async (t) => {
  const late = await changed(t, master, /\$10\r\n(\d{10})/, (found) => `$10\r\n${Number(found.slice(5)) - 60}`);
  t.match((await look(at(late))).faults, [
    new RegExp(`^${late.address}: its clock is (59\\.\\d|60\\.0) s behind this machine's: synchronise it$`),
  ]);
  const { now } = Date;
  Date.now = () => now() + 60_000;
  t.teardown(() => {
    Date.now = now;
  });
  t.match((await look(cluster.url)).faults, [/^this machine's clock is (59\.\d|60\.0) s ahead of that of every node/]);
  const early = await changed(t, master, /\$10\r\n(\d{10})/, (found) => `$10\r\n${Number(found.slice(5)) + 120}`);
  t.match(
    [...(await look(at(early))).faults].sort(),
    [
      new RegExp(`^${early.address}: its clock is .* s ahead of this machine's`),
      new RegExp(`^${replica.address}: its clock is .* s behind this machine's`),
    ].sort((one, other) => one.source.localeCompare(other.source)),
    "this one's can't be both",
  );
});

t.test("TLS where there is none, none where there is, a certificate of nobody", async (t) => {
  const files = selfSigned(t, "localhost");
  const safe = await startRedis(t, { masters: 1, replicas: 0, tls: files });
  const [plain, secure, stranger] = await Promise.all([
    look(single.url.replace("redis:", "rediss:")),
    look(safe.url.replace("rediss:", "redis:")),
    look(safe.url),
  ]);
  t.match(plain.faults, [/did not answer in \d+ ms; if it does not speak TLS, write valkey:\/\/$/]);
  t.match(secure.faults, [/(closed the connection|ECONNRESET); if it wants TLS, write valkeys:\/\/$/]);
  t.match(stranger.faults, [/: self-signed certificate.*: name a file with its authorities, --store-ca FILE$/]);
  const url = parseStoreUrl(safe.url) as StoreUrl;
  const tls = { ca: readFileSync(files.certificate) };
  t.same((await inspectCluster(url, { acks: 0 }, { tls })).faults, []);
  const [node] = safe.nodes as [RedisNode];
  await node.ask("CONFIG", "SET", "tls-auth-clients", "yes");
  const mutual = await inspectCluster(url, { acks: 0 }, { tls });
  t.match(mutual.faults, [
    /^[^\n]*alert certificate required[^\n]*\. It wants a certificate of its clients: --store-cert FILE and --store-key FILE, or tls-auth-clients no$/,
  ]);
});
