/** A cluster does what the model of both stores does: `test/ledger/one-host.test.ts` holds LMDB to the same. */
import t, { type Test } from "tap";
import { parseStoreUrl } from "../../src/cluster/store-url.js";
import { checkRows } from "../../src/cluster-store/check/cluster-check.js";
import { configKeys, configSlot } from "../../src/cluster-store/keys.js";
import { type OpenedMirror, openMirror } from "../../src/cluster-store/open-cluster.js";
import { checkStore, storeChecks } from "../../src/control-plane/upkeep/store-check.js";
import type { IntegrityReport } from "../../src/store/integrity.js";
import { holdToModel, type Ledger } from "../ledger/conformance.js";
import { ownFolder } from "../support/own-folder.js";
import { ownerOf } from "../support/owner.js";
import { startRedis } from "../support/redis-cluster.js";
import { scoringNode } from "./ingest/scoring-node.js";

const clusterOf = (store: string, dataDir: string) => ({ store, dataDir, storeAcks: 1 });

/** What `check` says of a cluster. */
function checked(cluster: OpenedMirror): Promise<IntegrityReport> {
  const configuration = () => checkStore(cluster.store);
  return checkRows({ cluster, features: storeChecks.features, configuration, onProgress: () => {} });
}

/** A node with two scoring threads. */
async function openLedger(t: Test, url: string, dataDir: string): Promise<Ledger> {
  const mirror = await openMirror(clusterOf(url, dataDir), { isServer: true });
  const { store, client } = mirror;
  const storeUrl = parseStoreUrl(url);
  if ("fault" in storeUrl) throw new Error(storeUrl.fault);
  const ends: (() => unknown)[] = [];
  const later = { teardown: (end: () => unknown) => ends.push(end) } as Pick<Test, "teardown">;
  const threads = [0, 1].map(() => scoringNode(later, store, storeUrl));
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    for (const end of ends) await end();
    await mirror.close();
  };
  t.teardown(close);
  return {
    store,
    commit: (thread, requests) => threads[thread]!.commit(...requests),
    sweep: async (projectIds, sessionMs, nowMs) => {
      // The next sweep need not wait until this one's lease is over.
      await client.execute(["DEL", configKeys.sweeper], configSlot, { deadlineMs: 5000 });
      const swept = await store.remoteSessions!.sweep(projectIds, { sessionMs, sessionsMax: 1e9 }, nowMs, () => false);
      if (swept === null) throw new Error("another node sweeps");
      return swept;
    },
    settle: async () => {
      for (const { sender } of threads) await sender.flush();
    },
    count: (projectId) => store.remoteSessions!.count([projectId]),
    rows: async () => (await checked(mirror)).rows,
    restart: async () => {
      await close();
      return openLedger(t, url, dataDir);
    },
  };
}

t.test("whatever is done, a cluster comes to what the model says, and its rows are sound", async (t: Test) => {
  const { url } = await startRedis(t, { masters: 3, replicas: 1 });
  const dataDir = ownFolder(t);
  const first = await openMirror(clusterOf(url, dataDir), { isServer: true });
  const owner = await ownerOf(first.store);
  await first.close();
  await holdToModel(t, { runs: 8, owner, open: () => openLedger(t, url, dataDir) });
  const cluster = await openMirror(clusterOf(url, dataDir), { isServer: true });
  t.teardown(() => cluster.close());
  t.same((await checked(cluster)).faults, []);
});
