/** The short rows that a first contact leaves: projects kept apart and counts of any size. */

import t, { type Test } from "tap";
import { mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { countAddress } from "../../src/ingest/cross-session-counts.js";
import { findIdempotent, hashIdempotencyKey, rememberIdempotent } from "../../src/ingest/idempotency.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { packCrossSessionCount, unpackCrossSessionCount } from "../../src/store/cross-session-count.js";
import { idempotencyKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";

const noon = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function openTestStore(t: Test): Store {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  return store;
}

function tokenOf(number: number, atMs: number): Buffer {
  const random = (into: Uint8Array): void => void Buffer.from(into.buffer, into.byteOffset).writeUInt32BE(number, 0);
  return mintSessionToken(atMs, random);
}

t.test("the same Idempotency-Key of two projects is two first contacts", (t) => {
  const store = openTestStore(t);
  const unit = new LmdbUnitOfWork(store);
  const hash = hashIdempotencyKey("same");
  store.root.transactionSync(() => {
    for (const projectId of [1, 2, 0x7fffffff, 0xffffffff]) {
      t.equal(findIdempotent(unit, projectId, hash, noon), null, `project ${projectId}`);
      rememberIdempotent(unit, projectId, hash, tokenOf(projectId, noon), noon);
    }
    for (const projectId of [1, 2, 0x7fffffff, 0xffffffff])
      t.same(findIdempotent(unit, projectId, hash, noon + 1), tokenOf(projectId, noon));
  });
  t.end();
});

t.test("a key resolves until 24 hours after its token was minted, and no other key of the day does", (t) => {
  const store = openTestStore(t);
  const unit = new LmdbUnitOfWork(store);
  const hash = hashIdempotencyKey("kept");
  const late = Date.UTC(2026, 10, 21, 23, 59, 59);
  store.root.transactionSync(() => {
    rememberIdempotent(unit, 1, hash, tokenOf(1, late), late);
    t.same(findIdempotent(unit, 1, hash, late + dayMs - 1), tokenOf(1, late));
    t.equal(findIdempotent(unit, 1, hash, late + dayMs), null);
    t.equal(findIdempotent(unit, 1, hashIdempotencyKey("kept "), late), null);
  });
  t.end();
});

t.test("a count is read as it was written, also where it no longer fits a byte, up to its bound", (t) => {
  for (const count of [1, 255, 256, 70_000, 0xffff_ffff])
    t.equal(unpackCrossSessionCount(packCrossSessionCount(count)), count);
  t.equal(unpackCrossSessionCount(packCrossSessionCount(2 ** 32)), 0xffff_ffff);
  for (const bytes of [0, 2, 3, 5]) t.equal(unpackCrossSessionCount(Buffer.alloc(bytes)), null);
  const store = openTestStore(t);
  const unit = new LmdbUnitOfWork(store);
  const counts = store.root.transactionSync(() =>
    Array.from({ length: 300 }, () => countAddress(unit, 1, "192.0.2.1", noon)),
  );
  t.same(
    counts,
    Array.from({ length: 300 }, (_, index) => index + 1),
  );
  store.root.transactionSync(() => {
    t.equal(countAddress(unit, 2, "192.0.2.1", noon), 1, "another project");
    t.equal(countAddress(unit, 1, "192.0.2.1", noon + hourMs), 301, "the hour after");
  });
  t.end();
});

t.test("only the first eleven bytes of a hash are kept, and the project is among them", (t) => {
  const hash = Buffer.alloc(32, 5);
  t.same(idempotencyKey(1, 0, hash), Buffer.from([0, 1, ...Buffer.alloc(11, 5)]));
  t.notSame(idempotencyKey(1, 1, hash), idempotencyKey(1, 0, hash));
  t.end();
});
