/** LMDB does what the model of both stores does: `test/cluster-store/ledger.test.ts` holds a cluster to the same. */
import t, { type Test } from "tap";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { commitToLmdb } from "../../src/ingest/lmdb-commit.js";
import { sweep } from "../../src/store/expiry.js";
import { openStore } from "../../src/store/open-store.js";
import { countSessions } from "../../src/store/session-count.js";
import { lmdbThread } from "../support/lmdb-thread.js";
import { ownerOf } from "../support/owner.js";
import { holdToModel, type Ledger } from "./conformance.js";

const longMs = 1e12;

function openLedger(dir: string): Ledger {
  const store = openStore(dir);
  const threads = [0, 1].map(() => lmdbThread(store));
  return {
    store,
    commit: async (thread, requests) => commitToLmdb(threads[thread]!, requests),
    sweep: async (projectIds, sessionMs, nowMs) => {
      // It sweeps those of earlier runs too.
      const stored = () => projectIds.reduce((sum, projectId) => sum + countSessions(store, projectId), 0);
      const before = stored();
      await sweep(store, { sessionMs, sessionsMax: 1e9, blockMs: longMs, trafficMs: longMs }, nowMs);
      return before - stored();
    },
    settle: async () => store.root.resetReadTxn(),
    count: async (projectId) => countSessions(store, projectId),
    rows: async () => checkStore(store).rows,
    restart: async () => {
      await store.close();
      return openLedger(dir);
    },
  };
}

t.test("whatever is done, one host comes to what the model says, and its rows are sound", async (t: Test) => {
  const dir = t.testdir();
  const first = openLedger(dir);
  const owner = await ownerOf(first.store);
  await first.store.close();
  await holdToModel(t, { runs: 25, owner, open: async () => openLedger(dir) });
  const store = openStore(dir);
  t.teardown(() => store.close());
  t.same(checkStore(store).faults, []);
});
