/** Counts across sessions: what is the same shape of a batch and what is another, and how long it is remembered. */

import t from "tap";
import type { EventPayload, IngestEvent, PointRow } from "../../src/contract/events/events.js";
import { countAddress, countShape } from "../../src/ingest/cross-session-counts.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { openStore } from "../../src/store/open-store.js";

const noon = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;
const path: PointRow[] = Array.from({ length: 9 }, (_, index) => [index * 16, 100 + index * 7, 200 + index * 3.5]);
let ids = 0;

function mouse(payload: EventPayload): IngestEvent {
  return { request_id: `shape${ids++}`, type: "mouse", received_at: new Date(noon + ids).toISOString(), payload };
}

t.test("a batch is known again by its keys and geometry, not by its ids and clock", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  const count = (payload: EventPayload, nowMs = noon, projectId = 1): number =>
    store.root.transactionSync(() => countShape(unit, projectId, [mouse(payload)], nowMs));
  t.equal(count({ t: 1, points: path, trusted: true, pointer_type: "mouse" }), 1);
  t.equal(count({ t: 977, points: path, trusted: true, pointer_type: "mouse" }), 2);
  t.equal(count({ t: 1, points: path, trusted: false, pointer_type: "mouse" }), 1, "another flag");
  t.equal(count({ t: 1, points: path, trusted: true, pointer_type: "pen" }), 1, "another word");
  t.equal(count({ t: 1, points: path, trusted: true }), 1, "a key less");
  const [first, ...others] = path;
  const moved: PointRow[] = [[first![0], first![1] + 0.1, first![2]], ...others];
  t.equal(count({ t: 1, points: moved, trusted: true, pointer_type: "mouse" }), 1, "a tenth of a pixel");
  t.equal(count({ t: 1, points: path.slice(0, 7) }), 0, "too little to say anything");
  t.equal(count({ t: 1, points: path, trusted: true, pointer_type: "mouse" }, noon, 2), 1, "another project");
  t.equal(count({ t: 1, points: path, trusted: true, pointer_type: "mouse" }, noon + hourMs), 3, "an hour later");
  t.equal(count({ t: 1, points: path, trusted: true, pointer_type: "mouse" }, noon + 3 * hourMs), 1, "and later still");
});

t.test("addresses are counted by hour", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  const count = (address: string): number => store.root.transactionSync(() => countAddress(unit, 1, address, noon));
  t.same(["203.0.113.9", "203.0.113.9", "2001:db8::1", "203.0.113.9"].map(count), [1, 2, 1, 3]);
});
