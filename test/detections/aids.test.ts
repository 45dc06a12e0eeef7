/**
 * People who use an aid, and pages and tools that act for people: none may be enforced upon, and one kind in ten at most may be
 * `likely_automated`. What each sends is what the real tools sent in real windows; hands are those of recordings' shape.
 */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { ShingleIndex, scoreTrace } from "../../scripts/quality.js";
import type { Trace, TraceRow } from "../../scripts/trace-sessions.js";
import type { EventPayload, IngestEvent, PointRow, StrokeRow } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { bandOf } from "../../src/verdict/bands.js";
import {
  chromeAgent,
  chromeEnvironment,
  chromeFacts,
  event,
  folded,
  startMs,
  wobblyPath,
} from "../engines/sessions.js";

const firefoxAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
const linuxAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const iphoneAgent =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Mobile/15E148 Safari/604.1";

interface Computer {
  readonly facts: RequestFacts;
  readonly environment: EventPayload;
  /** What its window system makes of input; whole milliseconds and pixels unless told otherwise. */
  readonly seenThrough?: (payload: EventPayload) => EventPayload;
}

const linux: EventPayload = { user_agent: linuxAgent, platform: "Linux x86_64" };
const tenth = (ms: number) => Math.round(10 * ms) / 10;
/** 256ths of a pixel, two digits of which the SDK keeps. */
const part = (pixels: number) => Math.round((100 * Math.round(256 * pixels)) / 256) / 100;
/** Chromium stamps what Wayland sends with the time of arrival. */
const wayland = (payload: EventPayload): EventPayload => {
  const random = seededRandom(13);
  const late = (ms: number) => (ms === 0 ? 0 : tenth(ms + random()));
  return {
    ...payload,
    ...(payload.dwell !== undefined && { dwell: late(payload.dwell) }),
    ...(payload.strokes && { strokes: payload.strokes.map(([at, dwell]): StrokeRow => [late(at), late(dwell)]) }),
    ...(payload.points && {
      points: payload.points.map(([at, x, y]): PointRow => [late(at), part(x + 0.3), part(y + 0.7)]),
    }),
  };
};
/** Tor Browser: a clock of 100 ms, and movements that disagree with positions by design. */
const coarse = (payload: EventPayload): EventPayload => {
  const start = payload.t ?? 0;
  const tick = (ms: number) => 100 * Math.floor(ms / 100);
  const between = (from: number, ms: number) => tick(from + ms) - tick(from);
  return {
    ...payload,
    t: tick(start),
    ...(payload.movement_mismatch !== undefined && { movement_mismatch: 1, dispatch_lag: 0 }),
    ...(payload.dwell !== undefined && { dwell: between(start, payload.dwell) }),
    ...(payload.strokes && {
      strokes: payload.strokes.map(([at, dwell]): StrokeRow => [between(start, at), between(start + at, dwell)]),
    }),
    ...(payload.points && {
      points: payload.points.map(([at, x, y]): PointRow => [between(start, at), x, y]),
    }),
  };
};

const computers = {
  "Chromium on Linux": {
    facts: { ...chromeFacts, userAgent: linuxAgent, secChUaPlatform: '"Linux"' },
    environment: { ...chromeEnvironment, ...linux },
  },
  "Chromium on Linux under Wayland": {
    facts: { ...chromeFacts, userAgent: linuxAgent, secChUaPlatform: '"Linux"' },
    environment: { ...chromeEnvironment, ...linux },
    seenThrough: wayland,
  },
  "Chrome on Windows": { facts: chromeFacts, environment: chromeEnvironment },
  "Firefox on Linux": {
    facts: { ...chromeFacts, userAgent: firefoxAgent, secChUa: "", secChUaMobile: "", secChUaPlatform: "" },
    environment: { ...chromeEnvironment, ...linux, user_agent: firefoxAgent, eval_length: 37, chrome_object: false },
  },
  "Tor Browser": {
    facts: { ...chromeFacts, userAgent: firefoxAgent, secChUa: "", secChUaMobile: "", secChUaPlatform: "" },
    environment: { ...chromeEnvironment, ...linux, user_agent: firefoxAgent, eval_length: 37, chrome_object: false },
    seenThrough: coarse,
  },
} satisfies Record<string, Computer>;

const random = seededRandom(77);
const between = (low: number, high: number) => Math.round(low + (high - low) * random());

/** As the SDK reports input of the operating system: whole pixels, some moves merged, a few ms late. */
const measures: EventPayload = {
  coalesced: 1.4,
  fractional: 0,
  dispatch_lag: 4.2,
  movement_mismatch: 0,
  pointer_type: "mouse",
  trusted: true,
};

function path(at: number, points: PointRow[], more: EventPayload = {}): IngestEvent {
  return event("mouse", { t: at, points, count: points.length, ...measures, ...more }, startMs + at);
}

const handMoves = (at: number, seed = 3, rows = 160) => path(at, wobblyPath(rows, seed));

function click(at: number, more: EventPayload = {}): IngestEvent {
  const place = { x: between(60, 1200), y: between(60, 800) };
  return event("click", { t: at, ...place, dwell: between(60, 130), trusted: true, ...more }, startMs + at);
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
/** A click that software makes in one go: where the pointer was not, held for no time, in the middle. */
const madeClicks = (from: number, count: number, more: EventPayload = {}) =>
  times(count).map((index) =>
    click(from + 1800 * index, { dwell: 0.4, off_center: 0.004, pointer_type: "mouse", ...more }),
  );
const assistedClicks = (count: number) =>
  times(count)
    .map((index) => click(1000 + 1800 * index, { dwell: undefined!, pointer_type: "none" }))
    .map(bare);

/** Without what is undefined, as on the wire. */
function bare(each: IngestEvent): IngestEvent {
  return { ...each, payload: JSON.parse(JSON.stringify(each.payload)) as EventPayload };
}

/** Keys with these dwells and gaps in ms, in one report. */
function keys(at: number, count: number, dwell: () => number, flight: () => number, more: EventPayload = {}) {
  let offset = 0;
  const strokes = times(count).map((): StrokeRow => {
    const row: StrokeRow = [offset, dwell()];
    offset += row[1] + flight();
    return row;
  });
  return event("key", { t: at, strokes, count, trusted: true, ...more }, startMs + at);
}

const handKeys = (at: number, count = 40) =>
  keys(
    at,
    count,
    () => between(55, 140),
    () => between(-20, 180) + (random() < 0.15 ? between(200, 900) : 0),
  );

/** Steps of the same length, then rest, again and again: a number pad's or a stick's. */
function mechanicalPath(from: number, stretches: number, stepOf: (row: number) => [number, number], ms: () => number) {
  let [time, x, y] = [0, 200, 200];
  return times(stretches).map((stretch) => {
    const start = time;
    const rows = times(45).map((row): PointRow => {
      const [dx, dy] = stepOf(row);
      time += ms();
      [x, y] = [Math.round(x + (stretch % 2 === 0 ? dx : -dx)), Math.round(y + (stretch % 4 < 2 ? dy : -dy))];
      return [time - start, x, y];
    });
    time += 900;
    return path(from + start, rows, { coalesced: 1 });
  });
}

const mouseKeys = () =>
  mechanicalPath(
    500,
    8,
    () => [12, 0],
    () => 20,
  );
const stick = () =>
  mechanicalPath(
    500,
    8,
    (row) => [10, 9 * Math.sin(row / 15)],
    () => 16,
  );
const headTracker = () =>
  mechanicalPath(
    500,
    8,
    (row) => [24 * Math.sin((Math.PI * (row + 1)) / 46), 14 * Math.sin((Math.PI * (row + 1)) / 46)],
    () => between(15, 18),
  );

/**
 * Eyes that rest at a place for 0.3 to 1 s, then leap to the next: the tracker's noise keeps within a blob of 20 to 40 px, smoothed by so much, and what
 * they rest on is clicked.
 */
function gaze(hz: number, noise: number, smoothing: number): IngestEvent[] {
  const chance = seededRandom(hz + noise);
  const spread = () => noise * Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
  let [at, x, y, seenX, seenY] = [500, 600, 400, 600, 400];
  return times(24).flatMap((fixation) => {
    const start = at;
    const [toX, toY] = [100 + 1100 * chance(), 80 + 700 * chance()];
    const rows = times(Math.round((300 + 700 * chance()) * (hz / 1000))).map((sample): PointRow => {
      [x, y] = sample < 2 ? [x + 0.6 * (toX - x), y + 0.6 * (toY - y)] : [toX, toY];
      seenX += (1 - smoothing) * (x + spread() - seenX);
      seenY += (1 - smoothing) * (y + spread() - seenY);
      const row: PointRow = [Math.round(at - start), Math.round(seenX), Math.round(seenY)];
      at += 1000 / hz;
      return row;
    });
    const [, lastX, lastY] = rows.at(-1)!;
    const moves = path(start, rows, { coalesced: 1 });
    return fixation % 3 === 2 ? [moves, click(at - 5, { x: lastX, y: lastY, dwell: 0.5, off_center: 0.3 })] : [moves];
  });
}

const untrustedClicks = (from: number, count: number, gapMs: number, more: EventPayload = {}) =>
  times(count).map((index) =>
    bare(click(from + gapMs * index, { trusted: false, pointer_type: "none", dwell: undefined!, ...more })),
  );
const form = (more: EventPayload) => event("form", { autofill: false, submit: true, trusted: true, ...more });
const instant = () => between(0, 2);
const notches = (count: number) =>
  times(count).map((index) =>
    event("scroll", { t: 900 * index, dt: 140, dy: 120, count: 9, direction: "down", scroll_input: "wheel" }),
  );

const withHand = (events: IngestEvent[]) => [
  handMoves(300),
  click(4200, { off_center: 0.3 }),
  click(5200, { off_center: 0.2 }),
  ...events,
];

const aids: Record<string, () => IngestEvent[]> = {
  "a screen reader's default actions": () => [...assistedClicks(7), handKeys(900)],
  "voice control": () => [...madeClicks(1000, 7), ...notches(3)],
  "voice control that moves the pointer first": () =>
    madeClicks(1000, 7).flatMap((each) => [
      path(each.payload.t! - 3, [[0, each.payload.x!, each.payload.y!]], { coalesced: 1 }),
      each,
    ]),
  "voice control that moves and clicks in the same millisecond": () =>
    times(8).flatMap((index) => {
      const each = click(1000 + 920 * index, { dwell: 0, off_center: 0.3, pointer_type: "mouse" });
      return [each, path(each.payload.t!, [[0, each.payload.x!, each.payload.y!]], { coalesced: 1 })];
    }),
  "voice control with dictation": () => [...madeClicks(1000, 7), keys(14000, 50, instant, instant)],
  "the number pad as a mouse": () => [...mouseKeys(), ...madeClicks(16000, 5), handKeys(900)],
  "a game controller": () => [...stick(), click(16000), click(18000), click(19500)],
  "a head tracker with dwell clicks": () => [...headTracker(), ...madeClicks(16000, 6)],
  "a head tracker, reduced motion": () => [
    ...headTracker(),
    ...madeClicks(16000, 6),
    ...notches(6).map((each) => ({ ...each, payload: { ...each.payload, count: 1 } })),
  ],
  "eyes as a pointer, 60 times a second": () => gaze(60, 9, 0),
  "eyes as a pointer, 30 times a second": () => gaze(30, 9, 0),
  "eyes as a pointer, with much noise": () => gaze(60, 14, 0),
  "eyes as a pointer, smoothed": () => gaze(60, 9, 0.5),
  "eyes as a pointer, smoothed more": () => gaze(60, 14, 0.7),
  "eyes as a pointer, 30 times a second and smoothed": () => gaze(30, 14, 0.5),
  "dictation into fields that Tab leads to": () =>
    times(4).flatMap((field) => [
      keys(
        1000 + 9000 * field,
        1,
        () => between(45, 120),
        () => 0,
      ),
      keys(2500 + 9000 * field, 40, instant, instant),
    ]),
  "one long dictation, and Tab": () => [
    keys(
      1000,
      2,
      () => between(45, 120),
      () => between(200, 600),
    ),
    keys(4000, 190, instant, instant),
  ],
  "a steno keyboard": () => [
    keys(
      1000,
      220,
      () => 0,
      () => (random() < 0.25 ? between(120, 700) : between(0, 1)),
    ),
  ],
  "a steno keyboard in short words": () => [
    keys(
      1000,
      120,
      () => 1,
      () => (random() < 0.4 ? between(90, 400) : 0),
    ),
  ],
  "a pen": () => {
    const rows = wobblyPath(240, 8).map(([at, x, y]): PointRow => [at + random(), x + random(), y + random()]);
    return [
      path(200, rows, { pointer_type: "pen", fractional: 1, coalesced: 3 }),
      click(6000, { pointer_type: "pen" }),
    ];
  },
  "switch access": () => madeClicks(1000, 6, { dwell: 3 }),
  "link hints of the keyboard": () => [
    handKeys(500),
    ...untrustedClicks(2000, 6, 2500, { x: 300, y: 200, dwell: 0, off_center: 0 }),
    ...notches(2),
  ],
  "a password manager's login": () =>
    withHand([
      ...untrustedClicks(6000, 3, 4, { x: 400, y: 300, off_center: 0, dwell: 0 }),
      keys(6010, 14, instant, instant, { trusted: false }),
      form({ field_count: 2, fill_ms: 12, count: 4, unkeyed: 4 }),
    ]),
  "a password manager's identity": () =>
    withHand([
      ...untrustedClicks(6000, 9, 5, { x: 400, y: 300, off_center: 0, dwell: 0 }),
      keys(6010, 60, instant, instant, { trusted: false }),
      form({ field_count: 9, fill_ms: 80, count: 18, unkeyed: 18 }),
    ]),
  "automatic typing of a password manager": () =>
    withHand([
      keys(
        7000,
        32,
        () => 1,
        () => 25,
      ),
    ]),
  "a security key": () =>
    withHand([
      keys(
        7000,
        44,
        () => between(7, 9),
        () => between(0, 1),
      ),
    ]),
  "a security key, and nothing else": () => [
    keys(
      700,
      45,
      () => 8,
      () => 0,
    ),
  ],
  "a text expander": () =>
    withHand([
      handKeys(6000),
      keys(
        16000,
        180,
        () => 0,
        () => 0,
      ),
    ]),
  "a bar code scanner": () =>
    withHand(
      times(6).map((index) =>
        keys(
          7000 + 4000 * index,
          14,
          () => 2,
          () => 2,
        ),
      ),
    ),
  "a touch panel that passes for a mouse": () => [
    ...times(8).flatMap((index) => {
      const each = click(1000 + 1500 * index, { pointer_type: "mouse" });
      return [path(each.payload.t! - 90, [[0, each.payload.x!, each.payload.y!]], { coalesced: 1 }), each];
    }),
    ...notches(2).map((each) => ({ ...each, payload: { ...each.payload, scroll_input: "pointer" } })),
  ],
  "a page read on at a key's beat": () => [
    handMoves(200),
    click(4200),
    ...times(14).map((index) =>
      event("scroll", { t: 5000 + 500 * index + between(-60, 60), dt: 150, dy: 640, count: 9, scroll_input: "key" }),
    ),
  ],
  "taps of a touchpad": () => [
    handMoves(200, 5),
    ...times(6).map((index) => click(5900 + 900 * index, { dwell: 2, off_center: 0.2 })),
    handKeys(14000),
  ],
  "taps of a touchpad, and automatic typing": () => [
    handMoves(200, 5, 700),
    ...times(6).map((index) => click(900 + 900 * index, { dwell: 2, off_center: 0.2 })),
    keys(
      9000,
      32,
      () => 1,
      () => 25,
    ),
  ],
  "a page whose carousel goes on by itself": () => [...untrustedClicks(3000, 12, 4000), ...notches(2)],
  "a page that accepts cookies for its visitors": () => withHand(untrustedClicks(800, 4, 60)),
  "a page that selects all boxes at once": () => withHand(untrustedClicks(6000, 24, 1)),
  "a page that passes clicks on labels on": () => withHand(untrustedClicks(6000, 8, 1500)),
};

interface Result {
  readonly band: string;
  readonly told: string;
}

function result(
  events: readonly IngestEvent[],
  { facts, environment, seenThrough = (seen) => seen }: Computer,
): Result {
  const last = { ip: facts.ip, userAgent: facts.userAgent, path: "/", host: "shop.example" };
  const opening = [event("page", { path: "/" }), event("env", environment)];
  const features = folded([...opening, ...events.map((each) => ({ ...each, payload: seenThrough(each.payload) }))], {
    facts,
  });
  const results = runEngines(features, last);
  const { score } = combine(results);
  const scores = {
    heuristics: results.heuristics.score,
    js_detection: results.js_detection.score,
    behavioral: results.behavioral.score,
  };
  return { band: bandOf(scores, score, 30), told: `${score}: ${explain(features, last).map((each) => each.slug)}` };
}

const noSec = {
  secFetchSite: "",
  secFetchMode: "",
  secFetchDest: "",
  secChUa: "",
  secChUaMobile: "",
  secChUaPlatform: "",
};
const chrome = computers["Chrome on Windows"];
const stripped = (more: Partial<RequestFacts>): Computer => ({
  ...chrome,
  facts: { ...chromeFacts, ...noSec, ...more },
});
const claiming = (computer: Computer, userAgent: string): Computer => ({
  facts: { ...computer.facts, userAgent },
  environment: { ...computer.environment, user_agent: userAgent, native_tampered: ["navigator.userAgent"] },
});

const tools: Record<string, Computer> = {
  "a proxy that strips Sec- headers and the language": stripped({ acceptLanguage: "" }),
  "a proxy that strips Sec- headers and compression": stripped({ acceptEncoding: "" }),
  "a proxy that strips Sec- headers and offers gzip": stripped({ acceptEncoding: "gzip, deflate" }),
  "a proxy that strips Sec- headers and the origin": stripped({ origin: "", referer: "" }),
  "a proxy that strips Sec- headers and what is accepted": stripped({ accept: "" }),
};
/** These hide what they are. */
const disguises: Record<string, Computer> = {
  "Chrome that says it is Firefox": claiming(chrome, firefoxAgent),
  "Chrome that says it is a telephone": claiming(chrome, iphoneAgent),
  "Firefox that says it is Chrome": claiming(computers["Firefox on Linux"], chromeAgent),
  "a user script that hides webdriver": {
    ...chrome,
    environment: { ...chromeEnvironment, native_tampered: ["navigator.webdriver"], iframe_mismatch: ["webdriver"] },
  },
};

const likely: string[] = [];

for (const [name, act] of Object.entries(aids)) {
  t.test(`${name} is no program`, async (t) => {
    for (const [system, computer] of Object.entries(computers)) {
      const { band, told } = result(act(), computer);
      t.ok(band === "likely_human" || band === "likely_automated", `${system}: ${band}, ${told}`);
      if (band === "likely_automated" && !likely.includes(name)) likely.push(name);
    }
  });
}

for (const [name, computer] of Object.entries(tools)) {
  t.test(`${name} is a person`, async (t) => {
    for (const events of [[], withHand([handKeys(6000)])]) {
      const { band, told } = result(events, computer);
      t.equal(band, "likely_human", told);
    }
  });
}

for (const [name, computer] of Object.entries(disguises)) {
  t.test(`${name} is likely a program at most`, async (t) => {
    const { band, told } = result(withHand([handKeys(6000)]), computer);
    t.ok(band === "likely_human" || band === "likely_automated", told);
  });
}

t.test("one kind in ten at most is likely a program", async (t) => {
  t.ok(likely.length <= Object.keys(aids).length / 10, `${likely}`);
});

t.test("with a driver's trace, what aids do counts again", async (t) => {
  const driven: Computer = {
    ...chrome,
    environment: { ...chromeEnvironment, driver_artifacts: ["__playwright__binding__"] },
  };
  for (const name of ["voice control with dictation", "the number pad as a mouse"]) {
    const { band, told } = result(aids[name]!(), driven);
    t.ok(band === "definite" || band === "confident_automated", `${band}, ${told}`);
  }
});

t.test("a stick that draws the same curve again is no replay, a hand's path is one", async (t) => {
  const played = (rows: readonly PointRow[]) => {
    const index = new ShingleIndex();
    const events = rows.map(([at, x, y]): TraceRow => [at, "m", x, y]);
    return ["first", "second"].map((id) => {
      const trace: Trace = { id, user: id, source: "test", label: "human", generator: null, events };
      return scoreTrace(trace, "system", index).score;
    });
  };
  const curve = stick().flatMap(({ payload: { t: at, points } }) =>
    points!.map(([since, x, y]): PointRow => [at! + since, x, y]),
  );
  for (const score of played(curve)) t.ok(score > 29, `${score}`);
  const [first, second] = played(wobblyPath(400));
  t.ok(first! > 29, `${first}`);
  t.ok(second! <= 15, `${second}`);
});
