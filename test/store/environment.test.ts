/** What LMDB's fault ITS#9496 hides, see `support/set-back.ts`: it is found by who writes, opens, or looks again. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { Environment, visibleBeforeFlush } from "../../src/store/environment.js";
import { sessionKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import { raiseRevision, TickReads } from "../../src/store/store.js";
import { commitHider } from "../support/set-back.js";

/** An environment whose table holds "first" and "last", each of a commit of its own. */
async function bed(t: Test) {
  const path = join(t.testdir(), "some.mdb");
  const environment = new Environment(path);
  t.teardown(() => environment.close());
  const table = environment.openDB<number, string>({ name: "table" });
  const rows = () => {
    environment.resetReadTxn();
    return [...table.getKeys()];
  };
  environment.transactionSync(() => table.putSync("first", 1));
  environment.transactionSync(() => table.putSync("last", 2));
  const hide = await commitHider(t, path);
  return {
    path,
    environment,
    rows,
    put: (key: string) => table.putSync(key, 3),
    setBack: async () => {
      await hide();
      t.same(rows(), ["first"], "readers see the commit before the last one");
    },
  };
}

const ways: Readonly<Record<string, (environment: Environment, work: () => void) => unknown>> = {
  transactionSync: (environment, work) => environment.transactionSync(work),
  "transactionSync, seen before the flush": (environment, work) =>
    environment.transactionSync(work, visibleBeforeFlush),
  transaction: (environment, work) => environment.transaction(work),
  childTransaction: (environment, work) => environment.childTransaction(work),
};

for (const [name, write] of Object.entries(ways)) {
  t.test(`${name} begins from the last commit, though the lock file has the one before`, async (t) => {
    const { environment, rows, put, setBack } = await bed(t);
    await setBack();
    let runs = 0;
    await write(environment, () => {
      runs++;
      put("next");
    });
    t.equal(runs, 1);
    t.same(rows(), ["first", "last", "next"]);
  });
}

t.test("transactions of one turn that began too early are all begun anew", async (t) => {
  const { environment, rows, put, setBack } = await bed(t);
  await setBack();
  const keys = Array.from({ length: 5 }, (_, index) => `next ${index}`);
  await Promise.all(keys.map((key) => environment.transaction(() => put(key))));
  t.same(rows(), ["first", "last", ...keys]);
});

t.test("what throws in a transaction that was begun anew is undone and told", async (t) => {
  const { environment, rows, put, setBack } = await bed(t);
  await setBack();
  const fails = (): void => {
    put("next");
    throw new Error("no");
  };
  t.throws(() => environment.transactionSync(fails), { message: "no" });
  await t.rejects(environment.childTransaction(fails), { message: "no" });
  t.same(rows(), ["first", "last"]);
});

t.test("opening an environment sets the number right for all who read it", async (t) => {
  const { path, rows, setBack } = await bed(t);
  await setBack();
  const opened = new Environment(path);
  t.same(rows(), ["first", "last"]);
  await opened.close();
});

for (const [name, write] of Object.entries(ways)) {
  t.test(`${name} writes nothing that the guard refuses`, async (t) => {
    const { environment, rows, put } = await bed(t);
    let isRefused = true;
    environment.guardWrites(() => {
      if (isRefused) throw new Error("refused");
    });
    // Some of them throw at once.
    await t.rejects(async () => write(environment, () => put("next")), { message: "refused" });
    t.same(rows(), ["first", "last"]);
    isRefused = false;
    await write(environment, () => put("next"));
    t.same(rows(), ["first", "last", "next"]);
  });
}

t.test("who looks again finds what was hidden, and waits for nothing else", async (t) => {
  const { environment, rows, setBack } = await bed(t);
  await setBack();
  t.equal(environment.looksAgain(), false);
  await environment.catchingUp;
  t.same(rows(), ["first", "last"]);
  t.equal(environment.catchingUp, null);
  t.equal(environment.looksAgain(), true, "another process may have committed since the snapshot");
  t.equal(environment.looksAgain(), false, "once a snapshot");
});

t.test("sessions are looked for again", async (t) => {
  const dataDir = t.testdir();
  const store = openStore(dataDir);
  t.teardown(() => store.close());
  const hide = await commitHider(t, store.root.path);
  const [one, other] = [1, 2].map((id) => sessionKey(1, Buffer.alloc(16, id)));
  const added = async (key: Buffer) => {
    store.root.transactionSync(() => store.sessions.putSync(key, Buffer.from("some")));
    await hide();
    store.root.resetReadTxn();
    t.equal(store.sessions.doesExist(key), false, "it is hidden");
  };
  await added(one!);
  t.equal(store.rows.record(one!), undefined);
  await store.rows.later();
  t.equal(String(store.rows.record(one!)), "some");
  t.equal(store.rows.later(), null);
  await added(other!);
  await store.rows.load([other!]);
  t.equal(String(store.rows.record(other!)), "some");
  t.equal(store.rows.load([one!, other!]), null);
});

t.test("a timer's snapshot is not that of requests that are read after it", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const resets: string[] = [];
  const reads = new TickReads({ ...store, root: { resetReadTxn: () => resets.push("reset") } as never });
  reads.beginTimer();
  reads.begin();
  reads.begin();
  t.equal(resets.length, 2);
});

t.test("work behind the answers has one revision, and what is read after it has the next one", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const reads = new TickReads(store);
  const before = reads.revision();
  const change = () => {
    store.root.transactionSync(() => raiseRevision(store));
    store.root.resetReadTxn();
  };
  reads.together(() => {
    t.equal(reads.revision(), before);
    change();
    t.equal(reads.revision(), before, "it is read once");
  });
  const after = reads.revision();
  t.ok(after > before);
  t.throws(
    () =>
      reads.together(() => {
        reads.revision();
        throw new Error("no way");
      }),
    /no way/,
  );
  change();
  t.ok(reads.revision() > after, "also where the work fails");
});
