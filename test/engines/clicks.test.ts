/** Clicks in the fold: they find their place in the path by time, and say how the pointer came to them. */
import t from "tap";
import type { EventPayload } from "../../src/contract/events/events.js";
import type { CrawlerClaim } from "../../src/contract/evidence/visitor.js";
import { setCrawlerClaim } from "../../src/engines/fold-batch.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { F, type newFeatures } from "../../src/engines/session-features.js";
import { chromeEnvironment, event, folded, lastRequest, wobblyPath } from "./sessions.js";

const idsOf = (features: ReturnType<typeof newFeatures>) => combine(runEngines(features, lastRequest)).detectionIds;

t.test("a click recorded before the path around it is folded at its time", async (t) => {
  const rows = wobblyPath(120, 6);
  const clicks = [30, 60, 90].map((index) => {
    const [at, x, y] = rows[index]!;
    return event("click", { t: at, x, y, dwell: 80 });
  });
  const path = event("mouse", { t: 0, points: rows });
  const listedFirst = folded([...clicks, path]);
  const inOrder = folded([
    event("mouse", { t: 0, points: rows.slice(0, 30) }),
    clicks[0]!,
    event("mouse", { t: rows[30]![0], points: rows.slice(30, 60).map(([at, x, y]) => [at - rows[30]![0], x, y]) }),
    clicks[1]!,
    event("mouse", { t: rows[60]![0], points: rows.slice(60, 90).map(([at, x, y]) => [at - rows[60]![0], x, y]) }),
    clicks[2]!,
    event("mouse", { t: rows[90]![0], points: rows.slice(90).map(([at, x, y]) => [at - rows[90]![0], x, y]) }),
  ]);
  // What depends on how many events the path was cut into.
  for (const field of [F.events, F.rowGaps]) listedFirst.numbers[field] = inOrder.numbers[field]!;
  t.same(listedFirst.numbers, inOrder.numbers);
  t.equal(listedFirst.numbers[F.clicksJumped], 0);
});

t.test("clicks that an aid makes as a driver does count once, and with a driver's trace each for itself", async (t) => {
  const events = [0, 1, 2, 3].flatMap((index) => {
    const place = { x: 100 + 217 * index, y: 80 + 143 * index };
    return [
      event("mouse", { t: 900 * index, ...place }),
      event("click", { t: 900 * index + 3, ...place, dwell: 1, off_center: 0 }),
    ];
  });
  const ids = idsOf(folded([event("env", chromeEnvironment), ...events]));
  for (const id of [300113, 300115, 300501]) t.ok(ids.includes(id), `${id}`);
  const scoreWith = (more: EventPayload) =>
    combine(runEngines(folded([event("env", { ...chromeEnvironment, ...more }), ...events]), lastRequest)).score;
  t.equal(scoreWith({}), 31);
  t.ok(scoreWith({ driver_artifacts: ["__playwright__binding__"] }) <= 15);
});

t.test("clicks by key and by finger say nothing of a mouse", async (t) => {
  const byKey = [1, 2, 3, 4].map((index) => event("click", { t: 800 * index, x: 0, y: 0, pointer_type: "none" }));
  const byFinger = [1, 2, 3, 4].map((index) =>
    event("click", { t: 700 * index, x: 90 * index, y: 200 * index, dwell: 0, pointer_type: "touch" }),
  );
  t.same(idsOf(folded([...byKey, ...byFinger])), []);
});

t.test("a finger's swipes are not measured as a mouse's strokes", async (t) => {
  const swipes = Array.from({ length: 12 }, (_, index) =>
    event("touch", {
      t: index * 1000,
      pointer_type: "touch",
      points: Array.from({ length: 14 }, (_, step) => [step * 16, 200, 700 - step * 30]),
    }),
  );
  const features = folded([event("env", chromeEnvironment), ...swipes]);
  t.equal(features.numbers[F.steps], 0);
  t.same(idsOf(features), []);
  t.ok(combine(runEngines(features, lastRequest)).score > 60);
});

t.test("the verdict on a claimed crawler becomes evidence", async (t) => {
  const bytespider = "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)";
  const slugs = (claim: CrawlerClaim) => {
    const features = folded([event("page", { path: "/" })]);
    setCrawlerClaim(features, claim);
    // The claim is the name's: a browser's own would be a view in an app.
    return explain(features, { ...lastRequest, userAgent: bytespider }).map((each) => each.slug);
  };
  t.same(slugs("none"), []);
  t.same(slugs("spoofed"), ["spoofed-crawler"]);
  t.same(slugs("verified"), ["verified-crawler"]);
  t.same(slugs("pending"), ["unconfirmed-crawler-claim"]);
  t.same(slugs("unverifiable"), ["unconfirmed-crawler-claim"]);
});

t.test("a new page begins a path: its clock and the pointer's place owe nothing to the page before", async (t) => {
  const visit = (navType: string, pages = [0, 1, 2, 3, 4, 5]) =>
    pages.flatMap((page) => {
      const rows = wobblyPath(12, page + 1).map(([at, x, y]) => [at, x + 150 * (page % 2), y] as const);
      return [
        event("page", { path: `/${page}`, nav_type: navType, t: 40 }),
        ...rows.map(([at, x, y]) => event("mouse", { t: 300 + 900 * page + at, x, y })),
      ];
    });
  t.equal(folded(visit("navigate")).numbers[F.resumes], 0);
  t.equal(folded(visit("navigate"), { batchSize: 1 }).numbers[F.resumes], 0);
  t.equal(folded(visit("spa")).numbers[F.resumes], 5);
  const restarted = [5, 4, 3, 2, 1, 0];
  t.equal(folded(visit("navigate", restarted)).numbers[F.timeReversals], 0, "a clock that starts anew is no forgery");
  t.equal(folded(visit("spa", restarted)).numbers[F.timeReversals], 5);
});
