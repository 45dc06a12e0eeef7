/** What is known of a batch's paths: copies, however they were delivered, and the same visitor's events sent once more. */
import t, { type Test } from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { IngestEvent } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { combine, runEngines } from "../../src/engines/score.js";
import { newFeatures } from "../../src/engines/session-features.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { countPathReuse } from "../../src/ingest/path-reuse.js";
import { openStore } from "../../src/store/open-store.js";
import { alone, chromeFacts, event, lastRequest, startMs, wobblyPath } from "../engines/sessions.js";

const replayed = [300112, 300129, 300139];
const copied = 100302;

/** A project's sessions, by number: each shows these batches and is scored. */
function project(t: Test) {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  return (name: number, batches: readonly (readonly IngestEvent[])[], more: Partial<RequestFacts> = {}): number[] => {
    const features = newFeatures();
    const facts = { ...chromeFacts, nowMs: startMs, ...more };
    for (const [index, events] of batches.entries()) {
      store.root.transactionSync(() => {
        const owner = { projectId: 1, name, features, isFirst: index === 0 };
        foldBatch(features, events, facts, { ...alone, ...countPathReuse(unit, owner, events, facts) });
        unit.save();
      });
    }
    return combine(runEngines(features, lastRequest)).detectionIds;
  };
}

const system = { coalesced: 1.8, fractional: 0, dispatch_lag: 4.2, pointer_type: "mouse", trusted: true };

/** A page, then a path in two batches; its events have ids of their own each time. */
function visit(seed: number, measures = system): IngestEvent[][] {
  const rows = wobblyPath(240, seed);
  const part = (from: number) => {
    const points = rows
      .slice(from, from + 120)
      .map(([t, x, y]) => [t - rows[from]![0], x, y] as [number, number, number]);
    return [event("mouse", { t: 900 + rows[from]![0], points, count: 130, ...measures })];
  };
  return [[event("page", { path: "/" })], part(0), part(120)];
}

t.test("a copy of a path is a replay, whatever its sender says of its delivery", async (t) => {
  for (const coalesced of [1, 1.8, 60]) {
    const show = project(t);
    t.notOk(
      show(1, visit(1)).some((id) => replayed.includes(id)),
      "the original",
    );
    t.ok(show(2, visit(1, { ...system, coalesced })).includes(replayed[0]!), `${coalesced} moves an event`);
    t.notOk(
      show(3, visit(2)).some((id) => replayed.includes(id)),
      "another path",
    );
  }
});

t.test("copies are counted in whatever batch they come", async (t) => {
  const show = project(t);
  const fired = [1, 2, 3, 4].map((name) => show(name, visit(1)).includes(copied));
  t.same(fired, [false, false, false, true]);
});

t.test("a visitor's events that come again, of a second tab or a page loaded anew, are no replay", async (t) => {
  const show = project(t);
  const events = visit(1);
  const isReplay = (ids: number[]) => ids.some((id) => replayed.includes(id));
  t.notOk(isReplay(show(1, events)));
  t.notOk(isReplay(show(2, events)), "a second tab");
  t.notOk(isReplay(show(3, events)), "a reload");
  t.ok(isReplay(show(4, events)), "but not for ever");
});

t.test("the same events from another address or browser are a replay", async (t) => {
  for (const more of [{ ip: "198.51.100.77" }, { userAgent: "Mozilla/5.0 (Windows NT 10.0) Firefox/153.0" }]) {
    const show = project(t);
    const events = visit(1);
    show(1, events);
    t.ok(show(2, events, more).includes(replayed[0]!), JSON.stringify(more));
  }
});

t.test("a replay does not excuse another that has its ids", async (t) => {
  const show = project(t);
  show(1, visit(1));
  const copy = visit(1);
  for (const name of [2, 3, 4]) t.ok(show(name, copy).includes(replayed[0]!), `session ${name}`);
});

t.test("what number pads draw is nobody's path: along axes and diagonals, gathering speed", async (t) => {
  const speeds = [1, 2, 3, 5, 7, 9, 12, 15, 18, 18, 18];
  let [x, y, at] = [100, 100, 0];
  const points = [1, 0, 1, -1].flatMap((down) =>
    speeds.map((speed): [number, number, number] => {
      [x, y, at] = [x + speed, y + down * speed, at + 20];
      return [at, x, y];
    }),
  );
  t.same(shingleHashes(newFeatures(), [event("mouse", { t: 1, points })]), []);
  const bent = points.map(([t, x, y], index): [number, number, number] => [t, x, y + (index % 3)]);
  t.ok(shingleHashes(newFeatures(), [event("mouse", { t: 1, points: bent })]).length > 4);
});

t.test("a copy that is turned and scaled is known by its corners", async (t) => {
  const show = project(t);
  const random = seededRandom(5);
  let [x, y, at] = [400, 300, 0];
  const rows = Array.from({ length: 40 }, () => [80 + 1000 * random(), 80 + 600 * random()] as const).flatMap(
    ([toX, toY]) => {
      const [fromX, fromY] = [x, y];
      [x, y] = [toX, toY];
      return Array.from({ length: 14 }, (_, step): [number, number, number] => {
        // With a hand's speeds: even steps are those of a device, whose paths are no replay.
        const share = (1 - Math.cos((Math.PI * (step + 1)) / 14)) / 2;
        at += 16;
        return [at, fromX + share * (toX - fromX), fromY + share * (toY - fromY)];
      });
    },
  );
  const drawn = (turn: (x: number, y: number) => [number, number]) =>
    [0, 140, 280, 420].map((from) => {
      const points = rows.slice(from, from + 140).map(([t, px, py]): [number, number, number] => {
        const [toX, toY] = turn(px, py);
        return [t - rows[from]![0], Math.round(toX), Math.round(toY)];
      });
      return [event("mouse", { t: 900 + rows[from]![0], points, count: 140, ...system })];
    });
  const corners = [300141, 300142];
  t.notOk(
    show(
      1,
      drawn((px, py) => [px, py]),
    ).some((id) => corners.includes(id)),
  );
  const copy = show(
    2,
    drawn((px, py) => [0.8 * px - 0.3 * py + 200, 0.3 * px + 0.8 * py]),
  );
  t.same(
    corners.filter((id) => copy.includes(id)),
    corners,
  );
  t.notOk(
    copy.some((id) => replayed.includes(id)),
    "its steps are others",
  );
  t.notOk(
    show(3, visit(3)).some((id) => corners.includes(id)),
    "another's",
  );
});
