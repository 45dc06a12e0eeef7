/** Pointers that leap with human pauses, and wheels that a timer turns, beside people who come near to either. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { EventPayload, IngestEvent, StrokeRow } from "../../src/contract/events/events.js";
import { combine, runEngines } from "../../src/engines/score.js";
import { chromeEnvironment, event, folded, lastRequest, startMs } from "../engines/sessions.js";

const travelless = 300508;
const metronome = 300303;
const random = seededRandom(31);
const between = (low: number, high: number) => low + (high - low) * random();
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

function result(events: readonly IngestEvent[], environment: EventPayload = chromeEnvironment) {
  return combine(runEngines(folded([event("env", environment), ...events]), lastRequest));
}

/** Clicks at places that the pointer reaches in one move, or along the way there. */
function clicks(count: number, isTravelled: boolean, dwell = () => between(70, 160)): IngestEvent[] {
  let [x, y] = [200, 200];
  return times(count).flatMap((index) => {
    const at = 1000 + 1900 * index;
    const [fromX, fromY] = [x, y];
    [x, y] = [Math.round(between(50, 1200)), Math.round(between(50, 800))];
    const rows = isTravelled
      ? times(20).map((row): [number, number, number] => {
          const share = (row + 1) / 20;
          return [16 * row, Math.round(fromX + share * (x - fromX)), Math.round(fromY + share * (y - fromY))];
        })
      : [[0, x, y] as [number, number, number]];
    return [
      event(
        "mouse",
        { t: at - 500, points: rows, count: rows.length, pointer_type: "mouse", trusted: true },
        startMs + at,
      ),
      event("click", { t: at, x, y, dwell: dwell(), trusted: true, pointer_type: "mouse" }, startMs + at),
    ];
  });
}

function keys(count: number): IngestEvent {
  let at = 0;
  const strokes = times(count).map((key): StrokeRow => {
    at += between(110, 190) + (key % 5 === 0 ? between(200, 700) : 0);
    return [at, between(60, 130)];
  });
  return event("key", { t: 20_000, strokes, count, trusted: true }, startMs + 20_000);
}

const scrolls = (count: number, more: (index: number) => EventPayload) =>
  times(count).map((index) => event("scroll", { dx: 0, dy: 300, ...more(index) }, startMs + 300 * index));

t.test("a pointer that leaps while button and keys are held by fingers is likely a program's", async (t) => {
  const { score, detectionIds } = result([...clicks(6, false), keys(20)]);
  t.ok(detectionIds.includes(travelless));
  t.equal(score, 27);
});

t.test("not so one that travels, one of a touch screen, nor clicks that software makes", async (t) => {
  const quiet = {
    "a pointer that travels": result([...clicks(6, true), keys(20)]),
    "a touch screen": result([...clicks(6, false), keys(20)], { ...chromeEnvironment, touch_points: 10 }),
    "clicks in no time": result([...clicks(6, false, () => 0.5), keys(20)]),
    "no keys": result(clicks(6, false)),
    "three clicks": result([...clicks(3, false), keys(20)]),
    "travel before and after": result([...clicks(6, false), ...clicks(4, true), keys(20)]),
  };
  for (const [name, { detectionIds, score }] of Object.entries(quiet)) {
    t.notOk(detectionIds.includes(travelless), name);
    if (!name.includes("travel")) t.ok(score >= 30, `${name}: ${score}`);
  }
});

t.test("a wheel at constant times and distances is likely a program's", async (t) => {
  for (const ms of [17, 120, 400]) {
    const { score, detectionIds } = result(scrolls(14, (index) => ({ t: 500 + ms * index + 0.5 * (index % 2) })));
    t.ok(detectionIds.includes(metronome), `${ms} ms`);
    t.equal(score, 27, `${ms} ms`);
  }
});

t.test(
  "not so a hand's flicks, few scrolls, a page that scrolls itself, nor the frames of one that glides",
  async (t) => {
    const quiet = {
      flicks: scrolls(20, (index) => ({ t: 500 + 400 * index + between(-60, 60), dy: 100 * Math.ceil(between(0, 4)) })),
      "even distances": scrolls(20, (index) => ({ t: 500 + 400 * index + between(-90, 90) })),
      "even times": scrolls(20, (index) => ({ t: 500 + 400 * index, dy: 100 * Math.ceil(between(0, 4)) })),
      few: scrolls(11, (index) => ({ t: 500 + 400 * index })),
      "the page itself": scrolls(20, (index) => ({ t: 500 + 400 * index, scroll_input: "none" })),
      "a clock of 100 ms": scrolls(20, (index) => ({ t: 500 + 100 * index, dy: 120 })),
      frames: scrolls(60, (index) => ({ t: 500 + 16.7 * index, dy: 9 })),
    };
    for (const [name, events] of Object.entries(quiet)) t.notOk(result(events).detectionIds.includes(metronome), name);
  },
);
