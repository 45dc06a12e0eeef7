/** Counts of verdicts collected in memory: what a flush has stored when it resolves, and what is kept when it can't. */

import t from "tap";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { TrafficCounter } from "../../src/recording/traffic.js";
import type { HourlyCounts } from "../../src/store/hourly-counts.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";

const noonMs = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;

t.test("a flush has stored what an earlier one is still storing", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const counter = new TrafficCounter(store);
  counter.countVerdict(1, "definite", "block", "session", noonMs);
  const earlier = counter.flush();
  await counter.flush();
  t.match(store.traffic.get([1, hourOf(noonMs)]), { verdicts: { definite: 1 }, actions: { block: 1 } });
  await earlier;
});

t.test("requests without a scored session are counted among all, and apart", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const counter = new TrafficCounter(store);
  counter.countVerdict(1, "definite", "block", "request", noonMs);
  counter.countVerdict(1, "definite", "allow", "session", noonMs);
  await counter.flush();
  counter.countVerdict(1, "likely_human", "allow", "request", noonMs);
  await counter.flush();
  t.match(store.traffic.get([1, hourOf(noonMs)]), {
    verdicts: { definite: 2, likely_human: 1 },
    actions: { block: 1, allow: 2 },
    requests: { verdicts: { definite: 1, likely_human: 1 }, actions: { block: 1, allow: 1 } },
  });
});

t.test("batches of the hour add to its events and leave all that was counted of verdicts", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const counter = new TrafficCounter(store);
  counter.countVerdict(1, "definite", "block", "request", noonMs);
  counter.countChallenge(1, 7, { issued: 1 }, noonMs);
  await counter.flush();
  const before = store.traffic.get([1, hourOf(noonMs)]);
  const unit = new LmdbUnitOfWork(store);
  store.root.transactionSync(() => {
    unit.addTraffic(1, "2026-11", 1, hourOf(noonMs), 5, 1);
    unit.save();
  });
  t.same(store.traffic.get([1, hourOf(noonMs)]), { ...before, events: 5, sessions: 1 });
});

t.test("an hour that ends while a flush is under way loses nothing", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const counter = new TrafficCounter(store);
  counter.countVerdict(1, "definite", "block", "session", noonMs);
  const earlier = counter.flush();
  counter.countVerdict(1, "definite", "block", "session", noonMs);
  counter.countVerdict(1, "verified", "allow", "session", noonMs + hourMs);
  await Promise.all([earlier, counter.flush()]);
  t.match(store.traffic.get([1, hourOf(noonMs)]), { verdicts: { definite: 2 } });
  t.match(store.traffic.get([1, hourOf(noonMs) + 1]), { verdicts: { verified: 1 } });
});

t.test("what could not be stored is counted by the next flush", async (t) => {
  const dir = t.testdir();
  const store = openStore(dir);
  t.teardown(() => store.close());
  let isBroken = true;
  const counts: HourlyCounts = {
    add: (hours) => (isBroken ? Promise.reject(new Error("full")) : store.counts.add(hours)),
    read: (projectId, from, to) => store.counts.read(projectId, from, to),
    eventsInMonth: (accountId, month) => store.counts.eventsInMonth(accountId, month),
  };
  const failing = { ...store, counts };
  const counter = new TrafficCounter(failing);
  counter.countVerdict(1, "definite", "block", "request", noonMs);
  counter.countVerdict(1, "definite", "block", "request", noonMs + hourMs);
  await t.rejects(counter.flush(), /full/);
  counter.countVerdict(1, "definite", "block", "session", noonMs + hourMs);
  isBroken = false;
  await counter.flush();
  t.match(store.traffic.get([1, hourOf(noonMs)]), { verdicts: { definite: 1 } });
  t.match(store.traffic.get([1, hourOf(noonMs) + 1]), {
    verdicts: { definite: 2 },
    requests: { verdicts: { definite: 1 } },
  });
});
