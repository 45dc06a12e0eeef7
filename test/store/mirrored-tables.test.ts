/** Writes to mirrored tables are observed, or the store is not opened: an unobserved change would reach no other node. */
import t from "tap";
import { MirroredTables } from "../../src/store/mirrored-tables.js";
import { openStore } from "../../src/store/open-store.js";

t.test("a store whose writes can't be observed is refused, and a probe leaves nothing", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  new MirroredTables(store);
  t.equal(store.accounts.getKeysCount(), 0);
  t.equal(store.audit.getKeysCount(), 0);
  for (const name of ["accounts", "audit"] as const) {
    const other = openStore(t.testdir({ [name]: {} }));
    t.teardown(() => other.close());
    other[name].putSync = () => true;
    t.throws(() => new MirroredTables(other), /lmdb no longer calls put and remove/);
  }
});
