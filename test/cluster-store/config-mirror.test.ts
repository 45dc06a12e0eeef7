/** The configuration in a real cluster, of several nodes: what one changes all have, whatever dies meanwhile. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import { TokenUses } from "../../src/auth/token-uses.js";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { ConfigFollower } from "../../src/cluster-store/config-follower.js";
import { ConfigState } from "../../src/cluster-store/config-state.js";
import { configKeys, configSlot } from "../../src/cluster-store/keys.js";
import { openMirror } from "../../src/cluster-store/open-cluster.js";
import { type OpenedConfig, openConfig } from "../../src/cluster-store/open-config.js";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { defaultPlans } from "../../src/contract/plans.js";
import { Accounts } from "../../src/control-plane/accounts.js";
import { createFirstAccount, type FirstAccount } from "../../src/control-plane/first-account.js";
import { IpLists } from "../../src/control-plane/ip-lists.js";
import { Projects } from "../../src/control-plane/projects.js";
import { Rules } from "../../src/control-plane/rules.js";
import { SignedAgentStore } from "../../src/control-plane/signed-agent-store.js";
import { Refusal, UnavailableError } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { tableNames } from "../../src/store/keys.js";
import { mirroredTableNames } from "../../src/store/mirrored-tables.js";
import { openStore, readRevision, type Store } from "../../src/store/store.js";
import { StoreError } from "../../src/store/store-error.js";
import { startService } from "../http-additive/service.js";
import { batch } from "../support/batches.js";
import { verdictd } from "../support/process.js";
import { startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

// No node takes another for dead because the machine is busy, until one is killed.
// As a user who may do no more than the store needs.
const user = ["user", "store", "on", ">secret", ...storeAclRules];
const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "60000"], user] });
const url = parseStoreUrl(cluster.url.replace("redis://", "redis://store:secret@")) as StoreUrl;

interface Node extends OpenedConfig {
  readonly client: ClusterClient;
  readonly state: ConfigState;
  readonly folder: string;
  readonly faults: unknown[];
  readonly accounts: Accounts;
  readonly projects: Projects;
  readonly rules: Rules;
  readonly credentials: Credentials;
  /** As `kill -9` of its process, as far as others can tell. */
  vanish(): void;
  stop(): Promise<void>;
}

const newFolder = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), "verdictd-mirror-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A node of its own folder that follows the configuration. */
async function startNode(t: Test, folder = newFolder(t), to = url): Promise<Node> {
  const client = new ClusterClient({ url: to });
  const opened = openStore(folder);
  const state = new ConfigState();
  let follower: ConfigFollower | undefined;
  const stop = async (): Promise<void> => {
    await follower?.stop();
    follower = undefined;
    client.close();
    await opened.close();
  };
  t.teardown(stop);
  const config = await openConfig(opened, { client, acks: 1, name: "the test's", fault: () => state.fault });
  const faults: unknown[] = [];
  follower = new ConfigFollower({ ...config, state, onFault: (error) => faults.push(error) });
  await follower.start();
  const { store } = config;
  return {
    ...config,
    client,
    state,
    folder,
    faults,
    accounts: new Accounts(store, Date.now),
    projects: new Projects(store, Date.now),
    rules: new Rules(store, Date.now),
    credentials: new Credentials(store),
    vanish: () => client.close(),
    stop,
  };
}

const done = <T>(result: T | Refusal): T => {
  if (result instanceof Refusal) throw new Error(result.message);
  return result;
};

/** Once the node may be asked again; a busy machine may let its lease run out. */
const current = (node: Node) =>
  waitUntil(
    async () => node.state.fault,
    (fault) => fault === null,
  );

/** Does it until it is possible: what was not changed may be asked again. */
async function eventually<T>(node: Node, change: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    await current(node);
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries === 20) throw error;
    }
  }
}

/** All that is mirrored, as bytes. */
function mirrored(store: Store): Map<string, string> {
  store.root.resetReadTxn();
  const rows = new Map<string, string>();
  for (const table of mirroredTableNames.split(" ")) {
    const raw = store.root.openDB<Buffer, Buffer>({ name: table, encoding: "binary", keyEncoding: "binary" });
    for (const { key, value } of raw.getRange({})) {
      const name = key.toString("latin1");
      if (table !== tableNames.meta || name.includes("next:")) rows.set(`${table} ${name}`, value.toString("hex"));
    }
  }
  return rows;
}

const rule = { name: "r", expressionSource: "score > 50", action: "block", isActive: true, sortOrder: 5 } as const;

const one = await startNode(t);
const two = await startNode(t);
let first: FirstAccount;

t.test("the first account is made once in a cluster, by whichever node", async (t) => {
  first = done(await createFirstAccount(one.accounts, one.projects));
  t.equal(two.credentials.tokenHolder(first.accountToken)?.account?.slug, "default", "the other has it already");
  const again = await createFirstAccount(two.accounts, two.projects);
  t.match(again, { error: "conflict" });
  t.same(mirrored(two.store), mirrored(one.store));
});

t.test("a key that is rotated and a token that is revoked are refused by both nodes at once", async (t) => {
  const { siteKey, privateKey } = done(await one.projects.enableScoring(first.projectId));
  for (const { credentials } of [one, two]) t.ok(credentials.authenticatedKey("private", privateKey!));
  const rotated = done(await two.projects.rotateKey(first.projectId, "private"));
  for (const { credentials } of [one, two]) {
    t.equal(credentials.authenticatedKey("private", privateKey!), null);
    t.ok(credentials.authenticatedKey("private", rotated.key));
    t.ok(credentials.authenticatedKey("site", siteKey));
  }
  const overlapping = done(await one.projects.rotateKey(first.projectId, "private", 1));
  for (const { credentials } of [one, two]) {
    for (const key of [rotated.key, overlapping.key])
      t.ok(credentials.authenticatedKey("private", key), "both for an hour");
  }
  t.equal(await two.projects.endOldKeys(first.projectId, "private"), 1);
  for (const { credentials } of [one, two]) t.equal(credentials.authenticatedKey("private", rotated.key), null);
  const { accountId, userId } = first;
  const { token, secret } = done(await one.accounts.createToken({ accountId, userId, abilities: ["*"] }));
  t.ok(two.credentials.tokenHolder(secret));
  const uses = new TokenUses(one.store, Date.now, (error) => t.error(error));
  uses.note(token.id);
  await uses.flush();
  t.ok(two.accounts.lastUseOf(token.id), "a token's use is seen by the other node");
  done(await two.accounts.revokeToken(token.id));
  t.equal(one.credentials.tokenHolder(secret), null);
  t.equal(two.credentials.tokenHolder(secret), null);
});

t.test("changes that both make at once are all made, each once", async (t) => {
  const before = one.projects.ofAccount(first.accountId).length;
  const names = Array.from({ length: 40 }, (_, index) => `project ${index}`);
  await Promise.all(
    names.map((name, index) => {
      const node = index % 2 === 0 ? one : two;
      return eventually(node, () => node.projects.create(first.accountId, name));
    }),
  );
  const found = one.projects.ofAccount(first.accountId).slice(before);
  t.same(found.map(({ name }) => name).sort(), [...names].sort());
  t.equal(new Set(found.map(({ id }) => id)).size, names.length, "no id twice");
  t.same(mirrored(two.store), mirrored(one.store));
  t.equal(readRevision(one.store), one.mirror.position().revision, "memos hang on the cluster's revision");
});

t.test("all that is configured goes the same way", async (t) => {
  const { id } = done(await two.rules.create(first.projectId, rule));
  t.equal(one.rules.find(first.projectId, id)?.name, "r");
  done(await one.rules.remove(first.projectId, id));
  t.equal(two.rules.find(first.projectId, id), null);
  const lists = [one, two].map(({ store }) => new IpLists(store));
  const ranges = { count: 0, asns: [], v4: Buffer.alloc(0), v6: Buffer.alloc(0) } as never;
  done(await lists[0]!.put("office", ranges, Date.now()));
  t.same(
    lists[1]!.list().map(({ name }) => name),
    ["office"],
  );
  const agents = [one, two].map(({ store }) => new SignedAgentStore(store));
  const { url: agent } = agents[0]!.list().agents[0]!;
  await agents[0]!.setFetch(agent, { at: "2026-01-01T00:00:00.000Z", failure: "down" });
  t.match(agents[1]!.listed()[0], { fetch: { failure: "down" } });
  t.same(mirrored(two.store), mirrored(one.store));
});

t.test("what refuses or throws changes nothing, and a write beside a change is a mistake", async (t) => {
  const before = one.mirror.position();
  t.match(await one.accounts.createUser("Again", "owner@localhost"), { error: "conflict" });
  const thrown = one.store.changes!.run(() => {
    one.store.slugs.putSync("half", 1);
    throw new Error("in the middle");
  });
  await t.rejects(thrown, { message: "in the middle" });
  t.equal(one.store.slugs.get("half"), undefined);
  t.throws(() => one.store.slugs.putSync("beside", 1), { message: /outside of a change/ });
  t.same(one.mirror.position(), before);
  t.same(two.mirror.position(), before);
});

t.test("a command changes what nodes have, in a folder of its own or beside a node in its folder", async (t) => {
  for (const dataDir of [newFolder(t), one.folder]) {
    const { store, close } = await openMirror({ store: cluster.url, dataDir, engineAcks: 1 });
    t.teardown(close);
    t.same(mirrored(store), mirrored(one.store), "it has all that nodes have");
    const made = done(await new Projects(store, Date.now).create(first.accountId, "by a command"));
    t.equal(one.projects.find(made.id)?.name, "by a command");
    t.equal(two.projects.find(made.id)?.name, "by a command");
    const other = done(await two.projects.create(first.accountId, "beside a command"));
    await eventually(one, () => one.projects.changeSettings(other.id, { likelyBotThreshold: 40 }));
    t.equal(two.projects.find(other.id)?.likelyBotThreshold, 40);
  }
});

t.test("the command line goes the same way", async (t) => {
  const words = ["project", "create", "--account", String(first.accountId), "--name", "typed", "--json"];
  const own = await verdictd([...words, "--store", cluster.url, "--data-dir", join(newFolder(t), "mirror")]);
  t.equal(own.code, 0, own.stderr);
  const beside = await verdictd([...words, "--data-dir", one.folder], { VERDICTD_STORE: cluster.url });
  t.equal(beside.code, 0, beside.stderr);
  for (const { stdout } of [own, beside]) {
    const id = JSON.parse(stdout).id;
    for (const { projects } of [one, two]) t.equal(projects.find(id)?.name, "typed");
  }
  const before = one.mirror.position();
  const unnamed = await verdictd([...words, "--data-dir", one.folder]);
  t.match([unnamed.code, unnamed.stderr], [1, /mirrors the configuration of a cluster: name that with --store/]);
  const again = await verdictd(["init", "--store", cluster.url, "--data-dir", newFolder(t), "--engine-acks", "0"]);
  t.match([again.code, again.stderr], [1, /the store has accounts already/]);
  const wrong = await verdictd([...words, "--store", "redis:/secret", "--data-dir", one.folder]);
  t.match([wrong.code, wrong.stderr], [2, /--store: expected the URL of a cluster/]);
  t.notMatch(wrong.stderr, /secret/);
  t.same(one.mirror.position(), before);
});

t.test("a change of many rows is one change", async (t) => {
  const rules = Array.from({ length: limits.rulesPerProjectMax }, (_, index) => ({
    ...rule,
    name: `${index}`,
    sortOrder: index,
  }));
  const { id } = done(await one.projects.create(first.accountId, "many"));
  t.notOk((await one.rules.applyAll(id, rules.slice(0, 400))) instanceof Refusal);
  t.equal(two.rules.list(id).length, 400);
  t.notOk((await two.rules.applyAll(id, rules)) instanceof Refusal);
  t.equal(one.rules.list(id).length, rules.length);
  t.notOk((await one.rules.applyAll(id, [])) instanceof Refusal);
  t.equal(two.rules.list(id).length, 0);
  t.same(mirrored(two.store), mirrored(one.store));
});

t.test("a change that the log has no room for is read from the rows", async (t) => {
  const wide = { version: "wide", text: "x".repeat(2 * limits.configLogBytesMax) };
  await one.store.changes!.run(() => one.store.verifiedBots.putSync("catalogue", wide));
  two.store.root.resetReadTxn();
  t.same(two.store.verifiedBots.get("catalogue"), wide);
  const [last] = (await (
    await cluster.masterOf(configSlot)
  ).ask("XREVRANGE", configKeys.log, "+", "-", "COUNT", "1")) as [[Buffer, Buffer[]]];
  t.ok(Buffer.concat(last[1]).length < 200, "the log says no more than that there was one");
  await one.store.changes!.run(() => one.store.verifiedBots.removeSync("catalogue"));
  two.store.root.resetReadTxn();
  t.equal(two.store.verifiedBots.get("catalogue"), undefined);
});

t.test("a node whose changes are not in the log any more reads all rows", async (t) => {
  const late = await startNode(t);
  await late.stop();
  for (let index = 0; index < 3; index++) done(await one.projects.create(first.accountId, `late ${index}`));
  const removed = done(await one.accounts.createUser("Gone", "gone@localhost"));
  await one.store.changes!.run(() => {
    one.store.users.removeSync(removed.id);
    one.store.emails.removeSync("gone@localhost");
  });
  await (await cluster.masterOf(configSlot)).ask("XTRIM", configKeys.log, "MAXLEN", "1");
  const again = await startNode(t, late.folder);
  t.same(mirrored(again.store), mirrored(one.store));
  t.same(again.mirror.position(), one.mirror.position());
  await again.stop();
});

t.test("a history that a failover has undone is dropped", async (t) => {
  const lost = await startNode(t);
  await lost.stop();
  const store = openStore(lost.folder);
  t.teardown(() => store.close());
  const position = store.mirror.get("position") as { revision: number };
  const project = store.projects.get(first.projectId)!;
  await store.root.childTransaction(() => {
    store.projects.putSync(first.projectId, { ...project, name: "never made" });
    store.mirror.putSync("position", { ...position, change: "undone", revision: position.revision + 1 });
  });
  const revision = readRevision(store);
  await store.close();
  const again = await startNode(t, lost.folder);
  t.same(mirrored(again.store), mirrored(one.store));
  t.ok(readRevision(again.store) > revision, "memos of what was undone are not used");
  await again.stop();

  const older = openStore(lost.folder);
  t.teardown(() => older.close());
  const known = older.mirror.get("position") as object;
  await older.root.childTransaction(() => {
    older.tokens.clearSync();
    older.mirror.putSync("position", { ...known, tables: "accounts" });
  });
  await older.close();
  const newer = await startNode(t, lost.folder);
  t.same(mirrored(newer.store), mirrored(one.store), "a mirror of a build with fewer tables is read anew");
  await newer.stop();
});

t.test("a configuration that is full takes no more, and lets go", async (t) => {
  const master = await cluster.masterOf(configSlot);
  const bytes = String(await master.ask("HGET", configKeys.head, "bytes"));
  const flat = ((await master.ask("HGETALL", configKeys.rows)) as Buffer[]).reduce((sum, each) => sum + each.length, 0);
  t.equal(bytes, String(flat), "its bytes are counted");
  const { id } = done(await one.rules.create(first.projectId, { ...rule, name: "before" }));
  await master.ask("HSET", configKeys.head, "bytes", String(limits.configBytesMax));
  await t.rejects(one.rules.create(first.projectId, { ...rule, name: "one too many" }), /has no room for this change/);
  done(await one.rules.remove(first.projectId, id));
  await master.ask("HINCRBY", configKeys.head, "bytes", String(flat - limits.configBytesMax));
  t.same(mirrored(two.store), mirrored(one.store));
});

t.test("a node that is cut off is waited for as long as its lease, and refuses until it has caught up", async (t) => {
  const cut = await startNode(t);
  cut.vanish();
  const startedMs = performance.now();
  const project = done(await eventually(one, () => one.projects.create(first.accountId, "without the third")));
  t.ok(performance.now() - startedMs > limits.configBeatMs, "it was waited for");
  t.not(cut.state.fault, null, "by then it does not answer from its configuration");
  t.equal(cut.projects.find(project.id), null, "which is the old one");
  await t.rejects(cut.projects.create(first.accountId, "no"), UnavailableError);
  t.ok(cut.faults.length > 0, "it was said");
  const quick = performance.now();
  done(await eventually(one, () => one.projects.create(first.accountId, "nobody is waited for any more")));
  t.comment(`${Math.round(performance.now() - quick)} ms`);
  await cut.stop();
  const back = await startNode(t, cut.folder);
  t.equal(back.state.fault, null);
  t.equal(back.projects.find(project.id)?.name, "without the third");
  await back.stop();
});

t.test("over HTTP: revoked at one node, refused by the other; cut off, the control plane alone says 503", async (t) => {
  // The second as a user of its own, from whom the configuration can be taken away.
  const everywhere = (...command: string[]) => Promise.all(cluster.nodes.map((node) => node.ask(...command)));
  await everywhere("ACL", "SETUSER", "far", "on", ">secret", "~*", "&*", "+@all");
  const serveNode = (store: string) =>
    startService(t, { "data-dir": newFolder(t), store, "engine-deadline-ms": "5000" });
  const near = await serveNode(cluster.url);
  const far = await serveNode(cluster.url.replace("://", "://far:secret@"));
  const tenant = await near.tenant("served");
  const rules = `/v1/projects/${tenant.project.id}/rules`;
  const body = { name: "over http", expression: "score > 90", action: "block" };
  t.equal((await near.ask("POST", rules, { as: tenant.token, body })).status, 201);
  const listed = (await far.ask("GET", rules, { as: tenant.token })).json as { name: string }[];
  t.ok(listed.some(({ name }) => name === "over http"));

  const session = await far.ingest(tenant, batch("http"));
  const verdict = (key: string) => far.ask("GET", `/v1/sessions/${session}/verdict`, { as: key });
  t.equal((await verdict(tenant.privateKey)).status, 200);
  const rotating = { as: tenant.token, body: { type: "private" } };
  const rotated = await near.ask("POST", `/v1/projects/${tenant.project.id}/scoring/rotate`, rotating);
  t.equal(rotated.status, 200);
  t.equal((await verdict(tenant.privateKey)).status, 401, "from the next request on");
  const key = rotated.json.key;
  t.equal((await verdict(key)).status, 200);

  const shards = ["~vd{[0-9]*", "~vd{[bckptu][0-9]*"];
  await everywhere("ACL", "SETUSER", "far", "resetkeys", ...shards);
  await waitUntil(
    async () => (await far.ask("GET", rules, { as: tenant.token })).status,
    (status) => status === 503,
  );
  const refused = await far.ask("GET", rules, { as: tenant.token });
  t.match([refused.status, refused.json.error], [503, "Service unavailable"]);
  t.equal((await far.ask("POST", rules, { as: tenant.token, body })).status, 503);
  t.equal((await verdict(key)).status, 200, "verdicts are answered");
  t.ok(await far.ingest(tenant, batch("later")), "and batches taken");
});

t.test("a frozen cluster: the lease runs out, changes are refused, and all goes on afterwards", async (t) => {
  const master = await cluster.masterOf(configSlot);
  const before = one.mirror.position();
  master.freeze();
  const fault = await waitUntil(
    async () => one.state.fault,
    (seen) => seen !== null,
  );
  t.match(fault, /cut off/);
  await t.rejects(one.projects.create(first.accountId, "frozen"), UnavailableError);
  t.ok(one.credentials.tokenHolder(first.accountToken), "what is known can be read");
  master.thaw();
  t.equal(await current(one), null);
  t.same(one.mirror.position(), before);
  const thawed = done(await eventually(one, () => one.projects.create(first.accountId, "thawed")));
  await current(two);
  t.equal(two.projects.find(thawed.id)?.name, "thawed");
});

t.test("two clusters by mistake, or a store of one host: refused in a line, and nothing is changed", async (t) => {
  const own = newFolder(t);
  const single = openStore(own);
  await new Accounts(single, Date.now).createAccount({
    name: "Own",
    slug: "own",
    plan: Object.keys(defaultPlans)[0]!,
    isPersonal: false,
    subscription: "active",
  });
  const client = new ClusterClient({ url });
  t.teardown(async () => {
    client.close();
    await single.close();
  });
  const options = { client, acks: 1, name: "the test's" };
  await t.rejects(
    openConfig(single, options),
    new StoreError(
      `${single.root.path} is the store of a single host: name another folder for the mirror of the test's`,
    ),
  );
  t.equal(single.slugs.get("own"), 1);

  const strayed = await startNode(t);
  await strayed.stop();
  const store = openStore(strayed.folder);
  t.teardown(() => store.close());
  const position = store.mirror.get("position") as object;
  await store.mirror.put("position", { ...position, cluster: "another" });
  await t.rejects(openConfig(store, options), {
    name: "Error",
    message: /mirrors cluster another, but the test's is cluster /,
  });
  t.ok(store.projects.get(first.projectId), "its rows stay");

  const head = await cluster.masterOf(configSlot);
  const id = String(await head.ask("HGET", configKeys.head, "cluster"));
  await head.ask("HSET", configKeys.head, "cluster", "changed under way");
  const fault = await waitUntil(
    async () => one.state.fault,
    (seen) => seen !== null,
  );
  t.match(fault, /cut off/, "a running node follows no other cluster");
  t.match(one.faults.at(-1), { name: "OtherClusterError", message: /cluster changed under way/ });
  t.ok(one.projects.find(first.projectId), "and keeps what it has");
  await head.ask("HSET", configKeys.head, "cluster", id);
  t.equal(await current(one), null);
  t.equal(await current(two), null);
});

t.test("the master of the configuration is killed under changes: none is lost, none is made twice", async (t) => {
  for (const node of cluster.nodes) await node.ask("CONFIG", "SET", "cluster-node-timeout", "2000");
  const master = await cluster.masterOf(configSlot);
  const before = one.projects.ofAccount(first.accountId).length;
  const answered: string[] = [];
  const unknown: string[] = [];
  let isOver = false;
  const changing = [one, two].map(async (node, index) => {
    for (let count = 0; !isOver; count++) {
      const name = `killed ${index}.${count}`;
      await current(node);
      try {
        done(await node.projects.create(first.accountId, name));
        answered.push(name);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        unknown.push(name);
      }
    }
  });
  const reached = (count: number) =>
    waitUntil(
      async () => answered.length,
      (seen) => seen >= count,
    );
  await reached(10);
  await master.kill();
  const killedAt = answered.length;
  await waitUntil(
    async () => (await cluster.masterOf(configSlot)).address,
    (address) => address !== master.address,
  );
  await master.restart();
  await reached(killedAt + 10);
  isOver = true;
  await Promise.all(changing);
  t.equal(await current(one), null);
  t.equal(await current(two), null);
  const names = one.projects
    .ofAccount(first.accountId)
    .slice(before)
    .map(({ name }) => name);
  t.equal(new Set(names).size, names.length, "none twice");
  t.same(
    answered.filter((name) => !names.includes(name)),
    [],
    "each that was answered is there",
  );
  t.same(
    names.filter((name) => !answered.includes(name) && !unknown.includes(name)),
    [],
  );
  t.same(mirrored(two.store), mirrored(one.store));
  t.ok(answered.length >= killedAt + 10, "changes go on");
  t.comment(`${answered.length} answered, ${unknown.length} not`);
});
