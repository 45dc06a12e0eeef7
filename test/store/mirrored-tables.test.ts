/** Writes to mirrored tables are observed: an unobserved change would reach no other node. */
import t from "tap";
import type { AuditEntry } from "../../src/contract/configuration/audit.js";
import type { AccountToken } from "../../src/contract/configuration/entities.js";
import { countOfAccount, putToken } from "../../src/store/account-rows.js";
import { MirroredTables } from "../../src/store/mirrored-tables.js";
import { openStore } from "../../src/store/open-store.js";

t.test("a change's rows and entries are known, and none is written outside of one", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const mirrored = new MirroredTables(store);
  const { rows, logged, result } = store.root.transactionSync(() =>
    mirrored.record(() => {
      store.slugs.putSync("one", 1);
      store.slugs.putSync("two", 2);
      store.slugs.removeSync("two");
      putToken(store, { id: 5, accountId: 1, userId: 7 } as AccountToken);
      store.audit.putSync([1, 1], { action: "told" } as unknown as AuditEntry);
      return "done";
    }),
  );
  t.equal(result, "done");
  t.match(rows, [
    { field: 'slugs:"one"', value: Buffer },
    { field: 'slugs:"two"', value: null },
    { field: "tokens:5", value: Buffer },
  ]);
  t.match(logged, [{ accountId: 1, id: 1, entry: { action: "told" } }]);
  t.throws(() => store.slugs.putSync("three", 3), /slugs:"three" is written outside of a change/);
  t.throws(() => store.slugs.removeSync("one"), /outside of a change/);
  t.throws(() => store.audit.putSync([1, 2], {} as AuditEntry), /outside of a change/);
  t.same([...store.slugs.getKeys({})], ["one"]);
  // The index of an account's tokens follows what is loaded.
  const other = openStore(t.testdir({ other: {} }));
  t.teardown(() => other.close());
  const mirror = new MirroredTables(other);
  other.root.transactionSync(() => mirror.load(rows));
  t.same(
    [...other.slugs.getRange({})].map(({ key, value }) => [key, value]),
    [["one", 1]],
  );
  t.equal(countOfAccount(other, "token", 1), 1);
  other.root.transactionSync(() => mirror.load([{ field: "tokens:5", value: null }]));
  t.equal(countOfAccount(other, "token", 1), 0);
});
