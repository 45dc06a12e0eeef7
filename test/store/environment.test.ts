/**
 * LMDB's fault ITS#9496, as another process brings it about: the number of the last commit in the lock file is set back. It is done here by
 * a process of its own, since closing the lock file would take this one's locks on it along.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Environment, visibleBeforeFlush } from "../../src/store/environment.js";

const setBackByOne = `
const { openSync, readSync, writeSync } = require("node:fs");
const file = openSync(process.argv[1], "r+");
const number = Buffer.alloc(8);
readSync(file, number, 0, 8, 8);
number.writeBigUInt64LE(number.readBigUInt64LE() - 1n);
writeSync(file, number, 0, 8, 8);
`;

/** An environment whose table holds "first" and "last", each of a commit of its own. */
function bed(t: Test) {
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
  return {
    path,
    environment,
    rows,
    put: (key: string) => table.putSync(key, 3),
    setBack: () => {
      execFileSync(process.execPath, ["-e", setBackByOne, `${path}-lock`], { env: {} });
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
    const { environment, rows, put, setBack } = bed(t);
    setBack();
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
  const { environment, rows, put, setBack } = bed(t);
  setBack();
  const keys = Array.from({ length: 5 }, (_, index) => `next ${index}`);
  await Promise.all(keys.map((key) => environment.transaction(() => put(key))));
  t.same(rows(), ["first", "last", ...keys]);
});

t.test("what throws in a transaction that was begun anew is undone and told", async (t) => {
  const { environment, rows, put, setBack } = bed(t);
  setBack();
  const fails = (): void => {
    put("next");
    throw new Error("no");
  };
  t.throws(() => environment.transactionSync(fails), { message: "no" });
  await t.rejects(environment.childTransaction(fails), { message: "no" });
  t.same(rows(), ["first", "last"]);
});

t.test("opening an environment sets the number right for all who read it", async (t) => {
  const { path, rows, setBack } = bed(t);
  setBack();
  const opened = new Environment(path);
  t.same(rows(), ["first", "last"]);
  await opened.close();
});

for (const [name, write] of Object.entries(ways)) {
  t.test(`${name} writes nothing that the guard refuses`, async (t) => {
    const { environment, rows, put } = bed(t);
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
