/** Visits that scripts make alone: a script's click leads to a form, which a script fills in and sends. Each person's visit beside it differs in one fact. */
import t from "tap";
import type { EventPayload, IngestEvent } from "../../src/contract/events/events.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { F } from "../../src/engines/session-features.js";
import { chromeEnvironment, chromeFacts, event, folded, lastRequest, startMs } from "./sessions.js";

const [acting, alone] = [300600, 300622];
const at = (ms: number) => startMs + ms;
const page = (ms: number, more: EventPayload = {}) =>
  event("page", { path: "/", state: "visible", nav_type: "navigate", t: 200, ...more }, at(ms));
const env = event("env", chromeEnvironment, at(1));
const byScript = { t: 3000, button: 0, trusted: false, target_tag: "a", pointer_type: "none" } satisfies EventPayload;
const click = (ms: number, more: EventPayload = {}) => event("click", { ...byScript, ...more }, at(ms));
const leave = (ms: number) => event("focus", { state: "leave" }, at(ms));
const filled = {
  field_count: 3,
  count: 3,
  unkeyed: 3,
  untouched_ms: 320,
  fill_ms: 4000,
  autofill: false,
  submit: true,
  trusted: true,
} satisfies EventPayload;
const form = (ms: number, more: EventPayload = {}) => event("form", { ...filled, ...more }, at(ms));
const mouse = (ms: number, places: [x: number, y: number][], more: EventPayload = {}) =>
  event(
    "mouse",
    {
      t: ms,
      points: places.map(([x, y], index) => [9 * index, x, y]),
      count: places.length,
      pointer_type: "mouse",
      trusted: true,
      ...more,
    },
    at(ms),
  );

const first = [page(0), env];
const led = [click(3000), leave(3004), page(3300)];
const visit = [...first, ...led, form(9000)];

const known = (events: readonly IngestEvent[], facts: { userAgent?: string } = {}, batchSize = 100) => {
  const features = folded(events, { facts: { ...chromeFacts, ...facts }, batchSize });
  const { detectionIds } = combine(runEngines(features, { ...lastRequest, ...facts }));
  return detectionIds.filter((id) => id === acting || id === alone);
};

t.test("a form that scripts reached, filled in and sent in an untouched visit names an unknown agent", async (t) => {
  t.same(known(visit), [acting, alone]);
  t.same(known(visit, {}, 1), [acting, alone], "one event a batch");
  const decidedBy = explain(folded(visit), lastRequest).find(({ id }) => id === acting)?.decidedBy;
  t.same(decidedBy, ["form-by-script-alone", "form-without-keys"]);
  t.equal(combine(runEngines(folded(visit), lastRequest)).score, 48, "no weight of its own");
  const button = [...first, ...led, click(8990, { target_tag: "button" }), form(9000), leave(9002), page(9300)];
  t.same(known(button), [acting, alone], "by the form's button");
  const app = [...first, click(3000), page(3003, { path: "/ask", nav_type: "spa" }), form(9000)];
  t.same(known(app), [acting, alone], "an app of one page");
  const dispatched = mouse(
    2900,
    [
      [300, 200],
      [520, 300],
    ],
    { trusted: false },
  );
  t.same(known([...first, dispatched, ...led, form(9000)]), [acting, alone], "a script's moves");
  const resting = (ms: number) => mouse(ms, [[700, 400]]);
  t.same(known([...first, resting(50), ...led, resting(3350), form(9000)]), [acting, alone], "a resting pointer");
  const rolled = event("scroll", { t: 3000, dy: 400, count: 1, scroll_input: "none" }, at(3400));
  t.same(known([...first, ...led, rolled, form(9000)]), [acting, alone], "a script's scrolling");
  const after = mouse(12_000, [
    [10, 10],
    [90, 60],
  ]);
  t.same(known([...visit, after], {}, 1), [acting, alone], "whoever looks at it later");
});

t.test("each fact that a person may add or lack keeps it from being one", async (t) => {
  const key = event("key", { t: 900, strokes: [[0, 80]], count: 1, trusted: true }, at(900));
  const finger = event("touch", { t: 900, x: 3, y: 5, dwell: 70, pointer_type: "touch", trusted: true }, at(900));
  const wheel = event("scroll", { t: 900, dy: 400, count: 1, scroll_input: "wheel" }, at(900));
  const { untouched_ms: _, ...active } = filled;
  const touched = event("form", active, at(9000));
  const nudge: [number, number][] = [
    [700, 400],
    [701, 400],
  ];
  const people: [string, IngestEvent[]][] = [
    ["a press on the link", [...first, click(3000, { trusted: true }), leave(3004), page(3300), form(9000)]],
    ["a screen reader's action", [...first, click(900, { trusted: true, target_tag: "div" }), ...led, form(9000)]],
    ["a key", [...first, key, ...led, form(9000)]],
    ["a finger", [...first, finger, ...led, form(9000)]],
    ["a turn of the wheel", [...first, wheel, ...led, form(9000)]],
    [
      "one where nothing scrolls",
      [
        ...first,
        click(3000),
        { ...leave(3004), payload: { state: "leave", scroll_input: "wheel" } },
        page(3300),
        form(9000),
      ],
    ],
    ["and on the form's page", [...first, ...led, form(9000, { scroll_input: "wheel" })]],
    ["a move", [...first, mouse(900, nudge), ...led, form(9000)]],
    [
      "a pointer that moved between two pages",
      [...first, mouse(50, [[700, 400]]), ...led, mouse(3350, [[600, 300]]), form(9000)],
    ],
    ["a move shortly before the form is sent, listed behind it", [...visit, mouse(8500, nudge)]],
    [
      "a touch of the form's page",
      [...first, ...led, { ...key, received_at: new Date(at(5000)).toISOString() }, form(9000)],
    ],
    ["what the browser took for the user's, as keys that an extension takes", [...first, ...led, touched]],
    ["a password manager that sends a log-in by itself", [page(0), env, form(3000)]],
    [
      "the same on a page that a link by voice led to",
      [...first, ...led, form(9000, { field_count: 2, count: 2, unkeyed: 2 })],
    ],
    ["the same on a page that another one forwarded to", [...first, leave(3004), page(3300), form(9000)]],
    ["by a click of its own, at once", [...first, click(400), leave(402), page(900), form(9000)]],
    [
      "by a form that sends itself",
      [
        ...first,
        click(2990),
        event("form", { field_count: 0, submit: true }, at(3000)),
        leave(3004),
        page(3300),
        form(9000),
      ],
    ],
    [
      "an extension that accepts cookies, and a reload",
      [...first, click(3000), leave(3004), page(3300, { nav_type: "reload" }), form(9000)],
    ],
    ["long before the page went on", [...first, click(2000), ...led.slice(1), form(9000)]],
    ["text by voice, set by an extension", [...first, ...led, form(19_000, { untouched_ms: 3400 })]],
    ["one field by keys", [...first, ...led, form(9000, { count: 12, unkeyed: 2 })]],
    ["the browser's autofill", [...first, ...led, form(9000, { autofill: true })]],
    ["a draft that is restored", [...first, ...led, form(9000, { submit: false })]],
  ];
  for (const [name, events] of people) t.same(known(events), [], name);
  const userAgent = `${chromeFacts.userAgent} Electron/33.0.0`;
  t.same(known(visit, { userAgent }), [], "an app that shows the page");
  const firefox = event("env", { ...chromeEnvironment, eval_length: 37 }, at(1));
  t.same(known([page(0), firefox, ...led, form(9000)]), [], "a browser that does not keep a user's activation so");
});

t.test("three fields, three quarters of a second for each further one, and a second on the page before", async (t) => {
  const { count: _count, unkeyed: _unkeyed, ...uncounted } = filled;
  const bounds: [string, IngestEvent[], number[]][] = [
    ["a form that counts no changes", [...first, ...led, event("form", uncounted, at(9000))], []],
    ["1.5 s for three fields", [...first, ...led, form(9000, { untouched_ms: 1500 })], [acting, alone]],
    [
      "a box that a script's click ticks",
      [...first, ...led, click(8000), form(9000, { field_count: 4, count: 4, unkeyed: 3 })],
      [acting, alone],
    ],
    ["one text alone", [...first, ...led, form(9000, { unkeyed: 1 })], []],
    ["longer", [...first, ...led, form(9000, { untouched_ms: 1501 })], []],
    [
      "3.75 s for six",
      [...first, ...led, form(9000, { field_count: 6, count: 6, unkeyed: 6, untouched_ms: 3750 })],
      [acting, alone],
    ],
    ["a page of one second", [...first, click(1000), leave(1000), page(1300), form(9000)], [acting, alone]],
    ["of less", [...first, click(999), leave(999), page(1300), form(9000)], []],
    ["a click 0.1 s before", [...first, click(3000), leave(3100), page(3300), form(9000)], [acting, alone]],
    ["longer before", [...first, click(3000), leave(3101), page(3300), form(9000)], []],
  ];
  for (const [name, events, ids] of bounds) t.same(known(events), ids, name);
});

t.test("once somebody has acted, nothing is kept of the scripts' way", (t) => {
  const { numbers } = folded([...first, mouse(50, [[700, 400]]), ...led, click(3400), click(5000, { trusted: true })]);
  t.same(
    [F.restX, F.restY, F.scriptClickMs, F.scriptLeaves, F.scriptedPages].map((each) => numbers[each]),
    [0, 0, 0, 0, 0],
  );
  t.end();
});

t.test("a form that nobody had a hand in names an agent where a debugger's client was seen", async (t) => {
  const without = 300623;
  const seen = event("env", { stack_probe: true }, at(400));
  /** Twenty keys, held for so long, ms. */
  const keys = (ms: number) =>
    event(
      "key",
      { t: 4000, strokes: Array.from({ length: 20 }, (_, index) => [9 * index, ms]), count: 20, trusted: true },
      at(5000),
    );
  const typed = (ms: number) => [...first, seen, keys(ms), click(8990), form(9000, { unkeyed: 0 })];
  const slowly = { untouched_ms: 12_000 };
  const fired = (events: readonly IngestEvent[]) =>
    combine(runEngines(folded(events, { facts: chromeFacts }), lastRequest)).detectionIds.filter(
      (id) => id === acting || id === without,
    );
  t.same(fired(typed(1)), [acting, without], "keys that are released at once");
  const sent = [click(20_990), form(21_000, slowly)];
  t.same(fired([...first, seen, ...led, ...sent]), [acting, without], "values, after a script's click that led there");
  t.same(fired([...first, keys(1), click(8990), form(9000)]), [without], "no client of a debugger");
  t.same(fired([...first, ...led, ...sent]), [without], "the same by values");
  const people: [string, IngestEvent[]][] = [
    ["keys of a hand", typed(80)],
    ["a form by Enter, which the browser's own click sends", [...typed(1), click(8995, { trusted: true })]],
    ["no script's click", [...first, seen, keys(1), form(9000)]],
    ["nothing sent", [...first, seen, keys(1), click(8990)]],
    ["values on the page that was opened", [...first, seen, click(20_990), form(21_000, slowly)]],
    [
      "a mouse that moves",
      [
        ...typed(1),
        mouse(
          600,
          Array.from({ length: 9 }, (_, index) => [300 + 7 * index, 200]),
        ),
      ],
    ],
    ["a key by hand between", [...first, seen, ...led, keys(80), ...sent]],
  ];
  for (const [name, events] of people) t.same(fired(events), [], name);
});
