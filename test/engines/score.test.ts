/** Scoring: abstention, strength, combination and their independence of order. */
import t from "tap";
import type { EventPayload, IngestEvent } from "../../src/contract/events/events.js";
import { neutralScore } from "../../src/contract/evidence/evidence.js";
import { detections } from "../../src/detections/catalogue.js";
import type { Detection } from "../../src/detections/detection.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { combine, contributionOf, explain, firedDetections, runEngines } from "../../src/engines/score.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { newFeatures } from "../../src/engines/session-features.js";
import { alone, chromeEnvironment, chromeFacts, event, folded, lastRequest, startMs, wobblyPath } from "./sessions.js";

const nothing = {
  heuristics: { score: null, fired: [] },
  js_detection: { score: null, fired: [] },
  behavioral: { score: null, fired: [] },
};

t.test("when every engine abstains the score is neutral and nothing is blamed", async (t) => {
  t.same(combine(nothing), { score: neutralScore, detectionIds: [] });
  t.same(runEngines(newFeatures(), lastRequest), nothing);
});

t.test("a reader who never moves is no bot", async (t) => {
  const features = folded([
    event("page", { path: "/" }),
    event("env", chromeEnvironment),
    event("heartbeat", { idle_ms: 9000 }),
  ]);
  const { score, detectionIds } = combine(runEngines(features, lastRequest));
  t.ok(score >= 55 && score <= 70, `${score}`);
  t.same(detectionIds, []);
});

t.test("without a word on its environment no behaviour lifts a session above the neutral score", async (t) => {
  const path = Array.from({ length: 40 }, (_, index) => event("touch", { t: index * 900, dwell: 80 + index }));
  const scored = (events: IngestEvent[]) => combine(runEngines(folded(events), lastRequest)).score;
  t.equal(scored(path), neutralScore);
  t.equal(scored([...path, event("page", { path: "/", ...chromeEnvironment })]), neutralScore, "in another event");
  t.ok(scored([...path, event("env", chromeEnvironment)]) > 80);
});

t.test("the score rises towards 99 with behaviour", async (t) => {
  let before = neutralScore;
  for (const points of [50, 300, 1500]) {
    const path = wobblyPath(points, 4).map(([at, x, y]) => event("mouse", { t: at, x, y }, startMs + at));
    const { score } = combine(runEngines(folded([event("env", chromeEnvironment), ...path]), lastRequest));
    t.ok(score > before, `${score} after ${points} points`);
    before = score;
  }
  t.ok(before >= 90);
});

t.test("the lowest engine decides, and the strongest detection comes first", async (t) => {
  const results = {
    heuristics: { score: 48, fired: [{ id: 100210, contribution: 0.5 }] },
    js_detection: {
      score: 31,
      fired: [
        { id: 200401, contribution: 1.2 },
        { id: 200301, contribution: 0 },
      ],
    },
    behavioral: { score: 12, fired: [{ id: 300106, contribution: 2.4 }] },
  };
  t.same(combine(results), { score: 12, detectionIds: [300106, 200401, 100210, 200301] });
});

t.test("human behaviour does not hide proven automation", async (t) => {
  const path = wobblyPath(1500, 4).map(([at, x, y]) => event("mouse", { t: at, x, y }));
  const features = folded([event("env", { ...chromeEnvironment, webdriver: true }), ...path]);
  const { score, detectionIds } = combine(runEngines(features, lastRequest));
  t.ok(score <= 5, `${score}`);
  t.equal(detectionIds[0], 100102);
});

t.test("weak facts of any number never make a bot by themselves, and weigh beside a stronger one", async (t) => {
  const window = { screen_w: 800, screen_h: 600, outer_w: 800, outer_h: 560, inner_w: 780, inner_h: 440 };
  const odd = { ...window, stack_probe: true, languages: [], plugins: 0, color_depth: 8, cpu: 0 };
  const scoreOf = (more: EventPayload) =>
    runEngines(folded([event("env", { ...chromeEnvironment, ...odd, ...more })]), lastRequest).js_detection;
  const alone = scoreOf({});
  t.ok(alone.fired.length >= 5, `${alone.fired.length} facts`);
  t.equal(alone.score, 31);
  t.ok(scoreOf({ native_tampered: ["navigator.webdriver"] }).score! < 15);
});

t.test("the order of the catalogue does not change what fires or what it weighs", async (t) => {
  const facts = {
    ...chromeFacts,
    secFetchSite: "",
    secFetchMode: "",
    secFetchDest: "",
    secChUa: "",
    acceptLanguage: "",
  };
  const features = folded(
    [
      event("env", {
        ...chromeEnvironment,
        outer_w: 0,
        outer_h: 0,
        native_tampered: ["x"],
        worker_mismatch: ["platform"],
      }),
    ],
    {
      facts,
    },
  );
  const evidence = evidenceOf(features, lastRequest);
  const weighed = (list: readonly Detection[]) => {
    const fired = firedDetections(evidence, list);
    return fired.map((each) => `${each.id} ${contributionOf(each, fired)}`).sort();
  };
  const forwards = weighed(detections);
  t.ok(forwards.length >= 4);
  t.ok(
    forwards.some((each) => each.endsWith(" 0")),
    "one sees a cause that another sees too",
  );
  t.same(weighed([...detections].reverse()), forwards);
});

t.test(
  "a plain HTTP client under a browser's name is confident automation, its missing headers taken together",
  async (t) => {
    const facts = {
      ...chromeFacts,
      secFetchSite: "",
      secFetchMode: "",
      secFetchDest: "",
      secChUa: "",
      acceptEncoding: "gzip, deflate",
    };
    const { score } = combine(runEngines(folded([event("page", { path: "/" })], { facts }), lastRequest));
    t.ok(score <= 15, `${score}`);
  },
);

t.test("an explanation names each detection with the values it read", async (t) => {
  const features = folded([event("env", { ...chromeEnvironment, webdriver: true })]);
  t.same(explain(features, lastRequest), [
    { id: 100102, slug: "navigator-webdriver", engine: "heuristics", contribution: 4.3, evidence: { webdriver: true } },
  ]);
});

t.test("counts that other sessions give are folded", async (t) => {
  const path = wobblyPath(30, 4).map(([at, x, y]) => event("mouse", { t: at, x, y }));
  const features = folded(path, { crossSession: { ...alone, sessionsWithShape: 9 } });
  t.ok(combine(runEngines(features, lastRequest)).detectionIds.includes(100302));
});

t.test("events from before the session are seen, a wrong clock and a batch that waited are not", async (t) => {
  const hour = 3_600_000;
  const firedWith = (batches: readonly (readonly [eventMs: number, serverMs: number])[]) => {
    const features = newFeatures();
    for (const [eventMs, serverMs] of batches) {
      foldBatch(
        features,
        [event("heartbeat", {}, startMs + eventMs)],
        { ...chromeFacts, nowMs: startMs + serverMs },
        alone,
      );
    }
    return combine(runEngines(features, lastRequest)).detectionIds.includes(100407);
  };
  t.equal(
    firedWith([
      [0, 0],
      [-2 * hour, 10_000],
      [20_000, 20_000],
    ]),
    true,
    "two hours before the session",
  );
  t.equal(
    firedWith([
      [0, 0],
      [-2 * hour, 10_000],
      [-2 * hour + 10_000, 20_000],
    ]),
    false,
    "a clock that was set back",
  );
  t.equal(
    firedWith([
      [-48 * hour, 0],
      [-48 * hour + 5000, 5000],
    ]),
    false,
    "two days behind, steadily",
  );
  t.equal(
    firedWith([
      [0, 0],
      [5000, 9 * hour],
    ]),
    false,
    "a batch that waited while the computer slept",
  );
});
