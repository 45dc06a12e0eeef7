/**
 * What hardened drivers leave in a browser's events, against people who share a part of it: fractions of pixels, scripts that
 * click, forms that others send. The figures of moves and keys are those of captures of real tools.
 */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { EventPayload, IngestEvent, PointRow } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { chromeAgent, chromeEnvironment, chromeFacts, event, folded, wobblyPath } from "../engines/sessions.js";

const likelyBotThreshold = 30;
const confidentScoreMax = 15;

const linuxAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const macAgent =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

interface Seen {
  readonly score: number;
  readonly slugs: string[];
}

function seen(events: readonly IngestEvent[], userAgent = chromeAgent, environment: EventPayload = {}): Seen {
  const isLinux = userAgent.includes("Linux");
  const facts: RequestFacts = { ...chromeFacts, userAgent, ...(isLinux && { secChUaPlatform: '"Linux"' }) };
  const last = { ip: facts.ip, userAgent, path: "/", host: "shop.example" };
  const opening = [
    event("page", { path: "/" }),
    event("env", { ...chromeEnvironment, user_agent: userAgent, ...environment }),
  ];
  const features = folded([...opening, ...events], { facts });
  return {
    score: combine(runEngines(features, last)).score,
    slugs: explain(features, last).map((each) => each.slug),
  };
}

/** A hand's path with or without fractions of pixels and of milliseconds, as the SDK reports it. */
function moves(measures: EventPayload, { places = 0, times = 0 } = {}): IngestEvent[] {
  const random = seededRandom(4);
  const odd = (value: number, share: number) => Math.round((value + share * (0.15 + 0.7 * random())) * 100) / 100;
  const rows = wobblyPath(240, 11).map(([at, x, y]): PointRow => [odd(at, times), odd(x, places), odd(y, places)]);
  return [0, 80, 160].map((from) => {
    const part = rows.slice(from, from + 80);
    const points = part.map(([at, x, y]): PointRow => [Math.round((at - part[0]![0]) * 10) / 10, x, y]);
    return event("mouse", { t: part[0]![0], points, count: 80, pointer_type: "mouse", trusted: true, ...measures });
  });
}

const dispatched: EventPayload = { coalesced: 1, fractional: 0.98, dispatch_lag: 5, movement_mismatch: 0 };

t.test("moves through the debugger protocol are a driver's trace in a window on Linux and on Windows", async (t) => {
  const systems = { "Linux x86_64": linuxAgent, Win32: chromeAgent };
  for (const [platform, agent] of Object.entries(systems)) {
    const { slugs } = seen(moves(dispatched, { places: 1, times: 1 }), agent, { platform });
    t.ok(slugs.includes("dispatched-moves"), `${platform}: ${slugs}`);
  }
});

t.test("fractions of pixels are nobody's trace where they may be the platform's", async (t) => {
  const elsewhere: Record<string, readonly [agent: string, environment: EventPayload]> = {
    "a kiosk without a window system": [
      linuxAgent,
      { platform: "Linux x86_64", inner_w: 1920, inner_h: 1080, outer_w: 1920, outer_h: 1080 },
    ],
    "a Mac that says it is Windows": [chromeAgent, { platform: "MacIntel" }],
    "a telephone that asks for desktop sites": [linuxAgent, { platform: "iPhone" }],
    "a Mac": [macAgent, { platform: "MacIntel" }],
  };
  for (const [name, [agent, environment]] of Object.entries(elsewhere)) {
    const { score, slugs } = seen(moves(dispatched, { places: 1, times: 1 }), agent, environment);
    t.notOk(slugs.includes("dispatched-moves"), `${name}: ${slugs}`);
    t.ok(score >= likelyBotThreshold, `${name}: ${score} ${slugs}`);
  }
});

t.test(
  "a window that may fill the screen has no pixels that tell, and what the first report tells of it holds later",
  async (t) => {
    const facts: RequestFacts = { ...chromeFacts, userAgent: linuxAgent, secChUaPlatform: '"Linux"' };
    const last = { ip: facts.ip, userAgent: linuxAgent, path: "/", host: "shop.example" };
    const own = { user_agent: linuxAgent, platform: "Linux x86_64", screen_w: 1440, screen_h: 900 };
    const known = Object.entries({ ...chromeEnvironment, ...own }).filter(([name]) => !/^(inner|outer)_/.test(name));
    const filled = [
      event("mouse", {
        t: 900,
        points: [[0, 500.3, 400.1]],
        count: 1,
        fractional: 1,
        pointer_type: "mouse",
        trusted: true,
      }),
      event("form", { field_count: 2, count: 2, unkeyed: 2, fill_ms: 900, autofill: false, submit: true }),
      event("env", { exact_clicks: 1 }),
    ];
    const isNamed = (...sizes: EventPayload[]) => {
      const reports = sizes.map((each) => event("env", each));
      const features = folded(
        [event("page", { path: "/" }), event("env", Object.fromEntries(known)), ...filled, ...reports],
        {
          facts,
        },
      );
      return combine(runEngines(features, last)).detectionIds.includes(300600);
    };
    const [outer, outerFull] = [
      { outer_w: 1367, outer_h: 632 },
      { outer_w: 1440, outer_h: 900 },
    ];
    const [inner, innerFull] = [
      { inner_w: 1367, inner_h: 545 },
      { inner_w: 1440, inner_h: 900 },
    ];
    t.ok(isNamed(outer), "a window smaller than the screen, by the first report");
    t.ok(isNamed(outer, inner));
    t.ok(isNamed(outer, innerFull), "a fingerprint that is smaller outside than inside");
    t.ok(isNamed(outerFull, inner), "a window with its bars");
    t.notOk(isNamed(outerFull, innerFull), "a kiosk");
    t.notOk(isNamed(outerFull), "perhaps a kiosk");
    t.notOk(isNamed({ outer_w: 0, outer_h: 0 }, innerFull), "a kiosk whose page had no window yet");
    t.notOk(isNamed({}), "nothing is known");
  },
);

t.test("moves that each wait for a frame are automation under a Windows agent as well", async (t) => {
  const { score, slugs } = seen(moves({ ...dispatched, dispatch_lag: 14 }, { places: 1, times: 1 }));
  t.ok(score < likelyBotThreshold, `${score}: ${slugs}`);
});

const people: Record<string, () => Seen> = {
  "somebody who zoomed a page by pinching, on Linux": () =>
    seen(moves(dispatched, { places: 1 }), linuxAgent, { platform: "Linux x86_64" }),
  "somebody who zoomed a page by pinching, on Windows": () => seen(moves(dispatched, { places: 1, times: 1 })),
  "a Mac, whose mouse has fractions of its own": () =>
    seen(moves({ ...dispatched, dispatch_lag: 13 }, { places: 1, times: 1 }), macAgent, { platform: "MacIntel" }),
  "Chrome on Linux under Wayland, whose times are not whole milliseconds": () =>
    seen(moves({ ...dispatched, fractional: 0 }, { places: 1, times: 1 }), linuxAgent, { platform: "Linux x86_64" }),
  "QtWebEngine on Linux": () =>
    seen(
      moves({ ...dispatched, fractional: 0 }, { times: 1 }),
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) QtWebEngine/6.4.2 Chrome/102.0.5005.177 Safari/537.36",
      { platform: "Linux x86_64", chrome_object: false },
    ),
  "a television": () =>
    seen(
      moves({ ...dispatched, fractional: 0 }, { times: 1 }),
      "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.6099.270 Safari/537.36 WebAppManager",
      { platform: "Linux armv7l", inner_w: 1920, inner_h: 1080, outer_w: 1920, outer_h: 1080 },
    ),
  "a scaled display": () => seen(moves(dispatched, { places: 1, times: 1 }), chromeAgent, { dpr: 1.25 }),
  "a busy page on Linux": () =>
    seen(moves({ coalesced: 1, fractional: 0, dispatch_lag: 20 }), linuxAgent, { platform: "Linux x86_64" }),
  "somebody who draws with a pen, on Linux": () =>
    seen(
      moves({ pointer_type: "pen", coalesced: 1.2, fractional: 1, dispatch_lag: 5 }, { places: 1, times: 1 }),
      linuxAgent,
      { platform: "Linux x86_64" },
    ),
  "a reader whose extension answers the consent banner by script": () =>
    seen([
      ...[300, 420].map((at) => event("click", { t: at, x: 0, y: 0, trusted: false, pointer_type: "none" })),
      ...[2000, 6000, 11000].map((at) => event("scroll", { t: at, dy: 400, scroll_input: "wheel" })),
    ]),
  "a visitor of a page that passes each click on by script": () =>
    seen(
      [1, 2, 3, 4, 5, 6].flatMap((index) => [
        event("click", { t: index * 3000, x: 90 * index, y: 300, dwell: 90, trusted: true, off_center: 0.3 }),
        event("click", { t: index * 3000 + 1, x: 0, y: 0, trusted: false, pointer_type: "none" }),
      ]),
    ),
  "somebody who clicks the middle of one button again and again": () =>
    seen(
      [1, 2, 3, 4, 5, 6, 7].map((index) =>
        event("click", { t: index * 900, x: 640, y: 300, dwell: 70 + index, trusted: true, off_center: 0.01 }),
      ),
    ),
  "a window over two monitors": () => seen([], chromeAgent, { outer_w: 3840, inner_w: 3823 }),
};

for (const [name, visit] of Object.entries(people)) {
  t.test(`${name} stays human`, async (t) => {
    const { score, slugs } = visit();
    t.ok(score >= likelyBotThreshold, `${score}: ${slugs}`);
  });
}

t.test("visits by scripts are automation, with or without a pointer that rests in the window", async (t) => {
  const byScript = [1, 2, 3, 4].map((index) =>
    event("click", { t: index * 500, x: 0, y: 0, trusted: false, target_tag: "button", pointer_type: "none" }),
  );
  const submission = event("form", { field_count: 0, submit: true, trusted: true });
  const resting = event("mouse", { t: 10, points: [[0, 400, 300]], count: 1, trusted: true });
  const madeUp = [1, 2, 3, 4].flatMap((index) => [
    event("mouse", { t: index * 500 - 2, points: [[0, 90 * index, 300]], count: 1, trusted: false }),
    event("mouse", { t: index * 500 - 1, points: [[0, 90 * index, 300]], count: 1, x: 1, y: 1, trusted: false }),
    event("touch", { t: index * 500, x: 90 * index, y: 300, dwell: 60, pointer_type: "touch", trusted: false }),
  ]);
  for (const events of [
    [...byScript, submission],
    [resting, ...byScript, submission],
    [...madeUp, ...byScript, submission],
  ]) {
    const { score, slugs } = seen(events);
    t.ok(score < likelyBotThreshold, `${score}: ${slugs}`);
  }
  t.ok(seen(byScript).score >= likelyBotThreshold, "a page that clicks by itself while somebody reads");
  const byHand = event("mouse", { t: 10, points: wobblyPath(30, 5), count: 30, trusted: true });
  t.notOk(seen([byHand, ...madeUp, ...byScript, submission]).slugs.includes("unattended-visit"), "somebody was there");
});

t.test("made-up events are confident automation behind a perfect copy of a browser's headers", async (t) => {
  const random = seededRandom(8);
  const within = (low: number, high: number) => Math.round(low + random() * (high - low));
  const clickAt = (at: number) =>
    event("click", { t: at, x: within(50, 900), y: within(50, 700), dwell: within(50, 150), trusted: true });
  const walk = (at: number) => {
    let [time, x, y] = [0, 400, 300];
    const points = Array.from({ length: 30 }, (): PointRow => {
      [time, x, y] = [time + within(10, 40), x + within(-25, 28), y + within(-22, 25)];
      return [time, x, y];
    });
    return event("mouse", { t: at, points, count: 30, trusted: true });
  };
  const anywhere = (at: number) =>
    event("mouse", {
      t: at,
      points: Array.from({ length: 30 }, (_, row) => [row * 20, within(0, 1200), within(0, 800)]),
    });
  for (const path of [walk, anywhere]) {
    const events = [1200, 2800, 4400, 6000].flatMap((at) => [path(at), clickAt(at + 1300)]);
    const { score, slugs } = seen(events);
    t.ok(score <= confidentScoreMax, `${score}: ${slugs}`);
    t.ok(slugs.length >= 2, `${slugs}`);
  }
});

/** Half a period of a sine from somewhere: as smooth as a hand's path, from one random place to another. */
function arc(at: number, random: () => number, measures: EventPayload): IngestEvent {
  const [x, y, width, height] = [100 + 600 * random(), 100 + 300 * random(), 150 + 300 * random(), 200 * random()];
  const points = Array.from({ length: 30 }, (_, row): PointRow => {
    const along = row / 29;
    const noise = () => 3 * random();
    return [
      row * 16 + Math.round(5 * random()),
      Math.round(x + width * along + noise()),
      Math.round(y + height * Math.sin(3 * along) + noise()),
    ];
  });
  return event("mouse", { t: at, points, ...measures });
}

t.test("made-up movements that begin and click elsewhere are automation, however smooth", async (t) => {
  const random = seededRandom(21);
  const visit = (measures: EventPayload) =>
    seen(
      [1000, 2700, 4400, 6100, 7800, 9500].flatMap((at) => [
        arc(at, random, measures),
        event("click", { t: at + 900, x: 50 + Math.round(800 * random()), y: 620, dwell: 90, trusted: true }),
      ]),
    );
  for (const measures of [{}, { count: 30, trusted: true }]) {
    const { score, slugs } = visit(measures);
    t.ok(score <= confidentScoreMax, `${score}: ${slugs}`);
  }
});

t.test("a pen that is lifted and set down elsewhere, and a pointer that jumps by voice, stay human", async (t) => {
  const random = seededRandom(5);
  const movements = [1000, 2700, 4400, 6100, 7800, 9500].map((at) =>
    arc(at, random, { pointer_type: "pen", coalesced: 3, fractional: 1, trusted: true }),
  );
  const { score, slugs } = seen(movements);
  t.notOk(slugs.includes("broken-path") || slugs.includes("never-continuous"), `${score}: ${slugs}`);
  const spoken = [1, 2, 3, 4, 5, 6, 7].flatMap((index) => {
    const place = { x: (index * 377) % 1200, y: (index * 211) % 700 };
    return [
      event("mouse", { t: index * 2000, ...place, trusted: true }),
      event("click", { t: index * 2000 + 40, ...place, dwell: 60 + index, trusted: true, off_center: 0.2 }),
    ];
  });
  const byVoice = seen(spoken);
  t.ok(byVoice.score >= likelyBotThreshold, `${byVoice.score}: ${byVoice.slugs}`);
});

t.test("the environment counts wherever it is reported", async (t) => {
  t.ok(seen([event("page", { path: "/", webdriver: true })]).slugs.includes("navigator-webdriver"));
  t.ok(
    seen([event("mouse", { x: 1, y: 2, t: 5, driver_artifacts: ["cdc_abc_Array"] })]).slugs.includes(
      "chromedriver-artifact",
    ),
  );
});
