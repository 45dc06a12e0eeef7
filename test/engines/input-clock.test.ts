/** What the fold keeps of the clock behind input, and of wheels: traces of a driver that no aid leaves, since aids go through the window system. */
import t from "tap";
import type { PointRow } from "../../src/contract/events.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { chromeEnvironment, chromeFacts, event, folded, lastRequest, seededRandom, wobblyPath } from "./sessions.js";

const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const facts = { ...chromeFacts, userAgent, secChUaPlatform: '"Linux"' };
const environment = event("env", { ...chromeEnvironment, user_agent: userAgent, platform: "Linux x86_64" });
const random = seededRandom(3);
const tenth = (ms: number) => Math.round(ms * 10) / 10;

/** The path of a hand in whole pixels, as the window system stamps it or as a driver does. */
const onGrid = wobblyPath(200, 9);
const offGrid = onGrid.map(([at, x, y]): PointRow => [tenth(at + random()), x, y]);

function slugsOf(events: Parameters<typeof folded>[0]): string[] {
  const features = folded([environment, ...events], { facts });
  return explain(features, { ...lastRequest, userAgent }).map((each) => each.slug);
}

t.test("a driver's clock shows without fractions of pixels, and however the moves were merged", async (t) => {
  for (const coalesced of [1, 2.5]) {
    const mouse = event("mouse", { t: 10, points: offGrid, fractional: 0, coalesced, trusted: true });
    t.ok(slugsOf([mouse]).includes("driver-clock"), `${coalesced}`);
  }
  t.notOk(slugsOf([event("mouse", { t: 10, points: onGrid, fractional: 0, coalesced: 1 })]).includes("driver-clock"));
});

t.test("one odd time at the beginning of each stretch spoils nothing", async (t) => {
  const stretches = Array.from({ length: 10 }, (_, index) => {
    const rows = onGrid.slice(index * 20, index * 20 + 20);
    const points = rows.map(([at, x, y], row): PointRow => [row === 0 ? 0 : tenth(at - rows[0]![0] + 0.4), x, y]);
    return event("mouse", { t: rows[0]![0], points, trusted: true });
  });
  t.notOk(slugsOf(stretches).includes("driver-clock"));
});

t.test("pens have a clock of their own, and a script's moves are not a driver's", async (t) => {
  const pen = event("mouse", {
    t: 10,
    points: offGrid,
    pointer_type: "pen",
    fractional: 1,
    coalesced: 1,
    trusted: true,
  });
  t.notOk(slugsOf([pen]).includes("driver-clock"));
  const script = event("mouse", { t: 10, points: offGrid, trusted: false });
  t.notOk(slugsOf([script]).includes("driver-clock"));
});

t.test("a tablet that calls itself a desktop has other clocks", async (t) => {
  const touch = event("env", { ...chromeEnvironment, platform: "Linux armv81", touch_points: 5 });
  t.notOk(slugsOf([touch, event("mouse", { t: 10, points: offGrid, trusted: true })]).includes("driver-clock"));
});

t.test("keys show the clock as well, and make a bot band", async (t) => {
  const typed = (jitter: () => number) => {
    let at = 0;
    const strokes = Array.from({ length: 30 }, (): [number, number] => {
      at += 90 + Math.floor(random() * 160) + (random() < 0.2 ? 400 : 0);
      return [tenth(at + jitter()), tenth(60 + Math.floor(random() * 70) + jitter())];
    });
    return event("key", { t: 100, strokes, count: 30, trusted: true });
  };
  const driven = [environment, typed(random)];
  t.ok(slugsOf(driven).includes("driver-key-clock"));
  const { score } = combine(runEngines(folded(driven, { facts }), { ...lastRequest, userAgent }));
  t.ok(score < 30, `${score}`);
  t.notOk(slugsOf([typed(() => 0)]).includes("driver-key-clock"));
});

t.test("a wheel that leaps is told from one that the browser animates, and from a script", async (t) => {
  const bursts = (count: number, scroll_input: string) =>
    [0, 1, 2, 3, 4].map((index) =>
      event("scroll", { t: 900 * index, dt: 0, dx: 0, dy: 120, direction: "down", count, scroll_input }),
    );
  t.ok(slugsOf(bursts(1, "wheel")).includes("leaping-wheel"));
  t.notOk(slugsOf(bursts(9, "wheel")).includes("leaping-wheel"));
  t.notOk(slugsOf(bursts(1, "none")).includes("leaping-wheel"));
  const { score } = combine(runEngines(folded([environment, ...bursts(1, "wheel")], { facts }), lastRequest));
  t.ok(score >= 30, `smooth scrolling may be off: ${score}`);
});
