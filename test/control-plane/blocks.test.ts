/** Blocks collected in memory and stored together: order, ids, the bound, and what two flushes at once do. */
import t, { type Test } from "tap";
import { decodeSessionToken } from "../../src/contract/session-token.js";
import { Blocks } from "../../src/control-plane/blocks.js";
import { Refusal } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { sessionKey } from "../../src/store/keys.js";
import { openStore, type Store } from "../../src/store/store.js";
import { putSession, storedToken } from "../support/stored-session.js";

const beganMs = Date.UTC(2026, 10, 21);

/** A store in which each of these projects has sessions 0 to 9. */
function openTestStore(t: Test, ...projects: number[]): { store: Store; blocks: Blocks } {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  for (const project of projects)
    for (let number = 0; number < 10; number++) putSession(store, project, beganMs, number);
  return { store, blocks: new Blocks(store) };
}

const block = (projectId: number, number: number) => ({
  projectId,
  sessionToken: storedToken(beganMs, number),
  verdict: "definite",
  score: 2,
  reason: "",
  detectionIds: [],
  source: "rule" as const,
  ruleId: 1,
  path: null,
  createdAt: "2026-11-21T10:00:00.000Z",
});

/** Id and session number of each block, the latest first. */
function rows(blocks: Blocks, projectId: number): string[] {
  const page = blocks.page(projectId, 100, null);
  return page instanceof Refusal
    ? []
    : page.rows.map((row) => `${row.id} ${decodeSessionToken(row.sessionToken)?.at(-1)}`);
}

t.test("blocks are stored by the flush, numbered by project in the order they came", async (t) => {
  const { blocks } = openTestStore(t, 1, 2);
  for (let number = 1; number <= 3; number++) for (const project of [1, 2]) blocks.record(block(project, number));
  t.same(rows(blocks, 1), [], "not yet");
  const counts = await Promise.all([blocks.flush(), blocks.flush()]);
  t.same(counts, [6, 0], "two flushes at once store everything once");
  blocks.record(block(1, 4));
  t.equal(await blocks.flush(), 1);
  t.same(rows(blocks, 1), ["4 4", "3 3", "2 2", "1 1"]);
  t.same(rows(blocks, 2), ["3 3", "2 2", "1 1"]);
});

t.test("two threads that record into one store share its numbers", async (t) => {
  const { store } = openTestStore(t, 1);
  const threads = [new Blocks(store), new Blocks(store)];
  for (let number = 1; number <= 4; number++) threads[number % 2]!.record(block(1, number));
  await Promise.all(threads.map((each) => each.flush()));
  t.same(
    rows(threads[0]!, 1).map((each) => each.split(" ")[0]),
    ["4", "3", "2", "1"],
  );
});

t.test("what waits is bounded, and what is over the bound is said to be dropped", async (t) => {
  const { blocks } = openTestStore(t);
  const one = block(1, 1);
  let taken = 0;
  while (blocks.record(one)) taken++;
  t.equal(taken, limits.blocksWaitingMax);
});

t.test("a block of a session that was erased meanwhile is not stored", async (t) => {
  const { store, blocks } = openTestStore(t, 1);
  for (const number of [1, 2, 3]) blocks.record(block(1, number));
  const erased = decodeSessionToken(block(1, 2).sessionToken)!;
  store.sessions.removeSync(sessionKey(1, erased));
  t.equal(await blocks.flush(), 2);
  t.same(rows(blocks, 1), ["2 3", "1 1"]);
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
