/** The short rows that a first contact leaves: projects kept apart, counts of any size, and those of a store of schema 2. */

import t, { type Test } from "tap";
import { Hash64 } from "../../src/contract/hashes.js";
import { mintSessionToken } from "../../src/contract/session-token.js";
import { checkStore } from "../../src/control-plane/store-check.js";
import { countAddress } from "../../src/ingest/cross-session-counts.js";
import { findIdempotent, hashIdempotencyKey, rememberIdempotent } from "../../src/ingest/idempotency.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { packCrossSessionCount, unpackCrossSessionCount } from "../../src/store/cross-session-count.js";
import { hourOf, idempotencyDay, idempotencyKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { SessionTables } from "../../src/store/session-tables.js";
import type { Store } from "../../src/store/store.js";
import { currentSchema } from "../../src/store/upgrades.js";

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

const schema2 = { version: 2, upgrades: currentSchema.upgrades.filter(({ to }) => to <= 2) };
const contacts = 2600;
const projectOf = (number: number): number => 1 + (number % 2);
const contactMs = (number: number): number => noon - (number % 3) * 7 * hourMs;
/** More than a byte holds for some. */
const seen = (number: number): number => 1 + number * 2;

/** As schema 2 had it: the SHA-256 to 16 bytes, the project, the time twice. */
function putContact(part: SessionTables, number: number, token: Buffer): void {
  const key = Buffer.alloc(22);
  key.writeUInt16BE(idempotencyDay(contactMs(number)), 0);
  key.writeUInt32BE(projectOf(number), 2);
  hashIdempotencyKey(`key ${number}`).copy(key, 6, 0, 16);
  const value = Buffer.alloc(29);
  value.writeDoubleLE(contactMs(number), 0);
  value.set(token, 8);
  part.idempotency.putSync(key, value);
}

function putCrossSessionCount(part: SessionTables, number: number): void {
  const words: number[] = [];
  const hash = new Hash64();
  hash.addText(`192.0.2.${number}`);
  hash.push(words);
  const key = Buffer.alloc(17);
  key.writeUInt32BE(hourOf(noon), 0);
  key[4] = 1;
  key.writeUInt32BE(projectOf(number), 5);
  key.writeInt32BE(words[0]!, 9);
  key.writeInt32BE(words[1]!, 13);
  const count = Buffer.alloc(4);
  count.writeUInt32LE(seen(number), 0);
  part.crossSessionCounts.putSync(key, count);
}

t.test("first contacts and counts of a store of schema 2 are known after the upgrade", async (t) => {
  const dir = t.testdir();
  const older = openStore(dir, schema2);
  older.root.transactionSync(() => {
    for (let number = 0; number < contacts; number++) {
      putContact(older, number, tokenOf(number, contactMs(number)));
      putCrossSessionCount(older, number);
    }
  });
  await older.close();
  const store = openStore(dir);
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  const wrong: number[] = [];
  store.root.transactionSync(() => {
    for (let number = 0; number < contacts; number++) {
      const token = findIdempotent(unit, projectOf(number), hashIdempotencyKey(`key ${number}`), noon);
      const count = countAddress(unit, projectOf(number), `192.0.2.${number}`, noon);
      const isKnown = token?.equals(tokenOf(number, contactMs(number))) ?? false;
      if (!isKnown || count !== seen(number) + 1) wrong.push(number);
    }
  });
  t.equal(store.idempotency.getCount(), contacts, "no row of schema 2 is left");
  t.equal(store.crossSessionCounts.getCount(), contacts);
  t.same(wrong, []);
  t.same(checkStore(store).faults, []);
});

t.test("only the first eleven bytes of a hash are kept, and the project is among them", (t) => {
  const hash = Buffer.alloc(32, 5);
  t.same(idempotencyKey(1, 0, hash), Buffer.from([0, 1, ...Buffer.alloc(11, 5)]));
  t.notSame(idempotencyKey(1, 1, hash), idempotencyKey(1, 0, hash));
  t.end();
});
