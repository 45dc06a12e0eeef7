/** The memory of pointer paths: what is known again, over transactions, threads, undone work and an older store's layout. */

import t from "tap";
import { LmdbPathReuseIndex } from "../../src/ingest/lmdb-path-reuse-index.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";

/** What the memory stands for: of each slot the newest shingle, and who showed it first. */
class Model {
  readonly #slots = new Map<number, { readonly hash: number; readonly session: number }>();

  record(session: number, hashes: readonly number[]): number {
    let matches = 0;
    for (const hash of hashes) {
      const held = this.#slots.get(hash % limits.shingleSlotsMax);
      if (held?.hash !== hash) this.#slots.set(hash % limits.shingleSlotsMax, { hash, session });
      else if (held.session !== session) matches++;
    }
    return matches;
  }
}

/** Park and Miller's generator: the same hashes in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
}

function record(
  store: Store,
  memory: LmdbPathReuseIndex,
  projectId: number,
  session: number,
  hashes: readonly number[],
): number {
  return store.root.transactionSync(() => {
    const matches = memory.record(projectId, session, hashes, { left: hashes.length });
    memory.save();
    return matches;
  });
}

t.test("two threads that take turns remember what one table of slots would", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const threads = [new LmdbPathReuseIndex(store), new LmdbPathReuseIndex(store)];
  const models = [new Model(), new Model()];
  const next = numbers(7);
  // Few slots, two shingles for each: many repeats, and many that put one another out.
  const hash = (): number => (next() % 100_000) * 13 + (next() % 2) * limits.shingleSlotsMax;
  let found = 0;
  for (let turn = 0; turn < 200; turn++) {
    const [project, session] = [next() % 2, 1 + (next() % 4)];
    const hashes = Array.from({ length: next() % 1600 }, hash);
    const thread = turn % 10 === 9 ? new LmdbPathReuseIndex(store) : threads[next() % 2]!;
    const matches = record(store, thread, project + 1, session, hashes);
    found += matches;
    if (matches !== models[project]!.record(session, hashes)) t.fail(`turn ${turn}: another count than the model's`);
  }
  t.ok(found > 1000, `${found} matches`);
  t.ok(
    [...store.pathReuse.getKeys()].some((key) => key[4] === 0),
    "the log has been taken into buckets on the way",
  );
});

t.test("what an undone transaction recorded is forgotten", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const memory = new LmdbPathReuseIndex(store);
  record(store, memory, 1, 10, [1, 2, 3]);
  const undone = () =>
    store.root.transactionSync(() => {
      memory.record(1, 10, [4, 5, 6], { left: 3 });
      memory.save();
      throw new Error("undone");
    });
  t.throws(undone, /undone/);
  memory.forget();
  t.equal(record(store, memory, 1, 11, [1, 2, 3, 4, 5, 6]), 3);
});

t.test("a session's own shingles are no replay, and projects know nothing of each other", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const memory = new LmdbPathReuseIndex(store);
  record(store, memory, 1, 10, [1, 2, 3]);
  t.equal(record(store, memory, 1, 10, [1, 2, 3]), 0);
  t.equal(record(store, memory, 2, 11, [1, 2, 3]), 0);
  t.equal(record(store, memory, 1, 11, [1, 2, 9]), 2);
});
