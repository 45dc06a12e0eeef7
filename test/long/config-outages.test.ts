/** The configuration in a real cluster while nodes are cut off, the cluster is frozen or another one, and its master dies. */

import t, { type Test } from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { ConfigTruth } from "../../src/cluster-store/config/config-truth.js";
import { openConfig } from "../../src/cluster-store/config/open-config.js";
import { faultLine } from "../../src/cluster-store/fault-line.js";
import { configKeys, configSlot } from "../../src/cluster-store/keys.js";
import { openMirror } from "../../src/cluster-store/open-cluster.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount, type FirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { UnavailableError } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { StoreError } from "../../src/store/failures.js";
import { openStore } from "../../src/store/open-store.js";
import {
  current,
  done,
  eventually,
  mirrored,
  startConfigCluster,
  startNodeOn,
} from "../cluster-store/config/config-nodes.js";
import { startService } from "../http/service.js";
import { batch } from "../support/batches.js";
import { ownFolder } from "../support/own-folder.js";
import { waitUntil } from "../support/wait-until.js";

const { cluster, url } = await startConfigCluster(t);
const startNode = (t: Test, folder?: string) => startNodeOn(url, t, folder);
const [one, two] = await Promise.all([startNode(t), startNode(t)]);
const first: FirstAccount = done(await createFirstAccount(one.accounts, one.projects));

// Two nodes that are cut off at the same time wait for one lease.
t.jobs = 2;
/** For those that do something to the cluster or to the nodes of all. */
const alone = { buffered: false };

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
    startService(t, { "data-dir": ownFolder(t), store, "store-deadline-ms": "5000" });
  const [near, far] = await Promise.all([
    serveNode(cluster.url),
    serveNode(cluster.url.replace("://", "://far:secret@")),
  ]);
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

t.test("a node that can't follow for want of replicas still counts as one that serves", alone, async (t) => {
  const truth = new ConfigTruth(one.client, 0);
  const master = await cluster.masterOf(configSlot);
  const replicas = await cluster.replicasOf(master);
  for (const replica of replicas) replica.freeze();
  for (const { state } of [one, two]) {
    const isLacking = (fault: string | null): boolean => fault?.startsWith("too few replicas") === true;
    t.ok(isLacking(await waitUntil(async () => state.fault, isLacking)));
  }
  t.equal(await truth.liveNodes(), 2);
  t.equal((await truth.nodes(new Map(), limits.configChangeMs)).size, 0, "though no change waits for it");
  for (const replica of replicas) replica.thaw();
  await Promise.all([current(one), current(two)]);
  const third = await startNode(t);
  t.equal(await truth.liveNodes(), 3);
  await third.stop();
  t.equal(await truth.liveNodes(), 2, "one that was stopped does not");
});

t.test("a frozen cluster: the lease runs out, changes are refused, and all goes on afterwards", alone, async (t) => {
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

t.test(
  "two clusters by mistake, or a store of one host: refused in a line, and nothing is changed",
  alone,
  async (t) => {
    const own = ownFolder(t);
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
  },
);

t.test("a command without acknowledgement says that its change may have been made", alone, async (t) => {
  const { store, close } = await openMirror({ store: cluster.url, dataDir: ownFolder(t), storeAcks: 1 });
  t.teardown(close);
  const [replica] = await cluster.replicasOf(await cluster.masterOf(configSlot));
  t.teardown(() => replica!.thaw());
  replica!.freeze();
  const error = await new Projects(store, Date.now)
    .create(first.accountId, "unacknowledged")
    .then(done, (fault) => fault);
  replica!.thaw();
  const unknown = "it is not known whether the change was made";
  t.match(error, { name: "UnavailableError", message: new RegExp(`^too few replicas .*: ${unknown}$`) });
  t.match(
    faultLine(error),
    new RegExp(`^too few replicas of the cluster answer: 127\\.0\\.0\\.1:\\d+: 0 of the 1 replicas .*; ${unknown}$`),
  );
  t.equal(await current(one), null);
  t.equal(await current(two), null);
});

t.test("a command whose change never reached the cluster says that it was not made", async (t) => {
  const { store, client, close } = await openMirror({ store: cluster.url, dataDir: ownFolder(t), storeAcks: 1 });
  t.teardown(close);
  client.close();
  const error = await new Projects(store, Date.now).create(first.accountId, "never sent").then(done, (fault) => fault);
  t.equal(faultLine(error), "the cluster does not answer: the client was closed; the change was not made");
});

t.test(
  "the master of the configuration is killed under changes: none is lost, none is made twice",
  alone,
  async (t) => {
    for (const node of cluster.nodes) await node.ask("CONFIG", "SET", "cluster-node-timeout", "1000");
    const master = await cluster.masterOf(configSlot);
    const before = [...one.projects.ofAccount(first.accountId)].length;
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
    const names = [...one.projects.ofAccount(first.accountId)].slice(before).map(({ name }) => name);
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
  },
);
