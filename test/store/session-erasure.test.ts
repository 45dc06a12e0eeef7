/** Erasing one session reads and removes what it has: the rows that are read are counted, in a small store and in a larger one. */

import t, { type Test } from "tap";
import { newScoredState } from "../../src/contract/sessions/session.js";
import { encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { readStoredSession } from "../../src/control-plane/sessions/stored-session.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { newFeatures, packedBytesMax, packFeatures } from "../../src/engines/session-features.js";
import { hashIdempotencyKey } from "../../src/ingest/idempotency.js";
import { sweep } from "../../src/store/expiry.js";
import { idempotencyDay, idempotencyKey, sessionKey } from "../../src/store/keys.js";
import { putBlock } from "../../src/store/naming-rows.js";
import { openStore } from "../../src/store/open-store.js";
import { SessionCount } from "../../src/store/session-count.js";
import { encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";
import { rowsOf } from "../../src/store/store-size.js";
import { sessionTableNames, tableNames } from "../../src/store/tables.js";
import { currentSchema } from "../../src/store/upgrades.js";
import { ruleBlock } from "../support/rule-block.js";

const atMs = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
const dayMs = 86_400_000;
const packed = Buffer.alloc(packedBytesMax + 256);
const features = packed.subarray(0, packFeatures(newFeatures(), packed, 0));

const tokenOf = (number: number): Buffer =>
  mintSessionToken(atMs, (into) => void Buffer.from(into.buffer, into.byteOffset).writeUInt32BE(number, 0));
const textOf = (number: number): string => encodeSessionToken(tokenOf(number));
const contactKeyOf = (number: number): Buffer =>
  idempotencyKey(idempotencyDay(atMs), 1, hashIdempotencyKey(`key ${number}`));
const blockOf = (number: number, id: number) => ({ id, ...ruleBlock(1, textOf(number), { atMs }), count: 1 });

/** Sessions 1 to `sessions` of project 1, each with an `Idempotency-Key` row and two blocks; as schema 6 had them where `isOld`. */
function fill(store: Store, sessions: number, isOld = false): void {
  store.root.transactionSync(() => {
    const count = new SessionCount(store, 1);
    for (let number = 1; number <= sessions; number++) {
      const record = { state: newScoredState(atMs), seenIds: Buffer.alloc(0), features };
      const contactKey = isOld ? {} : { contactKey: contactKeyOf(number) };
      store.sessions.putSync(sessionKey(1, tokenOf(number)), encodeSession({ ...record, ...contactKey }));
      store.idempotency.putSync(contactKeyOf(number), tokenOf(number));
      for (const id of [2 * number - 1, 2 * number]) {
        if (isOld) store.blocks.putSync([1, id], blockOf(number, id));
        else putBlock(store, 1, blockOf(number, id));
      }
    }
    count.add(sessions);
    count.save();
    store.meta.putSync("next:block:1", 2 * sessions);
    const key = { siteKey: null, privateKeyHash: null };
    store.projects.putSync(1, { id: 1, accountId: 1, name: "Shop", createdAt: "", ...key } as never);
  });
}

const methods = ["get", "getBinary", "getBinaryFast", "doesExist", "getRange", "getKeys"] as const;

/** Counts the rows that are read in any table from now on; returns how many. */
function countReads(store: Store): () => number {
  let reads = 0;
  for (const table of tableNames) {
    const target = store[table] as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const method of methods) {
      const read = target[method]!.bind(target);
      target[method] = (...args) => {
        const found = read(...args);
        if (method !== "getRange" && method !== "getKeys") {
          reads++;
          return found;
        }
        return (found as { map(visit: (row: unknown) => unknown): unknown }).map((row) => {
          reads++;
          return row;
        });
      };
    }
  }
  return () => reads;
}

const erasedRows = {
  ...Object.fromEntries(sessionTableNames.map((name) => [name, 0])),
  sessions: 1,
  idempotency: 1,
  blocks: 2,
};

/** Rows that are read to show session 7 and to erase it. */
async function readsOf(t: Test, sessions: number): Promise<{ show: number; erase: number }> {
  const store = openStore(t.testdir());
  fill(store, sessions);
  const reads = countReads(store);
  const shown = await readStoredSession(store, textOf(7));
  t.match(shown, { idempotencyKeys: 1, blocks: [{ id: 13 }, { id: 14 }] });
  const show = reads();
  t.same(await eraseSession(store, textOf(7), 1), { projectId: 1, ...erasedRows });
  const erase = reads() - show;
  t.equal(rowsOf(store.sessions), sessions - 1);
  t.equal(rowsOf(store.idempotency), sessions - 1);
  t.equal(rowsOf(store.blocks), 2 * (sessions - 1));
  t.equal(rowsOf(store.namingRows), 2 * (sessions - 1));
  await store.close();
  return { show, erase };
}

t.test("as many rows are read among two thousand sessions as among ten", async (t) => {
  const few = await readsOf(t, 10);
  const many = await readsOf(t, 2000);
  t.same(many, few);
  t.ok(few.erase > 5 && few.erase < 50, `${few.erase} rows to erase`);
  t.ok(few.show > 5 && few.show < 50, `${few.show} rows to show`);
});

t.test("an `Idempotency-Key` that another session has taken over since stays its own", async (t) => {
  const store = openStore(t.testdir());
  fill(store, 3);
  store.idempotency.putSync(contactKeyOf(2), tokenOf(3));
  t.match(await eraseSession(store, textOf(2), 1), { idempotency: 0, blocks: 2 });
  t.same(store.idempotency.get(contactKeyOf(2)), tokenOf(3));
  await store.close();
});

t.test("a session of before the upgrade is erased whole after it, by as few reads", async (t) => {
  const dir = t.testdir();
  const schema6 = { version: 6, upgrades: currentSchema.upgrades.filter(({ to }) => to <= 6) };
  const older = openStore(dir, schema6);
  fill(older, 1000, true);
  t.equal(rowsOf(older.namingRows), 0);
  await older.close();
  const store = openStore(dir);
  const reads = countReads(store);
  t.same(await eraseSession(store, textOf(7), 1), { projectId: 1, ...erasedRows });
  t.ok(reads() < 50, `${reads()} rows`);
  t.equal(store.idempotency.get(contactKeyOf(7)), undefined);
  t.equal(rowsOf(store.namingRows), 3 * 999);
  const faulty = checkStore(store).faults.filter(({ table }) => ["blocks", "naming_rows", "sessions"].includes(table));
  t.same(faulty, []);
  const kept = { sessionMs: 1e12, sessionsMax: 1e9, blockMs: 1e12, trafficMs: 1e12 };
  await sweep(store, kept, atMs + dayMs);
  t.equal(rowsOf(store.namingRows), 3 * 999, "a day later the keys still lead to the sessions");
  await sweep(store, kept, atMs + 2 * dayMs + 2000);
  t.equal(rowsOf(store.namingRows), 2 * 999, "after two days the blocks alone are named");
  await sweep(store, { ...kept, blockMs: dayMs }, atMs + 2 * dayMs);
  t.equal(rowsOf(store.namingRows), 0, "and go with them");
  await store.close();
});

t.test("the check finds a block that its session does not know, and a name that leads nowhere", async (t) => {
  const store = openStore(t.testdir());
  fill(store, 2);
  store.blocks.putSync([1, 9], blockOf(1, 9));
  store.blocks.removeSync([1, 3]);
  const faults = checkStore(store).faults.filter(({ table }) => ["blocks", "naming_rows"].includes(table));
  t.match(faults, [
    { table: "blocks", key: "1/9", fault: "is not among those of its session" },
    { table: "naming_rows", fault: "leads to blocks 1,3, which leads elsewhere" },
  ]);
  await store.close();
});
