/** The sweep removes what is old, keeps what is not, and a session that came back. */

import t, { type Test } from "tap";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { sweep } from "../../src/store/expiry.js";
import {
  crossSessionKey,
  hourOf,
  idempotencyDay,
  idempotencyKey,
  seenIdsKey,
  sessionKey,
} from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { putSession } from "../support/stored-session.js";

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 10, 21, 12);
const retention = { sessionsMax: 1e9, sessionMs: 30 * dayMs, blockMs: 90 * dayMs, trafficMs: 400 * dayMs };
let counter = 0;

function putAged(store: Store, projectId: number, firstDaysAgo: number, lastDaysAgo: number): Buffer {
  const seenMs = (daysAgo: number): number => nowMs - daysAgo * dayMs;
  const token = putSession(store, projectId, seenMs(firstDaysAgo), counter++, seenMs(lastDaysAgo));
  const key = sessionKey(projectId, decodeSessionToken(token)!);
  store.repeats.putSync(seenIdsKey(key, 0), Buffer.alloc(8));
  return key;
}

function openTestStore(t: Test): Store {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  store.projects.putSync(1, { id: 1 } as never);
  store.projects.putSync(2, { id: 2 } as never);
  return store;
}

t.test("sessions go when their last batch is older than the retention, whatever their age", async (t) => {
  const store = openTestStore(t);
  const gone = [putAged(store, 1, 40, 31), putAged(store, 2, 31, 31)];
  const kept = [putAged(store, 1, 40, 1), putAged(store, 1, 29, 29), putAged(store, 2, 300, 0)];
  t.match(await sweep(store, retention, nowMs), { sessions: 2 });
  for (const key of gone) {
    t.notOk(store.sessions.doesExist(key));
    t.notOk(store.repeats.doesExist(seenIdsKey(key, 0)));
  }
  for (const key of kept) t.ok(store.sessions.doesExist(key));
});

t.test("more rows than one transaction takes all go, and those kept among them stay", async (t) => {
  const store = openTestStore(t);
  store.root.transactionSync(() => {
    for (let index = 0; index < 1300; index++) putAged(store, 1, 40, index % 13 === 0 ? 2 : 35);
  });
  t.match(await sweep(store, retention, nowMs), { sessions: 1200 });
  t.equal(store.sessions.getKeysCount({}), 100);
});

/** Write transactions from now on. */
function countingTransactions({ root }: Store): { count: number } {
  const seen = { count: 0 };
  const transaction = root.transaction.bind(root);
  Object.assign(root, {
    transaction: (work: () => void) => {
      seen.count++;
      return transaction(work);
    },
  });
  return seen;
}

t.test("visitors who keep coming back cost no write transaction, and let others have their turn", async (t) => {
  const store = openTestStore(t);
  store.root.transactionSync(() => {
    for (let index = 0; index < 2600; index++) putAged(store, 1 + (index % 2), 40, 2);
  });
  const transactions = countingTransactions(store);
  let turns = 0;
  const clock = setInterval(() => turns++, 0);
  t.match(await sweep(store, retention, nowMs), { sessions: 0 });
  clearInterval(clock);
  t.equal(transactions.count, 0);
  t.ok(turns > 0, "timers run between the pieces");
  putAged(store, 1, 40, 35);
  t.match(await sweep(store, retention, nowMs), { sessions: 1 });
  t.equal(transactions.count, 1, "only the piece in which something went");
});

t.test("idempotency keys stay for 24 hours and go after two days", async (t) => {
  const store = openTestStore(t);
  const hash = Buffer.alloc(32);
  for (const daysAgo of [0, 1, 2, 3]) {
    store.idempotency.putSync(idempotencyKey(idempotencyDay(nowMs - daysAgo * dayMs), 1, hash), Buffer.alloc(21));
  }
  t.match(await sweep(store, retention, nowMs), { idempotency: 2 });
});

t.test("cross-session counts of this hour and the one before stay", async (t) => {
  const store = openTestStore(t);
  for (const hoursAgo of [0, 1, 2, 30])
    store.crossSessionCounts.putSync(crossSessionKey(hourOf(nowMs) - hoursAgo, 1, 1, [0, 0]), Buffer.of(1));
  t.match(await sweep(store, retention, nowMs), { crossSessionCounts: 2 });
});

t.test("old blocks and counts go, by project", async (t) => {
  const store = openTestStore(t);
  for (const [id, daysAgo] of [100, 95, 10].entries()) {
    store.blocks.putSync([2, id + 1], {
      id: id + 1,
      createdAt: new Date(nowMs - daysAgo * dayMs).toISOString(),
    } as never);
    store.traffic.putSync([1, hourOf(nowMs - 5 * daysAgo * dayMs)], { events: 1 } as never);
  }
  t.match(await sweep(store, retention, nowMs), { blocks: 2, traffic: 2 });
  t.equal(store.blocks.getKeysCount({}), 1);
});
