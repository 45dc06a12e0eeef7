/** Lists that an account asks for many times: cut into slices, a few at a time, and nobody else waits for them. */
import { setImmediate as nextTick } from "node:timers/promises";
import t from "tap";
import { limits } from "../../src/limits.js";
import { AccountReads } from "../../src/runtime/account-reads.js";
import { LongWork } from "../../src/runtime/long-work.js";

const present = () => false;

t.test(
  "of an account a few lists are read at once, the others one after another; another account waits for none",
  async (t) => {
    const reads = new AccountReads(new LongWork());
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const read = (account: number, name: string) =>
      reads.run(account, present, async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.push(end));
        return name;
      });
    const all = ["a", "b", "c", "d"].map((name) => read(1, name));
    const other = read(2, "other");
    while (begun.length < 3) await nextTick();
    for (let tick = 0; tick < 20; tick++) await nextTick();
    t.same(begun, ["a", "b", "other"]);
    t.equal(limits.accountReadsMax, 2);
    while (ends.length > 0 || begun.length < 5) {
      ends.shift()?.();
      await nextTick();
    }
    t.same(await Promise.all([...all, other]), ["a", "b", "c", "d", "other"]);
    t.same(begun, ["a", "b", "other", "c", "d"], "in the order in which they were asked for");
  },
);

t.test("a read that fails, or whose asker has gone, makes room for the next", async (t) => {
  const reads = new AccountReads(new LongWork());
  for (let each = 0; each < 3; each++) {
    await t.rejects(
      reads.run(1, present, () => Promise.reject(new Error("away"))),
      { message: "away" },
    );
    t.equal(
      await reads.run(
        1,
        () => true,
        () => "read",
      ),
      null,
    );
  }
  t.equal(await reads.run(1, present, () => "read"), "read");
});
