/** Lists are built when a server starts, and again when an operator replaces one. */
import t from "tap";
import { builtFromCurrent } from "../../src/server/built-from-current.js";

t.test("a list is built before it is asked for, and again only for another one", async (t) => {
  let list: { readonly name: string } = { name: "shipped" };
  const builds: string[] = [];
  const current = builtFromCurrent(
    () => list,
    ({ name }) => {
      builds.push(name);
      return `built of ${name}`;
    },
  );
  t.same(builds, ["shipped"], "nothing asked yet");
  t.same([current(), current()], ["built of shipped", "built of shipped"]);
  list = { name: "imported" };
  t.same([current(), current()], ["built of imported", "built of imported"]);
  t.same(builds, ["shipped", "imported"]);
});

t.test("a list that can't be built is tried again, and does not replace the one before", async (t) => {
  let list = { isGood: true };
  const current = builtFromCurrent(
    () => list,
    ({ isGood }) => {
      if (!isGood) throw new Error("no list");
      return "good";
    },
  );
  list = { isGood: false };
  t.throws(current, { message: "no list" });
  t.throws(current, { message: "no list" });
  list = { isGood: true };
  t.equal(current(), "good");
});
