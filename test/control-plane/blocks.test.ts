/** Blocks collected in memory and stored together: order, ids, the bound, and what two flushes at once do. */
import t from "tap";
import { Blocks } from "../../src/control-plane/blocks.js";
import { Refusal } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/store.js";

const block = (projectId: number, number: number) => ({
  projectId,
  sessionToken: `sess_${number}`,
  verdict: "definite",
  score: 2,
  reason: "",
  detectionIds: [],
  source: "rule" as const,
  ruleId: 1,
  path: null,
  createdAt: "2026-11-21T10:00:00.000Z",
});

function tokens(blocks: Blocks, projectId: number): string[] {
  const page = blocks.page(projectId, 100, null);
  return page instanceof Refusal ? [] : page.rows.map((row) => `${row.id} ${row.sessionToken}`);
}

t.test("blocks are stored by the flush, numbered by project in the order they came", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const blocks = new Blocks(store);
  for (let number = 1; number <= 3; number++) for (const project of [1, 2]) blocks.record(block(project, number));
  t.same(tokens(blocks, 1), [], "not yet");
  const counts = await Promise.all([blocks.flush(), blocks.flush()]);
  t.same(counts, [6, 0], "two flushes at once store everything once");
  blocks.record(block(1, 4));
  t.equal(await blocks.flush(), 1);
  t.same(tokens(blocks, 1), ["4 sess_4", "3 sess_3", "2 sess_2", "1 sess_1"]);
  t.same(tokens(blocks, 2), ["3 sess_3", "2 sess_2", "1 sess_1"]);
});

t.test("two threads that record into one store share its numbers", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const threads = [new Blocks(store), new Blocks(store)];
  for (let number = 1; number <= 4; number++) threads[number % 2]!.record(block(1, number));
  await Promise.all(threads.map((each) => each.flush()));
  t.same(
    tokens(threads[0]!, 1).map((each) => each.split(" ")[0]),
    ["4", "3", "2", "1"],
  );
});

t.test("what waits is bounded, and what is over the bound is said to be dropped", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const blocks = new Blocks(store);
  const one = block(1, 1);
  let taken = 0;
  while (blocks.record(one)) taken++;
  t.equal(taken, limits.blocksWaitingMax);
});

t.test("what could not be stored still waits", async (t) => {
  const store = openStore(t.testdir());
  const blocks = new Blocks(store);
  for (let count = 0; count < 10; count++) blocks.record(block(1, count));
  await store.close();
  await t.rejects(blocks.flush());
  let taken = 0;
  while (blocks.record(block(1, taken))) taken++;
  t.equal(taken, limits.blocksWaitingMax - 10);
});
