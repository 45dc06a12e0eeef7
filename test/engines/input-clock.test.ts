/** What the fold keeps of the clock behind input, of clean dispatch, and of wheels. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { EventPayload, PointRow } from "../../src/contract/events/events.js";
import { isCleanDispatch } from "../../src/engines/clean-dispatch.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { chromeEnvironment, chromeFacts, event, folded, lastRequest, wobblyPath } from "./sessions.js";

const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const facts = { ...chromeFacts, userAgent, secChUaPlatform: '"Linux"' };
const environment = event("env", { ...chromeEnvironment, user_agent: userAgent, platform: "Linux x86_64" });
const random = seededRandom(3);
const tenth = (ms: number) => Math.round(ms * 10) / 10;

/** The path of a hand with the times that X11 stamps, and with those of Chromium under Wayland, which are a driver's as well. */
const onGrid = wobblyPath(200, 9);
const offGrid = onGrid.map(([at, x, y]): PointRow => [tenth(at + random()), x, y]);

function slugsOf(events: Parameters<typeof folded>[0]): string[] {
  const features = folded([environment, ...events], { facts });
  return explain(features, { ...lastRequest, userAgent }).map((each) => each.slug);
}

t.test("the clock behind moves, clicks and keys changes nothing: platforms differ in it", async (t) => {
  const of = (points: typeof onGrid, fraction: () => number) => {
    const keys = seededRandom(5);
    let at = 0;
    const strokes = Array.from({ length: 30 }, (): [number, number] => {
      at += 90 + Math.floor(keys() * 160) + (keys() < 0.2 ? 400 : 0);
      return [tenth(at + fraction()), tenth(60 + Math.floor(keys() * 70) + fraction())];
    });
    const clicks = [900, 2100, 3300].map((ms) =>
      event("click", {
        t: ms,
        x: 300,
        y: 200,
        dwell: tenth(84 + fraction()),
        button: 0,
        pointer_type: "mouse",
        pressure: 0.5,
        trusted: true,
      }),
    );
    return slugsOf([
      event("mouse", { t: 10, points, fractional: 0, coalesced: 1, dispatch_lag: 5, trusted: true }),
      ...clicks,
      event("key", { t: 100, strokes, count: 30, trusted: true }),
    ]);
  };
  t.same(
    of(offGrid, random),
    of(onGrid, () => 0),
  );
});

t.test("a mouse that first moved by X11's clock and then by another one is a hand and a program", async (t) => {
  const moves = (at: number, points: readonly PointRow[], more: EventPayload = {}) =>
    event("mouse", {
      t: at,
      points: [...points],
      fractional: 0,
      coalesced: 1,
      dispatch_lag: 5,
      pointer_type: "mouse",
      trusted: true,
      ...more,
    });
  const firstWhole = (count: number) => onGrid.slice(0, count + 1);
  const strayed = onGrid.map(([at, x, y], index): PointRow => [index === 40 ? at + 0.4 : at, x, y]);
  const byTwoHands = ["acts-as-agents-do", "two-clocks"];
  const told = (...events: Parameters<typeof slugsOf>[0]) =>
    slugsOf(events).filter((slug) => byTwoHands.includes(slug));
  t.same(told(moves(10, onGrid), moves(60_010, offGrid)), byTwoHands);
  t.same(told(moves(10, firstWhole(12)), moves(60_010, offGrid)), byTwoHands);
  t.same(told(moves(10, firstWhole(11)), moves(60_010, offGrid)), [], "too few of the first to know the clock");
  for (const points of [onGrid, offGrid, strayed]) t.same(told(moves(10, points), moves(60_010, points)), []);
  const nextPage = event("page", { path: "/", nav_type: "navigate" });
  t.same(told(moves(10, onGrid), nextPage, moves(10, offGrid)), [], "a later page may be under another window system");
  t.same(told(moves(10, onGrid), moves(60_010, offGrid), nextPage, moves(10, onGrid)), byTwoHands, "once known");
  t.same(told(moves(10, offGrid), moves(60_010, onGrid)), [], "which came first is not known to be a hand's");
  t.same(told(moves(10, onGrid), moves(60_010, offGrid, { trusted: false })), [], "a script's moves");
  t.same(told(moves(10, onGrid), moves(60_010, offGrid, { pointer_type: "pen" })), [], "a pen has its own clock");
  const tablet = folded([environment, event("env", { touch_points: 5 }), moves(10, onGrid), moves(60_010, offGrid)], {
    facts,
  });
  t.notOk(
    explain(tablet, { ...lastRequest, userAgent }).some(({ slug }) => slug === "two-clocks"),
    "a touch screen",
  );
  const app = { ...facts, userAgent: `${userAgent} Electron/33.0.0` };
  const shown = folded([environment, moves(10, onGrid), moves(60_010, offGrid)], { facts: app });
  t.same(
    explain(shown, { ...lastRequest, userAgent: app.userAgent }).filter(({ slug }) => byTwoHands.includes(slug)),
    [],
    "an app that moves the mouse for its visitor",
  );
  const windows = folded([event("env", chromeEnvironment), moves(10, onGrid), moves(60_010, offGrid)]);
  t.notOk(explain(windows, lastRequest).some(({ slug }) => slug === "two-clocks"));
});

t.test("a press is not off X11's clock because Chromium stamps its release over an open list", async (t) => {
  const pressed = (target_tag: string) =>
    evidenceOf(
      folded(
        [
          environment,
          event("mouse", { t: 10, points: onGrid, fractional: 0, pointer_type: "mouse", trusted: true }),
          event("click", { t: 5000, x: 300, y: 200, dwell: 757.5, pointer_type: "mouse", trusted: true, target_tag }),
        ],
        { facts },
      ),
      { ...lastRequest, userAgent },
    ).splitHolds;
  t.equal(pressed("input"), 1);
  t.equal(pressed("select"), 0);
});

t.test("input without fractions is clean on Linux whatever its clock", async (t) => {
  for (const points of [onGrid, offGrid]) {
    const moves = event("mouse", { t: 10, points, fractional: 0, coalesced: 1, dispatch_lag: 5, trusted: true });
    t.equal(isCleanDispatch(folded([environment, moves], { facts })), true);
  }
});

t.test("Firefox is clean where it hides the window's position and its clock is too coarse for lags", async (t) => {
  const firefox = { ...facts, userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
  const clean = (measures: EventPayload) =>
    isCleanDispatch(
      folded([event("mouse", { t: 10, points: onGrid, trusted: true, ...measures })], { facts: firefox }),
    );
  t.equal(clean({ fractional: 0, dispatch_lag: 0, movement_mismatch: 1 }), true);
  t.equal(clean({ fractional: 0, dispatch_lag: 4.2, movement_mismatch: 0 }), true);
  t.equal(clean({ fractional: 0, dispatch_lag: 0.2, movement_mismatch: 0 }), false, "a driver's");
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
