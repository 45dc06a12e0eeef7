/** The configuration in a real cluster, of several nodes: what one changes all have. */

import { join } from "node:path";
import t, { type Test } from "tap";
import { TokenUses } from "../../../src/auth/token-uses.js";
import { configKeys, configSlot } from "../../../src/cluster-store/keys.js";
import { openMirror } from "../../../src/cluster-store/open-cluster.js";
import { createFirstAccount, type FirstAccount } from "../../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../../src/control-plane/accounts/projects.js";
import { AgentMarkCatalogues } from "../../../src/control-plane/lists/agent-mark-catalogue.js";
import { IpLists } from "../../../src/control-plane/lists/ip-lists.js";
import { SignedAgentStore } from "../../../src/control-plane/lists/signed-agent-store.js";
import { Refusal } from "../../../src/errors.js";
import { limits } from "../../../src/limits.js";
import { openStore } from "../../../src/store/open-store.js";
import { readRevision } from "../../../src/store/store.js";
import { ownFolder } from "../../support/own-folder.js";
import { command } from "../../support/process.js";
import { waitUntil } from "../../support/wait-until.js";
import { done, eventually, mirrored, startConfigCluster, startNodeOn } from "./config-nodes.js";

const { cluster, url } = await startConfigCluster(t);
const startNode = (t: Test, folder?: string) => startNodeOn(url, t, folder);
const [one, two] = await Promise.all([startNode(t), startNode(t)]);

const rule = { name: "r", expressionSource: "score > 50", action: "block", isActive: true, sortOrder: 5 } as const;

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
  uses.record(token.id);
  await uses.flush();
  t.ok(two.accounts.lastUseOf(token.id), "a token's use is seen by the other node");
  done(await two.accounts.revokeToken(token.id));
  t.equal(one.credentials.tokenHolder(secret), null);
  t.equal(two.credentials.tokenHolder(secret), null);
});

t.test("changes that both make at once are all made, each once", async (t) => {
  const before = [...one.projects.ofAccount(first.accountId)].length;
  const names = Array.from({ length: 40 }, (_, index) => `project ${index}`);
  await Promise.all(
    names.map((name, index) => {
      const node = index % 2 === 0 ? one : two;
      return eventually(node, () => node.projects.create(first.accountId, name));
    }),
  );
  const found = [...one.projects.ofAccount(first.accountId)].slice(before);
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
  await agents[0]!.setFetched([{ url: agent, at: "2026-01-01T00:00:00.000Z", keys: null, failure: "down" }]);
  t.match(agents[1]!.listed()[0], { fetch: { failure: "down" } });
  t.same(mirrored(two.store), mirrored(one.store));
});

t.test("a list of marks, what it retires and the way back reach both nodes", async (t) => {
  const [marks, others] = [new AgentMarkCatalogues(one.store), new AgentMarkCatalogues(two.store)];
  const { entries } = marks.read();
  const [first] = entries;
  await marks.take({ version: "1", entries: [first!] }, { isMerged: false, isForgetting: false });
  t.same(others.read(), { version: "1", entries: [first] });
  t.equal(others.retired().length, entries.length - 1);
  await others.restore(false);
  t.notOk(marks.isImported);
  t.same([marks.read().entries, marks.retired()], [entries, []]);
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
  for (const dataDir of [ownFolder(t), one.folder]) {
    const { store, close } = await openMirror({ store: cluster.url, dataDir, storeAcks: 1 });
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
  const own = await command([...words, "--store", cluster.url, "--data-dir", join(ownFolder(t), "mirror")]);
  t.equal(own.code, 0, own.stderr);
  const beside = await command([...words, "--data-dir", one.folder], { VERDICTD_STORE: cluster.url });
  t.equal(beside.code, 0, beside.stderr);
  for (const { stdout } of [own, beside]) {
    const id = JSON.parse(stdout).id;
    for (const { projects } of [one, two]) t.equal(projects.find(id)?.name, "typed");
  }
  const before = one.mirror.position();
  const unnamed = await command([...words, "--data-dir", one.folder]);
  t.match([unnamed.code, unnamed.stderr], [1, /mirrors the configuration of a cluster: name that with --store/]);
  const again = await command(["init", "--store", cluster.url, "--data-dir", ownFolder(t), "--store-acks", "0"]);
  t.match([again.code, again.stderr], [1, /the store has accounts already/]);
  const wrong = await command([...words, "--store", "redis:/secret", "--data-dir", one.folder]);
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
    for (const id of older.tokens.getKeys({})) older.tokens.removeSync(id);
    older.mirror.putSync("position", { ...known, tables: "accounts" });
  });
  await older.close();
  const newer = await startNode(t, lost.folder);
  t.same(mirrored(newer.store), mirrored(one.store), "a mirror of a build with fewer tables is read anew");
  await newer.stop();

  const wider = openStore(lost.folder);
  t.teardown(() => wider.close());
  const { tables, ...latest } = wider.mirror.get("position") as { tables: string };
  await wider.root.childTransaction(() => {
    wider.projects.putSync(first.projectId, { ...project, name: "as the mirror has it" });
    wider.mirror.putSync("position", { ...latest, tables: `${tables} further` });
  });
  await wider.close();
  const narrower = await startNode(t, lost.folder);
  t.equal(
    narrower.projects.find(first.projectId)?.name,
    "as the mirror has it",
    "one with more tables is used as it is",
  );
  await narrower.stop();
});

t.test("a follower whose mirror can't be read says so, and goes on", async (t) => {
  const node = await startNode(t);
  const position = node.mirror.position.bind(node.mirror);
  const broken = new Error("the mirror can't be read");
  node.mirror.position = () => {
    node.mirror.position = position;
    throw broken;
  };
  await waitUntil(
    async () => node.faults.at(-1),
    (fault) => fault === null,
  );
  t.same(node.faults, [broken, null]);
  await node.stop();
});

t.test("a node with a history that a failover has undone does not pass for one that has its revision", async (t) => {
  const position = one.mirror.position();
  const report = async (revision: number, change: string) => {
    await one.truth.follow({ ...position, revision, change }, { node: "undone", beat: 1 }, limits.configChangeMs);
    return (await one.truth.nodes(new Map(), limits.configChangeMs)).get("undone")?.revision;
  };
  t.equal(await report(position.revision, position.change), position.revision, "the current state");
  done(await one.projects.create(first.accountId, "next"));
  t.equal(await report(position.revision, position.change), position.revision, "an earlier one");
  t.equal(await report(position.revision, "undone"), -1);
  t.equal(await report(position.revision + 5, "undone"), -1);
  await one.truth.leave("undone");
});

t.test("a change that is undone while nodes are waited for is not answered as made", async (t) => {
  const master = await cluster.masterOf(configSlot);
  const before = one.mirror.position();
  const cut = await startNode(t);
  cut.vanish();
  const changed = one.projects.create(first.accountId, "undone");
  const rejected = t.rejects(changed, {
    name: "UnavailableError",
    message: /may have undone the change: it is not known whether the change was made/,
  });
  const made = await waitUntil(
    async () => one.mirror.position(),
    ({ revision }) => revision > before.revision,
  );
  await master.ask("HSET", configKeys.head, "change", "of another history");
  await rejected;
  t.equal(two.mirror.position().change, "of another history", "nodes have the revision, but not the change");
  await master.ask("HSET", configKeys.head, "change", made.change);
  for (const node of [one, two]) {
    await waitUntil(
      async () => node.mirror.position(),
      ({ change }) => change === made.change,
    );
  }
  await cut.stop();
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
