/** Blocks collected in memory and stored together: order, ids, the bound, and what two flushes at once do. */

import t, { type Test } from "tap";
import type { Project } from "../../src/contract/configuration/entities.js";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { blockRow } from "../../src/control-plane/logs/block-row.js";
import { Refusal } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { Blocks, challengeSubject, sessionSubject } from "../../src/recording/blocks.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { sweep } from "../../src/store/expiry.js";
import { metaKeys, sessionKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { NewBlock } from "../../src/store/recorded-rows.js";
import type { Store } from "../../src/store/store.js";
import { ruleBlock } from "../support/rule-block.js";
import { putSession, storedToken } from "../support/stored-session.js";

const beganMs = Date.UTC(2026, 10, 21);
let nowMs = Date.UTC(2026, 10, 21, 10);

/** A store in which each of these projects has sessions 0 to 9. */
function openTestStore(t: Test, ...projects: number[]): { store: Store; blocks: Blocks } {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  for (const project of projects)
    for (let number = 0; number < 10; number++) putSession(store, project, beganMs, number);
  return { store, blocks: new Blocks(store, () => nowMs) };
}

const block = (projectId: number, number: number, path: string | null = null) =>
  ruleBlock(projectId, storedToken(beganMs, number), { path, atMs: Date.UTC(2026, 10, 21, 10) });

/** As a thread records it that answers a session's verdict. */
const record = (blocks: Blocks, one: ReturnType<typeof block>): boolean =>
  blocks.record(one, sessionSubject(one.sessionToken));

/** Id and session number of each block, the latest first. */
async function rows(blocks: Blocks, projectId: number): Promise<string[]> {
  const page = await blocks.page(projectId, 100, null);
  return page instanceof Refusal
    ? []
    : page.rows.map((row) => `${row.id} ${decodeSessionToken(row.sessionToken ?? "")?.at(-1)}`);
}

t.test("blocks are stored by the flush, numbered by project in the order they came", async (t) => {
  const { blocks } = openTestStore(t, 1, 2);
  for (let number = 1; number <= 3; number++) for (const project of [1, 2]) record(blocks, block(project, number));
  t.same(await rows(blocks, 1), [], "not yet");
  const counts = await Promise.all([blocks.flush(), blocks.flush()]);
  t.same(counts, [6, 0], "two flushes at once store everything once");
  record(blocks, block(1, 4));
  t.equal(await blocks.flush(), 1);
  t.same(await rows(blocks, 1), ["4 4", "3 3", "2 2", "1 1"]);
  t.same(await rows(blocks, 2), ["3 3", "2 2", "1 1"]);
});

t.test("a row that an earlier version stored has no agent", async (t) => {
  const { blocks } = openTestStore(t, 1);
  record(blocks, block(1, 1));
  const agent = { name: "Claude in Chrome", category: "ai_agent", certainty: "marked" } as const;
  record(blocks, { ...block(1, 2), agent });
  await blocks.flush();
  const page = await blocks.page(1, 100, null);
  if (page instanceof Refusal) throw new Error(page.message);
  t.strictSame(
    page.rows.map((row) => blockRow(row).agent),
    [agent, null],
  );
});

t.test("each block is found by the answer that showed it, though several are stored at once", async (t) => {
  const { blocks } = openTestStore(t, 1);
  const subject = sessionSubject(storedToken(beganMs, 1));
  for (const [path, reference] of [
    ["/a", "one"],
    ["/b", "two"],
  ] as const) {
    record(blocks, block(1, 1, path));
    t.ok(blocks.refer(1, subject, reference));
  }
  await blocks.flush();
  t.ok(blocks.refer(1, subject, "three"), "by a cached verdict");
  await blocks.flush(true);
  const page = await blocks.page(1, 10, null);
  if (page instanceof Refusal) throw new Error(page.message);
  const found = page.rows.map(({ path, references }) => [path, references]);
  t.same(found, [
    ["/b", ["two", "three"]],
    ["/a", ["one"]],
  ]);
});

t.test("two threads that record into one store share its numbers", async (t) => {
  const { store } = openTestStore(t, 1);
  const threads = [new Blocks(store, () => nowMs), new Blocks(store, () => nowMs)];
  for (let number = 1; number <= 4; number++) record(threads[number % 2]!, block(1, number));
  await Promise.all(threads.map((each) => each.flush()));
  t.same(
    (await rows(threads[0]!, 1)).map((each) => each.split(" ")[0]),
    ["4", "3", "2", "1"],
  );
});

t.test("what waits is bounded, and what is over the bound is said to be dropped", async (t) => {
  const { blocks } = openTestStore(t);
  let taken = 0;
  while (record(blocks, { ...block(1, 1), ruleId: 1 + Math.floor(taken / 5) })) taken++;
  t.equal(taken, limits.blocksWaitingMax);
});

t.test("a block of a session that was erased meanwhile is not stored", async (t) => {
  const { store, blocks } = openTestStore(t, 1);
  for (const number of [1, 2, 3]) record(blocks, block(1, number));
  const erased = decodeSessionToken(block(1, 2).sessionToken)!;
  store.sessions.removeSync(sessionKey(1, erased));
  t.equal(await blocks.flush(), 2);
  t.same(await rows(blocks, 1), ["2 3", "1 1"]);
});

t.test("what could not be stored still waits", async (t) => {
  const store = openStore(t.testdir());
  const blocks = new Blocks(store, () => nowMs);
  for (let count = 0; count < 10; count++) record(blocks, block(1, count));
  await store.close();
  await t.rejects(blocks.flush());
  let taken = 0;
  while (record(blocks, { ...block(1, taken), ruleId: 2 + taken })) taken++;
  t.equal(taken, limits.blocksWaitingMax - 10);
});

const most = limits.blocksOfSessionMinuteMax;

/** Counts of the rows, the latest first. */
async function counts(blocks: Blocks, projectId = 1): Promise<number[]> {
  const page = await blocks.page(projectId, 100, null);
  return page instanceof Refusal ? [] : page.rows.map((row) => row.count ?? 0);
}

t.test("of a session, rule and minute the first are records, further ones raise the last one's count", async (t) => {
  const { blocks, store } = openTestStore(t, 1);
  for (let index = 0; index < most + 5; index++) record(blocks, block(1, 1, `/${index}`));
  t.equal(blocks.unstored, most + 5);
  t.equal(await blocks.flush(true), most + 5, "every block is told of");
  t.equal(blocks.unstored, 0);
  t.same(await counts(blocks), [6, ...Array(most - 1).fill(1)]);
  for (let index = 0; index < 1000; index++) record(blocks, block(1, 1));
  t.equal(await blocks.flush(true), 1000);
  t.same(await counts(blocks), [1006, ...Array(most - 1).fill(1)]);
  t.equal(store.blocks.get([1, most])?.path, `/${most - 1}`, "the record stays that of its own block");
  record(blocks, { ...block(1, 1), ruleId: 2 });
  record(blocks, block(1, 2));
  record(blocks, { ...block(1, 1), createdAt: "2026-11-21T10:01:00.000Z" });
  t.equal(await blocks.flush(true), 3);
  t.same(
    await counts(blocks),
    [1, 1, 1, 1006, ...Array(most - 1).fill(1)],
    "another rule, session or minute is another",
  );
});

t.test("threads and processes that record into one store share the bound, in memory or not", async (t) => {
  const { store } = openTestStore(t, 1);
  const threads = Array.from({ length: 3 }, () => new Blocks(store, () => nowMs));
  let recorded = 0;
  for (let round = 0; round < 4; round++) {
    for (const blocks of threads) for (let index = 0; index < 9; index++, recorded++) record(blocks, block(1, 1));
    await Promise.all(threads.map((each) => each.flush(true)));
  }
  t.same(await counts(threads[0]!), [recorded - most + 1, ...Array(most - 1).fill(1)]);
  const restarted = new Blocks(store, () => nowMs);
  record(restarted, block(1, 1));
  await restarted.flush(true);
  t.equal((await counts(restarted)).length, most, "and so does a process started in that minute");
});

t.test("what only raises a count waits for a while, and is seen when asked for", async (t) => {
  const { blocks } = openTestStore(t, 1);
  t.teardown(() => {
    nowMs = beganMs + 10 * 3_600_000;
  });
  for (let index = 0; index < most; index++) record(blocks, block(1, 1));
  await blocks.flush();
  record(blocks, block(1, 1));
  t.equal(await blocks.flush(), 0);
  nowMs += limits.blockCountsMs;
  t.equal(await blocks.flush(), 1);
  t.equal((await counts(blocks))[0], 2);
  record(blocks, block(1, 1));
  t.equal(await blocks.flush(true), 1);
  t.equal((await counts(blocks))[0], 3);
});

t.test("blocks of an address have no session and one record a rule and minute", async (t) => {
  const { blocks } = openTestStore(t, 1);
  const one: NewBlock = { ...block(1, 1), sessionToken: null };
  for (const name of ["203.0.113.1", "203.0.113.2", "203.0.113.1", "203.0.113.1"])
    blocks.record(one, { name, recordsMax: 1 });
  t.equal(await blocks.flush(true), 4);
  t.same(await counts(blocks), [1, 3]);
});

t.test("a project keeps its latest blocks, and tallies of minutes that are over go", async (t) => {
  const { store, blocks } = openTestStore(t, 1, 2);
  t.teardown(() => {
    nowMs = beganMs + 10 * 3_600_000;
  });
  for (const project of [1, 2]) record(blocks, block(project, 1));
  await blocks.flush(true);
  const surplus = 700;
  store.root.transactionSync(() => {
    for (let id = 2; id <= surplus; id++) store.blocks.putSync([1, id], { id, ...block(1, 1) });
    store.meta.putSync(metaKeys.nextId("block:1"), limits.blocksPerProjectMax + surplus - 1);
  });
  nowMs += 3 * 60_000;
  record(blocks, { ...block(1, 2), createdAt: new Date(nowMs).toISOString() });
  await blocks.flush(true);
  t.equal(
    store.blocks.getKeysCount({ start: [1, 0], end: [2, 0] }),
    1 + surplus - limits.sweepRowsMax - 1,
    "some at once",
  );
  store.projects.putSync(1, {} as Project);
  await sweep(store, { sessionMs: 1e15, sessionsMax: 1e9, blockMs: 1e15, trafficMs: 1e15 }, nowMs);
  t.equal(store.blockTallies.getCount(), 1, "that of the minute of now");
  t.equal(store.blocks.getKeysCount({ start: [1, 0], end: [2, 0] }), 1, "the rest by the sweep");
});

t.test("blocks whose session is erased while only their count is to be raised are not stored", async (t) => {
  const { store, blocks } = openTestStore(t, 1);
  for (let index = 0; index < most; index++) record(blocks, block(1, 1));
  await blocks.flush(true);
  record(blocks, block(1, 1));
  store.sessions.removeSync(sessionKey(1, decodeSessionToken(block(1, 1).sessionToken)!));
  t.equal(await blocks.flush(true), 0);
  t.equal((await counts(blocks))[0], 1);
});

t.test("one address records a quarter of a project's blocks in a day at most, all threads together", async (t) => {
  const nowMs = Date.UTC(2026, 10, 1, 12);
  const clock = { nowMs };
  const blocks = new Blocks({} as Store, () => clock.nowMs, 2);
  const share = limits.blocksPerProjectMax / 8;
  const record = (each: number, network: string) => {
    const sessionToken = `session ${network} ${Math.floor(each / 20)}`;
    const block = { projectId: 1, ruleId: 1, sessionToken, createdAt: new Date(clock.nowMs).toISOString() } as NewBlock;
    return blocks.record(block, sessionSubject(sessionToken), network);
  };
  let taken = 0;
  for (let each = 0; each < share + 2000; each++) if (record(each, "2001:db8:0:1::/64")) taken++;
  t.ok(taken <= share + 20, `${taken} of one network`);
  t.ok(taken >= share);
  t.ok(record(0, "192.0.2.1"), "another address");
  clock.nowMs += 86_400_000;
  t.ok(record(1_000_000, "2001:db8:0:1::/64"), "the next day");
});

t.test("a challenge is found by its reference, and is in no list; a flood of them leaves most out", async (t) => {
  const { blocks } = openTestStore(t, 1);
  const slices = new LongWork().begin(() => false);
  record(blocks, block(1, 1));
  const challenged = (number: number) => {
    const one = { ...block(1, number), action: "challenge" as const };
    const subject = challengeSubject(sessionSubject(one.sessionToken));
    const isKept = blocks.record(one, subject);
    blocks.refer(1, subject, `reference-${number}`);
    return isKept;
  };
  t.ok(challenged(2));
  record(blocks, block(1, 3));
  await blocks.flush();
  t.same(await rows(blocks, 1), ["3 3", "1 1"]);
  t.match(await blocks.find(1, "reference-2", slices), { action: "challenge", sessionToken: block(1, 2).sessionToken });
  const page = await blocks.page(1, 1, null);
  t.notOk(page instanceof Refusal);
  const next = page instanceof Refusal ? page : await blocks.page(1, 1, page.nextCursor);
  t.match(next, { rows: [{ id: 1 }], nextCursor: null }, "pages go on behind a challenge");

  const flood = Array.from({ length: 2 * limits.challengesRecordedMinuteMax }, (_, index) =>
    blocks.record(
      { ...block(1, 4), action: "challenge" },
      challengeSubject({ name: `visitor ${index}`, recordsMax: 1 }),
    ),
  );
  t.equal(flood.filter(Boolean).length, limits.challengesRecordedMinuteMax - 1);
  t.ok(record(blocks, block(1, 5)), "blocks have room");
});
