/** The last step of a migration on a real cluster: nothing else uses the store meanwhile, and a run that ends at any moment leaves one usable store. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { ClusterError, unacknowledged } from "../../src/cluster/cluster-error.js";
import type { Script } from "../../src/cluster/script.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { ConfigFollower } from "../../src/cluster-store/config/config-follower.js";
import { ConfigState } from "../../src/cluster-store/config/config-state.js";
import { type MigrationOptions, migrateStore } from "../../src/cluster-store/migration/migrate.js";
import { beginMigration, finishMigration } from "../../src/cluster-store/migration/migration-scripts.js";
import { openMirror } from "../../src/cluster-store/open-cluster.js";
import { readServeConfig } from "../../src/config/config.js";
import { dayMs } from "../../src/contract/values/durations.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { limits } from "../../src/limits.js";
import { createLog, startServer } from "../../src/server/http-thread.js";
import { migrationMark } from "../../src/store/migration-mark.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { ownFolder } from "../support/own-folder.js";
import { type Owner, ownerOf } from "../support/owner.js";
import { command, json, start } from "../support/process.js";
import { startRedis } from "../support/redis-cluster.js";
import { putSession } from "../support/stored-session.js";
import { waitUntil } from "../support/wait-until.js";

const cluster = await startRedis(t);
const to = ["--to", cluster.url];
const keysIn = async (): Promise<number> => {
  const sizes = await Promise.all((await cluster.masters()).map((node) => node.ask("DBSIZE")));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
};

interface Bed {
  readonly folder: string;
  readonly store: Store;
  readonly owner: Owner;
  put(number: number): Promise<void>;
}

/** An empty cluster, and a store with so many sessions, opened in this process too: as by a server that has passed its checks a moment ago. */
async function bed(t: Test, sessions: number): Promise<Bed> {
  await Promise.all((await cluster.masters()).map((node) => node.ask("FLUSHALL")));
  const folder = ownFolder(t);
  const store = openStore(folder);
  t.teardown(() => store.close());
  const owner = await ownerOf(store);
  const put = (from: number, count: number) =>
    store.root.transaction(() => {
      for (let number = from; number < from + count; number++) putSession(store, owner.projectId, Date.now(), number);
    });
  await put(0, sessions);
  return { folder, store, owner, put: (number) => put(number, 1) };
}

/** A run in this process; `change` may change its client before it begins. */
async function migrate(
  t: Test,
  { store }: Bed,
  some: Pick<MigrationOptions, "isFinal" | "refuseServed">,
  change: (client: ClusterClient) => void = () => {},
) {
  const client = new ClusterClient({ url: parseStoreUrl(cluster.url) as StoreUrl });
  t.teardown(() => client.close());
  await client.ready();
  change(client);
  return migrateStore({
    store,
    client,
    acks: 1,
    name: cluster.url,
    sessionMs: 30 * dayMs,
    trafficMs: 30 * dayMs,
    blockMs: 30 * dayMs,
    isAnew: false,
    refuseFull: () => {},
    onBegun: () => {},
    onProgress: () => {},
    ...some,
  });
}

/** The last step; `onFinish` is called when every row was compared, before the cluster is opened. */
function finalStep(
  t: Test,
  given: Bed,
  onFinish: (time: number) => Promise<void>,
  change?: (client: ClusterClient) => void,
) {
  let looks = 0;
  // The first look is before the first pass.
  const refuseServed = async () => {
    if (looks++ > 0) await onFinish(looks - 1);
  };
  return migrate(t, given, { isFinal: true, refuseServed }, change);
}

/** Once this script has run, the answers of the replicas are lost, until the run gives up. */
const losingAnswersTo =
  ({ sha }: Script) =>
  (client: ClusterClient): void => {
    const write = client.writeGroup.bind(client);
    client.writeGroup = async (commands, options) => {
      const written = await write(commands, options);
      if (!commands.some(({ command }) => command.includes(sha))) return written;
      client.close();
      return { ...written, missing: () => unacknowledged("a master", 0, 1) };
    };
  };

async function refused(t: Test, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(args);
  t.equal(code, 1, stdout);
  return stderr.trim();
}

/** A change of the configuration. */
const change = ["project", "create", "--account", "1", "--name", "another"];

const isKept =
  /is being migrated to redis:\S+ by `verdictd store migrate --final` since [-\d:.TZ]+: .*`verdictd store reopen`$/;

t.test("while it runs servers and changes are refused, and what is written all the same is copied", async (t) => {
  const given = await bed(t, 5);
  const { folder, owner } = given;
  const where = ["--data-dir", folder];
  const report = await finalStep(t, given, async (time) => {
    if (time > 1) return;
    t.match(await refused(t, ...change, ...where), isKept);
    t.match(await refused(t, "serve", ...where, "--port", "0", "--admin-port", "0"), isKept);
    t.match(
      await refused(t, "store", "migrate", ...to, ...where),
      /`store migrate --final` has this store since .*: wait until that has ended, or run this with --final$/,
    );
    t.match(
      await json(folder, "token", "list", "--account", String(owner.accountId)),
      { data: [{}] },
      "it can be read",
    );
    await given.put(5);
  });
  t.match(report, { sessions: 6, copied: 6, passes: 4, isFinished: true });
});

t.test("a run beside a server makes one pass, however much it had to copy", async (t) => {
  const given = await bed(t, 101);
  const report = await migrate(t, given, { isFinal: false, refuseServed: async () => {} });
  t.match(report, { sessions: 101, copied: 101, passes: 1, isFinished: false });
});

t.test("a store that is written all the time is not opened", async (t) => {
  const given = await bed(t, 5);
  const written = finalStep(t, given, (time) => given.put(4 + time));
  await t.rejects(written, { message: /^the store still changes after 5 passes .*: does anything write into/ });
  t.equal((await command([...change, "--data-dir", given.folder])).code, 0, "it can be used again");
});

t.test("a server that began meanwhile ends it, and the store can be used", async (t) => {
  const given = await bed(t, 5);
  const served = finalStep(t, given, async () => {
    throw new Error("a server uses it");
  });
  await t.rejects(served, { message: "a server uses it" });
  t.match(migrationMark(given.store), { doneAt: null, final: null });
});

t.test("`store reopen` ends a run that goes on", async (t) => {
  const given = await bed(t, 5);
  const reopened = finalStep(t, given, async () => {
    t.equal((await command(["store", "reopen", "--data-dir", given.folder])).code, 0);
  });
  await t.rejects(reopened, { message: /`store reopen`, has taken this store: run this again$/ });
  t.match(migrationMark(given.store), { doneAt: null, final: null });
});

t.test("killed: the store stays closed until the step has ended, or `store reopen`", async (t) => {
  const given = await bed(t, 12 * limits.clusterPieceRows);
  const where = ["--data-dir", given.folder];
  const kill = async () => {
    const before = await keysIn();
    const child = start(["store", "migrate", ...to, ...where, "--final"]);
    const ended = new Promise((done) => child.on("close", done));
    await waitUntil(keysIn, (keys) => keys > before + limits.clusterPieceRows);
    child.kill("SIGKILL");
    await ended;
  };
  await kill();
  t.match(await refused(t, ...change, ...where), isKept);
  t.equal((await command(["store", "reopen", ...where])).code, 0, "without asking the cluster, which was not opened");
  t.equal((await command([...change, ...where])).code, 0);
  await kill();
  const { stdout } = await command(["store", "migrate", ...to, ...where, "--final", "--json"]);
  t.match(JSON.parse(stdout), { sessions: 12 * limits.clusterPieceRows, finished: true });
});

t.test("a claim that was not acknowledged is the store's own in the next run", async (t) => {
  const given = await bed(t, 5);
  await t.rejects(
    finalStep(t, given, async () => {}, losingAnswersTo(beginMigration)),
    ClusterError,
  );
  t.match(migrationMark(given.store), { cluster: "", doneAt: null });
  t.equal((await command([...change, "--data-dir", given.folder])).code, 0, "the store is in use");
  t.match(await finalStep(t, given, async () => {}), { sessions: 5, isFinished: true });
});

t.test(
  "a node and a command that came before the migration can't work on a cluster that is being filled",
  async (t) => {
    const given = await bed(t, 5);
    const mirror = await openMirror({ store: cluster.url, dataDir: ownFolder(t), storeAcks: 1 });
    t.teardown(mirror.close);
    t.equal((await command(["store", "migrate", ...to, "--data-dir", given.folder])).code, 0);
    const node = new ConfigFollower({ ...mirror, state: new ConfigState(), onFault: () => {} });
    await t.rejects(node.start(), { message: /is being filled by `verdictd store migrate`/ });
    t.equal(await mirror.truth.liveNodes(), 0);
    await t.rejects(new Accounts(mirror.store, Date.now).createUser("A", "a@localhost"), {
      message: "a store is being copied into the cluster: the change was not made",
    });
    t.match(await finalStep(t, given, async () => {}), { passes: 1, copied: 0, isFinished: true });
    await node.start();
    t.equal(await mirror.truth.liveNodes(), 1);
    await node.stop();
  },
);

t.test("ended while it opened the cluster: the next run says so, and copies nothing", async (t) => {
  const given = await bed(t, 5);
  const where = ["--data-dir", given.folder];
  await t.rejects(
    finalStep(t, given, async () => {}, losingAnswersTo(finishMigration)),
    {
      message:
        /: it is not known whether redis:\S+ was opened to nodes, so this store can't be used meanwhile; run this again$/,
    },
  );
  t.match(await refused(t, ...change, ...where), isKept);
  const { stdout } = await command(["store", "migrate", ...to, ...where]);
  t.match(
    stdout,
    /^An earlier run has compared every row and opened the cluster, and ended before it could say so\.$/m,
  );
  t.match(migrationMark(given.store), { doneAt: /^2/, final: null });
  t.match(await refused(t, ...change, ...where), /was migrated to redis:/);
  t.match(
    await refused(t, "store", "migrate", ...to, ...where),
    /was opened to nodes at .*: what they wrote since would be lost/,
  );
  t.equal((await command(["store", "reopen", ...where])).code, 0);
  t.match(
    await refused(t, "store", "migrate", ...to, ...where),
    /was opened to nodes at .*: what they wrote since would be lost/,
  );
});

t.test("a server that had opened the store before the step began does not listen", async (t) => {
  const { folder, store } = await bed(t, 1);
  const read = readServeConfig({ "data-dir": folder, port: "0", "admin-port": "0", "scoring-threads": "1" }, {});
  if ("mistakes" in read) throw new Error(read.mistakes.join("; "));
  // No socket can be made in a file, which the server logs after it has opened the store: the step begins at that moment.
  writeFileSync(join(folder, "live"), "");
  const log = createLog("silent");
  const final = { since: new Date().toISOString(), isOpening: false };
  log.warn = () => {
    store.root.transactionSync(() =>
      store.mirror.putSync("migration", { store: "s", cluster: "c", name: cluster.url, doneAt: null, final }),
    );
  };
  await t.rejects(startServer(read.config, log), { message: isKept });
});
