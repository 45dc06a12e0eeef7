/** What commands and nodes tell, check, erase, copy and remove of a real cluster's sessions and configuration. */
import { join } from "node:path";
import t from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { checkRows } from "../../src/cluster-store/check/cluster-check.js";
import {
  blockRows,
  configSlot,
  idempotencyRow,
  indexRow,
  marksRow,
  shardOfSession,
  shardSlots,
  timelineIndexRow,
  trafficRow,
  usageRow,
} from "../../src/cluster-store/keys.js";
import { openMirror } from "../../src/cluster-store/open-cluster.js";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { ClusterSessions } from "../../src/cluster-store/sessions/cluster-sessions.js";
import { newScoredState } from "../../src/contract/sessions/session.js";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { hourOf, idempotencyKey, sessionKey, tokenAt } from "../../src/store/keys.js";
import { decodeSession, encodeSession } from "../../src/store/session-record.js";
import { ingest, threads } from "../cli/ingest.js";
import { tracesIn } from "../cluster-store/ingest/session-traces.js";
import { ownFolder } from "../support/own-folder.js";
import { command, type FirstKeys, json, serve } from "../support/process.js";
import type { RedisNode } from "../support/redis-cluster.js";
import { askUntil } from "../support/server.js";
import { storedToken } from "../support/stored-session.js";
import { waitUntil } from "../support/wait-until.js";
import { startCommandClusters } from "./command-clusters.js";

const { cluster, url, other, single } = await startCommandClusters(t);
const client = new ClusterClient({ url: parseStoreUrl(url) as StoreUrl });
await client.ready();
t.teardown(() => client.close());

const mirror = ownFolder(t);
const on = ["--store", url] as const;
const ask = (...words: (string | Buffer | number)[]) =>
  client.execute(words, keySlot(words[1] as string), { deadlineMs: 5000 });
const { code, stdout, stderr } = await command(["init", ...on, "--json", "--data-dir", mirror]);
if (code !== 0) throw new Error(stderr);
const first = JSON.parse(stdout) as FirstKeys;
const projectId = first.project_id;
const node = await serve(t, ownFolder(t), { flags: [...on, "--verdict-ttl", "0", ...threads] });
const { json: keys } = await askUntil(
  () => node.ask("POST", `/v1/projects/${projectId}/scoring`, { token: first.account_token }),
  ({ status }) => status === 200,
);

const traces = (token: string) => tracesIn(cluster, token);

t.test("a session is shown whole and erased whole, by command and over HTTP", async (t) => {
  const kept = await ingest(node, keys.site_key, 3);
  const scansBefore = await scans();
  for (const how of ["command", "http"] as const) {
    let token: string | null = null;
    // More request ids than a record holds: they spill into rows of their own.
    for (let batch = 0; batch < 3; batch++) token = await ingest(node, keys.site_key, 100, token);
    const erased = token!;
    const shown = await json<Record<string, unknown>>(mirror, "session", "show", erased, ...on);
    t.match(shown, { project_id: projectId, event_count: 300, request_ids: 300, idempotency_keys: 1, ip: "127.0.0.1" });
    t.ok((await traces(erased)).length >= 4, "record, seen ids, index and idempotency row name the session");
    if (how === "command") {
      const done = await json(mirror, "session", "delete", erased, ...on);
      t.match(done, { project_id: projectId, erased: { sessions: 1, repeats: 1, idempotency: 1 } });
    } else {
      const path = `/v1/projects/${projectId}/sessions/${erased}`;
      t.equal((await node.ask("DELETE", path, { token: first.account_token })).status, 204);
      t.equal((await node.ask("DELETE", path, { token: first.account_token })).status, 404);
    }
    t.same(await traces(erased), [], "no row names it any more");
    const gone = await command(["session", "show", erased, ...on, "--data-dir", mirror]);
    t.match(gone, { code: 1, stderr: /no project has a session with this token/ });
    t.not(await ingest(node, keys.site_key, 1, erased), erased, "its client is a new visitor");
  }
  t.match(await json(mirror, "session", "show", kept, ...on), { event_count: 3 }, "another session is untouched");
  t.equal(await scans(), scansBefore, "no key of other sessions was looked at");
});

/** How often the masters were asked for pages of their keys. */
async function scans(): Promise<number> {
  const infos = await Promise.all((await cluster.masters()).map((each) => each.ask("INFO", "commandstats")));
  return infos.reduce(
    (sum: number, info) => sum + Number(/^cmdstat_scan:calls=(\d+)/m.exec(String(info))?.[1] ?? 0),
    0,
  );
}

t.test(
  "sessions that match an expression are deleted, by command and over HTTP, and the log says how many",
  async (t) => {
    const path = `/v1/projects/${projectId}/sessions/delete`;
    const from = new Date(Date.now() - 60_000).toISOString();
    for (const how of ["command", "http"] as const) {
      const kept = await ingest(node, keys.site_key, 3);
      const gone = [await ingest(node, keys.site_key, 7), await ingest(node, keys.site_key, 7)];
      const expression = "event_count == 7";
      if (how === "command") {
        const flags = ["--project", String(projectId), "--from", from, "--yes"];
        t.match(await json(mirror, "session", "delete-matching", expression, ...flags, ...on), {
          matched: 2,
          deleted: 2,
        });
      } else {
        const body = { from, to: new Date().toISOString(), expression };
        const { status, json: done } = await node.ask("POST", path, { token: first.account_token, body });
        t.match({ status, done }, { status: 200, done: { matched: 2, deleted: 2 } });
      }
      for (const token of gone) t.same(await traces(token), []);
      t.match(await json(mirror, "session", "show", kept, ...on), { event_count: 3 });
      const { json: log } = await node.ask("GET", "/v1/audit?kind=sessions", { token: first.account_token });
      t.match(log.data[0], { action: "sessions.deleted", after: { expression, sessions: 2 } });
      t.equal(log.data[0].user === null, how === "command");
    }
  },
);

t.test("a first contact's key in another shard goes with its session, told by the record or else found", async (t) => {
  for (const isTold of [true, false]) {
    const token = await ingest(node, keys.site_key, 3);
    const { row } = rowOf(token);
    const stored = (await ask("GET", row)) as Buffer;
    const session = decodeSession(Buffer.from(stored.subarray(8)))!;
    await ask("DEL", idempotencyRow(session.contactKey!));
    // As a row that was copied from one host, and that of a token which was issued before its key was known.
    // Of zeros alone is the key that stands for none.
    const hash = Buffer.alloc(11, (decodeSessionToken(token)![4]! + 1) & 0xff || 1);
    const contactKey = idempotencyKey(0, 0, hash);
    session.contactKey = contactKey;
    // As builds before schema 7 wrote it.
    if (!isTold) delete session.contactKey;
    await ask("SET", row, Buffer.concat([stored.subarray(0, 8), encodeSession(session)]), "PX", 100_000);
    await ask("SET", idempotencyRow(contactKey), decodeSessionToken(token)!, "PX", 100_000);
    t.match(await json(mirror, "session", "show", token, ...on), { idempotency_keys: 1 });
    t.match(await json(mirror, "session", "delete", token, ...on), { erased: { idempotency: 1 } });
    t.same(await traces(token), []);
  }
});

interface Checked {
  readonly ok: boolean;
  readonly rows: Record<string, number>;
  readonly faults: readonly { readonly table: string; readonly key: string; readonly fault: string }[];
}

t.test("every row is read, and what is wrong with one is said", async (t) => {
  const token = await ingest(node, keys.site_key, 3);
  await ask("SET", "vd{config}lease:agents", "a node", "PX", 60_000);
  const good = JSON.parse((await command(["check", ...on, "--json", "--data-dir", mirror])).stdout) as Checked;
  t.same(good.faults, []);
  const sessions = (await json<{ sessions: number }>(mirror, "stats", ...on)).sessions;
  t.equal(good.rows["sessions"], sessions);
  t.ok(good.rows["index"]! > 0 && good.rows["traffic"]! > 0 && good.rows["accounts"] === 1);
  const key = sessionKey(projectId, decodeSessionToken(token)!);
  const shard = shardOfSession(key);
  const tag = indexRow(shard, projectId).slice(0, -3);
  const record = Buffer.concat([Buffer.from(`${tag}s`), key]);
  const whole = (await client.execute(["GET", record], keySlot(record), { deadlineMs: 5000 })) as Buffer;
  const otherType = "has another type, or a row that belongs to it has";
  let free = 0;
  while ((await ask("EXISTS", indexRow(free, projectId))) === 1) free++;
  const revision = String(await ask("HGET", "vd{config}head", "revision"));
  const broken: (readonly [RegExp, readonly (string | Buffer | number)[], readonly (string | Buffer | number)[]])[] = [
    [
      /^sessions .*: record can't be decoded$/,
      ["SET", record, "x", "PX", 900_000],
      ["SET", record, whole, "PX", 900_000],
    ],
    [
      new RegExp(`^sessions .*: ${otherType}$`),
      ["ZRANGESTORE", record, indexRow(shard, projectId), 0, -1],
      ["SET", record, whole, "PX", 900_000],
    ],
    [/^sessions .*: never expires$/, ["SET", record, whole], ["PEXPIRE", record, 900_000]],
    [
      /^sessions .*: is not in the index of its project$/,
      ["ZREM", indexRow(shard, projectId), key.subarray(tokenAt)],
      ["ZADD", indexRow(shard, projectId), 0, key.subarray(tokenAt)],
    ],
    [/^repeats .*: has no session$/, ["SET", gone("r", 1), "12345678", "PX", 900_000], ["DEL", gone("r", 1)]],
    [
      /^idempotency .*: has another length$/,
      ["SET", `${tag}ixxxxxxxxxxx`, "x", "PX", 900_000],
      ["DEL", `${tag}ixxxxxxxxxxx`],
    ],
    [/^index .*: names projects 99, which is missing$/, ["ZADD", `${tag}x:99`, 0, "x"], ["DEL", `${tag}x:99`]],
    [/^index .*: is no token$/, ["ZADD", `${tag}x:${projectId}`, 0, "x"], ["ZREM", `${tag}x:${projectId}`, "x"]],
    [
      /^usage .*: is not a count$/,
      ["SET", usageRow(1, 0, "2026-01"), "x", "PX", 900_000],
      ["DEL", usageRow(1, 0, "2026-01")],
    ],
    [
      /^traffic .*: names projects 99, which is missing$/,
      ["HSET", trafficRow(99, 0, 5), "events", 1],
      ["DEL", trafficRow(99, 0, 5)],
    ],
    [
      new RegExp(`^idempotency .*${"y".repeat(11)}: ${otherType}$`),
      ["RPUSH", `${tag}i${"y".repeat(11)}`, "x"],
      ["DEL", `${tag}i${"y".repeat(11)}`],
    ],
    [
      new RegExp(`^index .*:${projectId}: ${otherType}$`),
      ["SET", indexRow(free, projectId), "x"],
      ["DEL", indexRow(free, projectId)],
    ],
    [/^unknown vd\{1\}what: is of no kind that verdictd has$/, ["SET", "vd{1}what", "x"], ["DEL", "vd{1}what"]],
    [
      /^configuration accounts:99: is in the cluster, not in the mirror$/,
      ["HSET", "vd{config}rows", "accounts:99", "x"],
      ["HDEL", "vd{config}rows", "accounts:99"],
    ],
    [
      /^configuration bytes: are \d+, not \d+$/,
      ["HINCRBY", "vd{config}head", "bytes", 5],
      ["HINCRBY", "vd{config}head", "bytes", -5],
    ],
    [
      /^configuration log: does not end with the latest change$/,
      ["XADD", "vd{config}log", `${revision}-1`, "change", "x"],
      ["XDEL", "vd{config}log", `${revision}-1`],
    ],
  ];
  function gone(letter: string, generation: number): Buffer {
    return Buffer.concat([Buffer.from(tag + letter), key.subarray(0, -1), Buffer.from("z"), Buffer.of(generation)]);
  }
  for (const [, breaking] of broken.slice(4)) await run(breaking);
  const all = await checked();
  for (const [says] of broken.slice(4))
    t.ok(
      all.some((fault) => says.test(fault)),
      `${says} of ${all}`,
    );
  for (const [, , mending] of broken.slice(4)) await run(mending);
  for (const [says, breaking, mending] of broken.slice(0, 4)) {
    await run(breaking);
    const found = await checked();
    t.ok(found.length === 1 && says.test(found[0]!), `${says}: ${found}`);
    await run(mending);
  }
  t.same(await checked(), []);

  async function run(words: readonly (string | Buffer | number)[]): Promise<void> {
    // Not as the store's user, who may not do all of it.
    const master = await cluster.masterOf(keySlot(words[1] as string));
    await master.ask(...words.map((word) => (typeof word === "number" ? String(word) : word)));
  }
  async function checked(): Promise<string[]> {
    const { stdout } = await command(["check", ...on, "--json", "--data-dir", mirror]);
    return (JSON.parse(stdout) as Checked).faults.map(({ table, key, fault }) => `${table} ${key}: ${fault}`);
  }
});

t.test("a configuration that is changed while it is compared is compared again, three times at most", async (t) => {
  const opened = await openMirror({ store: url, dataDir: mirror, storeAcks: 1 });
  t.teardown(opened.close);
  const accounts = new Accounts(opened.store, Date.now);
  const read = opened.truth.read.bind(opened.truth);
  const faultsAfter = async (changes: number) => {
    let reads = 0;
    opened.truth.read = async (...given) => {
      const found = await read(...given);
      if (reads++ < changes) await accounts.createUser("Ann", `${changes}.${reads}@example.com`);
      return found;
    };
    const configuration = () => ({ rows: {}, faultCount: 0, faults: [] });
    const { faults } = await checkRows({ cluster: opened, features: () => null, configuration, onProgress: () => {} });
    return faults.filter(({ table }) => table === "configuration").map(({ fault }) => fault);
  };
  await ask("HINCRBY", "vd{config}head", "bytes", 5);
  const compared = await faultsAfter(2);
  await ask("HINCRBY", "vd{config}head", "bytes", -5);
  t.match(compared, [/^are \d+, not \d+$/]);
  t.same(await faultsAfter(3), ["was changed each of the 3 times that it was compared: run this again"]);
});

t.test("what has outlived its time goes, of too many sessions the oldest", async (t) => {
  const sessions = new ClusterSessions(client, 1, 5000);
  const dayMs = 86_400_000;
  const nowMs = Date.now();
  const own = 77;
  const put = async (firstSeenMs: number, number: number, lastSeenMs: number, isExpired = false): Promise<string> => {
    const token = storedToken(firstSeenMs, number);
    const key = sessionKey(own, decodeSessionToken(token)!);
    const state = { ...newScoredState(firstSeenMs), lastSeenMs };
    const record = encodeSession({ state, seenIds: Buffer.alloc(0), features: Buffer.alloc(0) });
    const index = indexRow(shardOfSession(key), own);
    const row = Buffer.concat([Buffer.from(`${index.slice(0, -4)}s`), key]);
    await ask("ZADD", index, 0, key.subarray(tokenAt));
    if (!isExpired)
      await client.execute(["SET", row, Buffer.concat([Buffer.alloc(8, 1), record])], keySlot(row), {
        deadlineMs: 5000,
      });
    return token;
  };
  const old = await put(nowMs - 9 * dayMs, 1, nowMs - 8 * dayMs);
  const expired = await put(nowMs - 9 * dayMs, 2, nowMs - 9 * dayMs, true);
  const faithful = await put(nowMs - 9 * dayMs, 3, nowMs - dayMs);
  const fresh = [await put(nowMs - dayMs, 4, nowMs - dayMs), await put(nowMs - dayMs + 5000, 5, nowMs)];
  const retention = { sessionMs: 7 * dayMs, sessionsMax: 1000 };
  t.equal(await sessions.sweep([own], retention, nowMs, () => false), 2);
  for (const token of [old, expired]) t.same(await traces(token), []);
  for (const token of [faithful, ...fresh]) t.equal((await traces(token)).length, 2);
  t.equal(await sessions.sweep([own], retention, nowMs, () => false), null, "another node has just done so");
  await ask("DEL", "vd{config}sweeper");
  t.equal(await sessions.count([own]), 3);
  t.equal(
    await sessions.sweep([own], { ...retention, sessionsMax: 2 }, nowMs, () => false),
    2,
    "a twentieth is left free",
  );
  t.same(await traces(faithful), []);
  t.equal((await traces(fresh[1]!)).length, 2);
  await ask("DEL", "vd{config}sweeper");
  await sessions.sweep([own], { ...retention, sessionMs: -dayMs }, nowMs, () => false);
});

t.test(
  "another node: its metrics have the sessions of the cluster, its counts live as long as statistics are kept",
  async (t) => {
    const { sessions } = await json<{ sessions: number }>(mirror, "stats", ...on);
    const short = await serve(t, ownFolder(t), { flags: [...on, "--stats-days", "2", ...threads] });
    const metrics = await short.metricsOnce((seen) => seen.sum("verdictd_sessions_stored") === sessions);
    t.equal(metrics.sum("verdictd_sessions_stored"), sessions);
    await ingest(short, keys.site_key, 1);
    const isShort = async (): Promise<boolean> => {
      const parts = Array.from({ length: 16 }, (_, part) => trafficRow(projectId, part, hourOf(Date.now())));
      const left = await Promise.all(parts.map(async (row) => Number(await ask("PTTL", row))));
      return left.some((ms) => ms > 0 && ms <= 2 * 86_400_000);
    };
    t.ok(await waitUntil(isShort, (isIt) => isIt));
    const masters = await cluster.masters();
    const replicas = cluster.nodes.filter((each) => !masters.includes(each));
    for (const each of replicas) each.freeze();
    await t.rejects(ingest(short, keys.site_key, 1), /503/);
    for (const each of replicas) each.thaw();
    t.match(await short.logged("batches are refused with 503: the cluster fails"), {
      reason: /replicas .*acknowledge what is written/,
    });
    await short.end("SIGTERM");
  },
);

t.test("a backup is the configuration, and is restored into an empty cluster", async (t) => {
  const copy = join(ownFolder(t), "copy");
  const { directory } = await json<{ directory: string }>(mirror, "backup", copy, ...on);
  t.equal(directory, copy);
  t.match(await json(copy, "check"), { ok: true, rows: { accounts: 1, sessions: 0 } });
  t.match(await command(["backup", copy, ...on, "--data-dir", mirror]), { code: 1, stderr: /is not empty$/m });
  const target = ["--to", other.url, "--store-acks", "0", "--final", "--data-dir", copy];
  t.match(await command(["store", "migrate", ...target]), {
    code: 0,
    stdout: /Every row was compared and is the same/,
  });
  const restored = await serve(t, ownFolder(t), { flags: ["--store", other.url, "--store-acks", "0", ...threads] });
  const account = await askUntil(
    () => restored.ask("GET", "/v1/account", { token: first.account_token }),
    ({ status }) => status !== 503,
  );
  t.equal(account.status, 200, "tokens stay valid");
  await ingest(restored, keys.site_key, 1);
  await restored.end("SIGTERM");
});

/** Row and key of a session. */
function rowOf(token: string): { readonly key: Buffer; readonly row: Buffer } {
  const key = sessionKey(projectId, decodeSessionToken(token)!);
  const index = indexRow(shardOfSession(key), projectId);
  return { key, row: Buffer.concat([Buffer.from(`${index.slice(0, index.indexOf("}") + 1)}s`), key]) };
}

t.test("sessions are scored again, and kept no longer than before", async (t) => {
  const token = await ingest(node, keys.site_key, 3);
  const { row } = rowOf(token);
  const slot = keySlot(row);
  const read = async () => (await client.execute(["GET", row], slot, { deadlineMs: 5000 })) as Buffer;
  const before = Buffer.from(await read());
  const session = decodeSession(Buffer.from(before.subarray(8)))!;
  const { score } = session.state;
  session.state.score = score + 7;
  const changed = Buffer.concat([before.subarray(0, 8), encodeSession(session)]);
  await client.execute(["SET", row, changed, "PX", 900_000], slot, { deadlineMs: 5000 });
  const { sessions } = await json<{ sessions: number }>(mirror, "stats", ...on);
  t.match(await json(mirror, "rescore", ...on), { sessions, changed: 1, left: 0 });
  t.equal(decodeSession(Buffer.from((await read()).subarray(8)))!.state.score, score);
  const leftMs = Number(await client.execute(["PTTL", row], slot, { deadlineMs: 5000 }));
  t.ok(leftMs > 0 && leftMs <= 900_000);
  t.match(await json(mirror, "rescore", ...on), { sessions, changed: 0 }, "once is enough");
});

t.test("a full memory: batches are refused, sessions can be read, judged and erased, keys revoked", async (t) => {
  const [shown, erased] = [await ingest(node, keys.site_key, 3), await ingest(node, keys.site_key, 3)];
  for (const each of cluster.nodes) await each.ask("CONFIG", "SET", "maxmemory", "1000000");
  const refused = /503: .*the memory of the cluster is full: send the batch again/;
  for (let batches = 0; batches < 4; batches++) await t.rejects(ingest(node, keys.site_key, 3), refused);
  const line = "batches are refused with 503: the cluster fails";
  t.match(await node.logged(line), { reason: /^the memory of 127\.0\.0\.1:\d+ is full: raise maxmemory, or/ });
  t.match(await json(mirror, "session", "show", shown, ...on), { event_count: 3 });
  const verdict = await node.ask("GET", `/v1/sessions/${shown}/verdict`, { token: keys.private_key });
  t.match(verdict, { status: 200, json: { verdict: /^(?!not_computed)/ } });
  // What remembers for a day that a session was erased is written all the same.
  t.match(await json(mirror, "session", "delete", shown, ...on), { erased: { sessions: 1 } });
  const path = `/v1/projects/${projectId}/sessions/${erased}`;
  const asked = await askUntil(
    () => node.ask("DELETE", path, { token: first.account_token }),
    ({ status }) => status !== 503,
  );
  t.equal(asked.status, 204);
  for (const token of [shown, erased]) t.same(await traces(token), []);
  const made = await node.ask("POST", "/v1/tokens", {
    token: first.account_token,
    body: { abilities: ["projects:read"] },
  });
  const { id, account_token } = made.json;
  t.equal((await node.ask("DELETE", `/v1/tokens/${id}`, { token: first.account_token })).status, 200);
  t.equal((await node.ask("GET", "/v1/projects", { token: account_token })).status, 401);
  for (const each of cluster.nodes) await each.ask("CONFIG", "SET", "maxmemory", "0");
  t.equal(node.log.filter(({ msg }) => msg === line).length, 1, "one line, in however many threads it failed");
});

/** A project none of whose own rows is on this master, and a session of it that is there, or is not. */
async function projectOff(master: string) {
  const isThere = (slot: number): boolean => client.shardOf(slot)!.master === master;
  const names = ["--account", String(first.account_id), "--name", "on other masters"];
  for (;;) {
    const { id } = await json<{ id: number }>(mirror, "project", "create", ...names, ...on);
    if ([marksRow(id), timelineIndexRow(id), blockRows(id).last].some((row) => isThere(keySlot(row)))) continue;
    const scoring = await node.ask("POST", `/v1/projects/${id}/scoring`, { token: first.account_token });
    const session = async (isOnMaster: boolean): Promise<string> => {
      for (;;) {
        const token = await ingest(node, scoring.json.site_key, 3);
        const shard = shardOfSession(sessionKey(id, decodeSessionToken(token)!));
        if (isThere(shardSlots[shard]!) === isOnMaster) return token;
      }
    };
    return { id, session };
  }
}

t.test("a shard that does not answer: nobody is told that its sessions are not there, others go on", async (t) => {
  const masterOf = (slot: number) => client.shardOf(slot)!.master;
  const masterOfSession = (token: string) =>
    masterOf(shardSlots[shardOfSession(sessionKey(projectId, decodeSessionToken(token)!))]!);
  const sessionElsewhere = async (...masters: string[]): Promise<string> => {
    for (;;) {
      const token = await ingest(node, keys.site_key, 3);
      if (!masters.includes(masterOfSession(token))) return token;
    }
  };
  const deletions = async (): Promise<number> => {
    const { json: log } = await node.ask("GET", "/v1/audit?kind=sessions&limit=100", { token: first.account_token });
    return log.data.length;
  };
  const lost = await sessionElsewhere(masterOf(configSlot));
  const kept = await sessionElsewhere(masterOfSession(lost));
  const whole = await projectOff(masterOfSession(lost));
  const [own2, lost2] = await Promise.all([whole.session(false), whole.session(true)]);
  const deletedBefore = await deletions();
  const own1 = { token: first.account_token };
  await node.ask("PUT", `/v1/projects/${projectId}/request-scoring`, { ...own1, body: { enabled: true } });
  const blocking = { name: "no programs", expression: "score < 20", action: "block", is_active: true };
  t.equal((await node.ask("POST", `/v1/projects/${projectId}/rules`, { ...own1, body: blocking })).status, 201);
  for (const each of cluster.nodes) await each.ask("CONFIG", "SET", "cluster-require-full-coverage", "no");
  const frozen = await cluster.masterOf(shardSlots[shardOfSession(sessionKey(projectId, decodeSessionToken(lost)!))]!);
  const away = [frozen, ...(await cluster.replicasOf(frozen))];
  for (const each of away) each.freeze();

  const token = first.account_token;
  const path = `/v1/projects/${projectId}/sessions/${lost}`;
  const refused = { status: 503, json: { message: "the cluster does not answer: ask again" } };
  const asked = await Promise.all([
    node.ask("POST", `/v1/sessions/${lost}/logged-in`, { token: keys.private_key }),
    node.ask("GET", path, { token }),
    node.ask("GET", `${path}/trail`, { token }),
    node.ask("PUT", `${path}/mark`, { token, body: { as: "person" } }),
    node.ask("DELETE", path, { token }),
    node.ask("DELETE", `/v1/projects/${whole.id}/sessions/${lost2}`, { token }),
    node.ask("GET", `/v1/projects/${projectId}/sessions`, { token }),
    node.ask("POST", "/v1/challenges", {
      headers: { "x-service-site-key": keys.site_key },
      body: { session_token: lost },
    }),
  ]);
  for (const answer of asked) t.match(answer, refused);
  const shown = await command(["session", "show", lost, ...on, "--data-dir", mirror]);
  t.match(shown, {
    code: 1,
    stderr: /^waiting for the cluster at redis:\/\/[\d.:,]+: 127\.0\.0\.1:\d+ (does|did) not answer/m,
  });
  t.notMatch(shown.stderr, /^waiting for the cluster at redis:\/\/[\d.:,]+$/m, "no line without the reason");
  const erasedOther = await node.ask("DELETE", `/v1/projects/${whole.id}/sessions/${own2}`, { token });
  t.equal(erasedOther.status, 204, "a session is erased while another's shard is away");
  t.equal(await deletions(), deletedBefore + 1, "and the log has that erasure, and none that failed");
  const verdict = await node.ask("GET", `/v1/sessions/${lost}/verdict`, { token: keys.private_key });
  t.match(verdict, {
    status: 200,
    json: { verdict: "not_computed", action: "allow", reason: /did not answer in time/ },
  });
  const failures = async () => (await node.metrics()).sum("verdictd_verdict_failures_total", { cause: "cluster" });
  const failedBefore = await failures();
  const judged = { session_token: lost, request: { path: "/", headers: [["User-Agent", "curl/8.5"]] } };
  t.match(
    (await node.ask("POST", "/v1/verdict", { token: keys.private_key, body: judged })).json,
    { verdict: "not_computed", action: "allow", reason: /did not answer in time/ },
    "nobody is refused by his request alone while his session can't be read",
  );
  const alone = { request: judged.request };
  t.match((await node.ask("POST", "/v1/verdict", { token: keys.private_key, body: alone })).json, { action: "block" });
  t.equal(await failures(), failedBefore + 1, "counted as what it is");
  const [own, other] = await Promise.allSettled([
    ingest(node, keys.site_key, 3, kept),
    ingest(node, keys.site_key, 3, lost),
  ]);
  t.match(own, { status: "fulfilled", value: kept }, "a batch is not refused for another's shard");
  t.match(other, { status: "rejected", reason: /503: .*send the batch again/ });
  const metrics = await node.metrics();
  t.ok(
    metrics.sum("verdictd_verdict_failures_total", { cause: "cluster" }) > 0,
    "an alert sees that a verdict failed open",
  );
  t.ok(metrics.sum("verdictd_ingest_failures_total", { cause: "cluster" }) > 0, "and that a batch was refused");
  t.ok(metrics.sum("verdictd_ingest_batches_total", { result: "failed" }) > 0);
  const login = await node.ask("POST", `/v1/sessions/${kept}/logged-in`, { token: keys.private_key });
  t.equal(login.status, 200);
  const ownFaults = node.log.filter(({ err }) => err !== undefined);
  t.same(ownFaults, [], "no fault of verdictd's own");

  for (const each of away) each.thaw();
  await cluster.waitOk();
  for (const each of cluster.nodes) await each.ask("CONFIG", "SET", "cluster-require-full-coverage", "yes");
  const erased = await askUntil(
    () => node.ask("DELETE", path, { token }),
    ({ status }) => status !== 503,
  );
  t.equal(erased.status, 204);
  t.equal(await deletions(), deletedBefore + 2);
});

t.test("the sizes of two clusters, named by one URL by mistake, are not shown", async (t) => {
  const [first] = cluster.nodes as [RedisNode];
  const [second] = other.nodes as [RedisNode];
  const mixed = ["--store", `${cluster.url},${second.address}`];
  for (const folder of [mirror, ownFolder(t)]) {
    const { code, stdout, stderr } = await command(["stats", ...mixed, "--data-dir", folder]);
    const line = `${first.address} and ${second.address} are nodes of two clusters: name the nodes of one`;
    t.same([code, stdout, stderr.split("\n").length], [1, "", 2]);
    t.match(stderr, line);
  }
});

t.test("bad days: one line each", async (t) => {
  const [replicaless] = other.nodes as [RedisNode];
  const commands = [
    ["check"],
    ["stats"],
    ["backup", join(ownFolder(t), "x")],
    ["session", "show", storedToken(0, 1)],
    ["session", "delete", storedToken(0, 1)],
  ];
  const lines: readonly (readonly [url: string, line: RegExp])[] = [
    ["redis://127.0.0.1:1", /^redis:.*connect ECONNREFUSED 127\.0\.0\.1:1\n$/],
    [single.url, /^redis:.*is a single server: start it with cluster-enabled yes, as a node of a cluster\n$/],
    [cluster.url.replace("redis://", "redis://store:wrong@"), /^redis:.*WRONGPASS .*\n$/],
  ];
  for (const words of commands) {
    for (const [store, line] of lines) {
      const outcome = await command([...words, "--store", store, "--data-dir", ownFolder(t)]);
      t.match(outcome, { code: 1, stderr: line }, words.join(" "));
    }
    const unnamed = await command([...words, "--data-dir", mirror]);
    t.match(
      unnamed,
      { code: 1, stderr: /mirrors the configuration of a cluster: name that with --store/ },
      words.join(" "),
    );
    const stranger = await command([...words, "--store", other.url, "--store-acks", "0", "--data-dir", mirror]);
    t.match(stranger, { code: 1, stderr: /mirrors cluster [-0-9a-f]+, but .* is cluster/ }, words.join(" "));
  }
  await replicaless.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  const folder = ownFolder(t);
  const found = await command(["check", "--store", other.url, "--store-acks", "0", "--json", "--data-dir", folder]);
  t.match(JSON.parse(found.stdout), {
    ok: false,
    faults: [{ table: "cluster", fault: /maxmemory-policy is allkeys-lru/ }],
  });
  await replicaless.ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
  await replicaless.ask("CONFIG", "SET", "maxmemory", "1000000");
  const full = await command([
    "session",
    "show",
    storedToken(0, 1),
    "--store",
    other.url,
    "--store-acks",
    "0",
    "--data-dir",
    folder,
  ]);
  t.match(full, { code: 1, stderr: "no project has a session with this token\n" }, "a full memory can be read");
  await replicaless.ask("CONFIG", "SET", "maxmemory", "0");
  await replicaless.ask("ACL", "SETUSER", "few", "on", ">secret", ...storeAclRules, "-scan");
  const few = ["--store", other.url.replace("redis://", "redis://few:secret@"), "--store-acks", "0"];
  const denied = await command(["check", ...few, "--data-dir", folder]);
  t.match(denied, {
    code: 1,
    stderr: /NOPERM .*scan.*: see the permissions of the store's user in the documentation\n$/,
  });
});
