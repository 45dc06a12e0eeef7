/** A single host's store on its way into a real cluster: while it serves, killed and interrupted on the way, into clusters that are not fit for it. */

import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { dayMs } from "../../src/contract/values/durations.js";
import { limits } from "../../src/limits.js";
import { migrationMark } from "../../src/store/migration-mark.js";
import { openStore } from "../../src/store/open-store.js";
import { storeFile } from "../../src/store/store-file.js";
import { ingest, threads } from "../cli/ingest.js";
import { event } from "../support/batches.js";
import { ownFolder } from "../support/own-folder.js";
import { type Owner, ownerOf } from "../support/owner.js";
import { command, json, type Served, serve, start, verdictd } from "../support/process.js";
import type { RedisCluster, RedisNode } from "../support/redis-cluster.js";
import { askUntil } from "../support/server.js";
import { putSession } from "../support/stored-session.js";
import { waitUntil } from "../support/wait-until.js";
import { startCommandClusters } from "./command-clusters.js";

const { cluster, url, other, single } = await startCommandClusters(t);

/** A store in which so many sessions were seen a moment ago; its owner. */
async function storeOf(folder: string, sessions: number): Promise<Owner> {
  const store = openStore(folder);
  const owner = await ownerOf(store);
  await store.root.transaction(() => {
    for (let number = 0; number < sessions; number++) putSession(store, owner.projectId, Date.now(), number);
  });
  await store.close();
  return owner;
}

interface Migrated {
  readonly sessions: number;
  readonly copied: number;
  readonly removed: number;
  readonly finished: boolean;
}

async function migrate(folder: string, ...flags: string[]): Promise<Migrated> {
  const args = ["store", "migrate", "--to", url, "--json", "--data-dir", folder, ...flags];
  const { code, stdout, stderr } = await command(args);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Migrated;
}

/** A command under way: its process, its exit code once it ends, and what it has said on standard error so far. */
function begin(args: readonly string[]) {
  const child = start(args);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((done) => child.on("close", done));
  return { child, ended, said: () => stderr };
}

/** What a command that can't be done says. */
async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args);
  t.equal(code, 1, stdout);
  return stderr.trim();
}

const keysIn = async (of: RedisCluster): Promise<number> => {
  const sizes = await Promise.all((await of.masters()).map((node) => node.ask("DBSIZE")));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
};
const emptied = async (of: RedisCluster): Promise<void> => {
  await Promise.all((await of.masters()).map((node) => node.ask("FLUSHALL")));
};

t.test("a store moves while it serves, and its tokens go on", async (t) => {
  const folder = ownFolder(t);
  const owner = await storeOf(folder, 0);
  const host = await serve(t, folder, { flags: ["--verdict-ttl", "0", ...threads] });
  const tokens: string[] = [];
  for (let count = 0; count < 5; count++) tokens.push(await ingest(host, owner.siteKey, 3));
  // More request ids than a record holds: they spill into rows of their own.
  for (let count = 0; count < 3; count++) await ingest(host, owner.siteKey, 100, tokens[0]);
  const batch = { key: crypto.randomUUID(), id: crypto.randomUUID() };
  const resent = await sent(host, owner, batch);
  // Timelines are stored a moment after the answers, in their order.
  await askUntil(
    () =>
      host.ask("GET", `/v1/projects/${owner.projectId}/sessions/${resent.session_token}/trail`, { token: owner.token }),
    ({ json }) => json.noted > 0,
  );
  t.match(await migrate(folder), { sessions: 6, copied: 6, removed: 0, finished: false });
  const empty = ownFolder(t);
  t.match(
    JSON.parse(await refused("serve", "--store", url, "--data-dir", empty, "--port", "0", "--admin-port", "0")),
    {
      level: "fatal",
      reason: /is being filled by `verdictd store migrate`: finish that with --final, then it can be used$/,
    },
    "as a line of the log",
  );
  t.match(
    await refused("token", "list", "--account", "1", "--store", url, "--data-dir", empty),
    /is being filled by `verdictd store migrate`/,
  );
  t.same(readdirSync(empty), [], "no mirror is left behind");
  t.match(await migrate(folder), { sessions: 6, copied: 0 }, "nothing has changed since");
  await ingest(host, owner.siteKey, 2, tokens[1]);
  await host.ask("POST", `/v1/sessions/${tokens[2]}/logged-in`, { token: owner.privateKey });
  t.equal((await command(["session", "delete", tokens[4]!, "--data-dir", folder])).code, 0);
  t.match(await migrate(folder), { sessions: 5, copied: 2, removed: 1 }, "what has changed since");
  t.match(
    await refused("store", "migrate", "--to", url, "--data-dir", folder, "--final"),
    /a server still uses .*: stop it/,
  );
  const before = await Promise.all(tokens.map((token) => detail(host, owner, token)));
  const usage = (await host.ask("GET", "/v1/usage", { token: owner.token })).json;
  const stats = (await host.ask("GET", `/v1/projects/${owner.projectId}/stats`, { token: owner.token })).json;
  await host.end("SIGTERM");
  t.match(await migrate(folder, "--final"), { sessions: 5, finished: true });

  const node = await serve(t, ownFolder(t), { flags: ["--store", url, "--verdict-ttl", "0", ...threads] });
  for (const [index, token] of tokens.entries()) t.same(await detail(node, owner, token), before[index], token);
  t.same((await node.ask("GET", "/v1/usage", { token: owner.token })).json, usage);
  const moved = (await node.ask("GET", `/v1/projects/${owner.projectId}/stats`, { token: owner.token })).json;
  t.same(moved.totals, stats.totals);
  t.equal(await ingest(node, owner.siteKey, 1, tokens[0]), tokens[0], "a visitor stays the same");
  t.match((await detail(node, owner, tokens[0]!)).event_count, 304);
  t.same(
    await sent(node, owner, batch),
    { ...resent, accepted: 0, duplicates: 1 },
    "and a batch that is sent again counts once",
  );
  t.match(
    await refused("store", "migrate", "--to", url, "--data-dir", folder, "--final"),
    /was opened to nodes at .*: what they wrote since would be lost, so nothing was copied; stop its nodes, empty the cluster .* with --anew$/,
  );
  t.match(
    await refused("store", "reopen", "--data-dir", folder, "--yes"),
    /^a node still serves redis:\/\/[\d.:,]+: stop all of its nodes, then run this again$/,
  );
  // What it said last stays in the cluster.
  await node.end("SIGKILL");

  const isMoved =
    /verdictd\.mdb was migrated to redis:\/\/[\d.:,]+ at [-\d:.TZ]+: name that with --store, .*`verdictd store reopen`$/;
  t.match(await refused("serve", "--data-dir", folder, "--port", "0", "--admin-port", "0"), isMoved);
  t.match(await refused("session", "delete", tokens[0]!, "--data-dir", folder), isMoved);
  t.match(await refused("rescore", "--data-dir", folder), isMoved);
  t.match(await json(folder, "session", "show", tokens[0]!), { event_count: 303 }, "it can be read");
  t.match(await json(folder, "check"), { ok: true });
  t.match(
    await refused("store", "reopen", "--data-dir", folder, "--to", "redis://127.0.0.1:1"),
    /^it can't be told whether nodes still serve the cluster: redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*--yes reopens the store/,
  );
  t.equal((await command(["store", "reopen", "--data-dir", folder])).code, 0);
  t.match(await refused("store", "reopen", "--data-dir", folder), /was not migrated with --final$/);
  t.equal((await command(["session", "delete", tokens[0]!, "--data-dir", folder])).code, 0, "it is used again");
});

/** The session as the console shows it. */
async function detail(server: Served, { projectId, token: as }: Owner, token: string) {
  const path = `/v1/projects/${projectId}/sessions/${token}`;
  // A node that was just started on a busy machine may be behind with the configuration.
  const isAnswered = ({ status }: { readonly status: number }): boolean => status !== 503;
  return (await askUntil(() => server.ask("GET", path, { token: as }), isAnswered)).json;
}

/** A first contact with an `Idempotency-Key`; what is answered. */
async function sent(server: Served, { siteKey }: Owner, { key, id }: { readonly key: string; readonly id: string }) {
  const headers = { "x-service-site-key": siteKey, "idempotency-key": key };
  const events = [{ ...event(id, {}), type: "heartbeat" }];
  const { status, json, text } = await server.ask("POST", "/v1/events", {
    headers,
    body: { session_token: null, events },
  });
  if (status !== 202) throw new Error(`${status}: ${text}`);
  return json as { readonly session_token: string };
}

t.test("`store reopen` asks the cluster as the user of the migration, whose password is not stored", async (t) => {
  await emptied(cluster);
  const folder = ownFolder(t);
  await storeOf(folder, 3);
  const password = "secret";
  t.match(url, `://store:${password}@`);
  t.match(await migrate(folder, "--final"), { finished: true });
  t.notOk(readFileSync(storeFile(folder)).includes(password));
  const store = openStore(folder);
  const { user, name } = migrationMark(store)!;
  await store.close();
  t.same([user, name], ["store", cluster.url]);
  const reopen = ["store", "reopen", "--data-dir", folder];
  const withPassword = (given: string) => command(reopen, { VERDICTD_STORE_PASSWORD: given });
  t.match(await withPassword("another"), { code: 1, stderr: /it can't be told .*WRONGPASS/ });
  // The default user has none here, and would be refused with it.
  t.match(await withPassword(password), { code: 0 });
});

t.test("killed and interrupted on the way, it goes on", async (t) => {
  await emptied(cluster);
  const folder = ownFolder(t);
  const sessions = 12 * limits.clusterPieceRows;
  await storeOf(folder, sessions);
  const halfway = async () => {
    const before = await keysIn(cluster);
    const begun = begin(["store", "migrate", "--to", url, "--data-dir", folder]);
    await waitUntil(
      () => keysIn(cluster),
      (keys) => keys > before + limits.clusterPieceRows,
    );
    return begun;
  };
  const killed = await halfway();
  killed.child.kill("SIGKILL");
  await killed.ended;
  const half = await keysIn(cluster);
  t.ok(half < sessions, `${half} of ${sessions} sessions are there`);
  const interrupted = await halfway();
  interrupted.child.kill("SIGINT");
  t.equal(await interrupted.ended, 1);
  t.match(interrupted.said(), /interrupted: nothing is lost, run it again to continue$/m);
  t.match(await migrate(folder, "--final"), { sessions, finished: true });
});

t.test("a session that is damaged or missing in the cluster is found by the last step", async (t) => {
  await emptied(cluster);
  const folder = ownFolder(t);
  await storeOf(folder, 40);
  await migrate(folder);
  const rows = (
    await Promise.all(
      (
        await cluster.masters()
      ).map(async (node) => {
        const keys = (await node.ask("KEYS", "vd{*}s*")) as Buffer[];
        return keys.map((key) => ({ node, key }));
      }),
    )
  ).flat();
  const [damaged, missing, unindexed, eternal, early, late] = rows;
  await damaged!.node.ask("SETRANGE", damaged!.key, "100", "x");
  await missing!.node.ask("DEL", missing!.key);
  await eternal!.node.ask("PERSIST", eternal!.key);
  // Sessions are kept for 30 days.
  await early!.node.ask("PEXPIRE", early!.key, String(29 * dayMs));
  await late!.node.ask("PEXPIRE", late!.key, String(31 * dayMs));
  const index = Buffer.concat([unindexed!.key.subarray(0, unindexed!.key.indexOf("}") + 1), Buffer.from("x:1")]);
  await unindexed!.node.ask("ZREM", index, unindexed!.key.subarray(-21));
  t.match(await migrate(folder, "--final"), { sessions: 40, copied: 6, finished: true });
});

t.test("clusters by mistake", async (t) => {
  await Promise.all([emptied(cluster), emptied(other)]);
  const [folder, second] = [ownFolder(t), ownFolder(t)];
  await Promise.all([storeOf(folder, 3), storeOf(second, 3)]);
  await migrate(folder);
  const to = (target: string, dir: string, ...flags: string[]) =>
    refused("store", "migrate", "--to", target, "--data-dir", dir, "--store-acks", "0", ...flags);
  t.match(await to(url, second), /holds what was copied from another store: name an empty cluster$/);
  t.match(
    await to(other.url, folder),
    /this store was copied to cluster [-0-9a-f]+, but redis:.* is an empty cluster: name that one, or copy to this one with --anew$/,
  );
  t.equal(await keysIn(other), 0, "nothing was written");
  await command(["init", "--store", other.url, "--data-dir", ownFolder(t), "--store-acks", "0"]);
  const keys = await keysIn(other);
  t.match(await to(other.url, second), /is in use by another verdictd: name an empty cluster$/);
  t.match(await to(other.url, folder, "--anew"), /is in use by another verdictd: name an empty cluster$/);
  t.equal(await keysIn(other), keys, "nothing was written");
  const [node] = other.nodes as [RedisNode];
  await node.ask("DEL", "vd{config}head");
  t.match(
    await to(other.url, second),
    /holds rows of a verdictd without its configuration, such as "vd\{config\}[\w:]+": name an empty cluster$/,
  );
  await emptied(other);
  const anew = ["store", "migrate", "--to", other.url, "--data-dir", folder, "--store-acks", "0", "--anew", "--json"];
  t.match(JSON.parse((await command(anew)).stdout), { sessions: 3, copied: 3 });
  const mirror = ownFolder(t);
  await emptied(cluster);
  await command(["init", "--store", url, "--data-dir", mirror]);
  const ofMirror = /mirrors the configuration of a cluster: name the folder of a single host's store with --data-dir$/m;
  t.match(await to(other.url, mirror), ofMirror);
  t.match(await command(["store", "reopen", "--data-dir", mirror]), { code: 1, stderr: ofMirror });
});

t.test("clusters that are not fit: one line, and nothing is written", async (t) => {
  await emptied(other);
  const folder = ownFolder(t);
  await storeOf(folder, 3);
  const [node] = other.nodes as [RedisNode];
  const [lone] = single.nodes as [RedisNode];
  const to = (target: string, ...flags: string[]) =>
    refused("store", "migrate", "--to", target, "--data-dir", folder, ...flags);
  const { code, stderr } = await verdictd(["store", "migrate", "--to", "redis:/secret", "--data-dir", folder]);
  t.equal(code, 2);
  t.match(stderr, /^--store: expected the URL of a cluster: it must begin with valkey:\/\//);
  t.notMatch(stderr, /secret/);
  t.match(await to("redis://127.0.0.1:1"), /connect ECONNREFUSED/);
  t.match(await to(single.url), /is a single server: start it with cluster-enabled yes/);
  t.match(await to(other.url), /has no replica, but one must acknowledge each write/);
  const configured = async (name: string, value: string, line: RegExp) => {
    const [, before] = (await node.ask("CONFIG", "GET", name)) as [Buffer, Buffer];
    await node.ask("CONFIG", "SET", name, value);
    t.match(await to(other.url, "--store-acks", "0"), line, name);
    await node.ask("CONFIG", "SET", name, before.toString());
  };
  await configured(
    "maxmemory-policy",
    "allkeys-lru",
    /maxmemory-policy is allkeys-lru, which throws records away: set noeviction/,
  );
  const used = Number(/used_memory:(\d+)/.exec(String(await node.ask("INFO", "memory")))![1]);
  await configured(
    "maxmemory",
    String(used + 200),
    /has \d+ MiB left, this store needs about \d+: raise maxmemory, or add masters$/,
  );
  await node.ask("ACL", "SETUSER", "reader", "on", ">secret", ...storeAclRules, "-zadd");
  t.match(
    await to(other.url.replace("redis://", "redis://reader:secret@"), "--store-acks", "0"),
    /reader may not run ZADD/,
  );
  t.equal(await keysIn(other), 0);
  t.equal(Number(await lone.ask("DBSIZE")), 0);
  for (const line of [await to(single.url), await to(other.url)]) t.equal(line.split("\n").length, 1);
});

t.test("a memory that is full on the way: one line, and it goes on once there is room", async (t) => {
  await emptied(other);
  const folder = ownFolder(t);
  const sessions = 8 * limits.clusterPieceRows;
  await storeOf(folder, sessions);
  const [node] = other.nodes as [RedisNode];
  const args = ["store", "migrate", "--to", other.url, "--data-dir", folder, "--store-acks", "0"];
  const { ended, said } = begin(args);
  await waitUntil(
    () => keysIn(other),
    (keys) => keys > 10,
  );
  await node.ask("CONFIG", "SET", "maxmemory", "1000000");
  t.equal(await ended, 1);
  t.match(said(), /^the cluster has no memory left \(.*OOM.*\): raise maxmemory, then run this again$/m);
  await node.ask("CONFIG", "SET", "maxmemory", "0");
  const again = await command([...args, "--final", "--json"]);
  t.match(JSON.parse(again.stdout), { sessions, finished: true });
});
