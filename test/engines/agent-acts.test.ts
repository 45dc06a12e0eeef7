/** How agents act, in the fold: each count rises with what an agent does, and stays with what a person does in its place. */
import t from "tap";
import type { EventPayload, IngestEvent, PointRow, StrokeRow } from "../../src/contract/events/events.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { F } from "../../src/engines/session-features.js";
import { chromeEnvironment, chromeFacts, event, folded, lastRequest, startMs, wobblyPath } from "./sessions.js";

const mouse = { pointer_type: "mouse", trusted: true } satisfies EventPayload;
const env = event("env", chromeEnvironment);
const page = (at: number, more: EventPayload = {}) =>
  event("page", { path: "/", state: "visible", nav_type: "navigate", t: 200, ...more }, startMs + at);
const move = (at: number, x: number, y: number) => event("mouse", { t: at, points: [[0, x, y]], ...mouse });
const click = (at: number, x: number, y: number, more: EventPayload = {}) =>
  event("click", { t: at, x, y, dwell: 90, button: 0, ...mouse, ...more });
const count = (field: number, events: IngestEvent[]) => folded([env, ...events]).numbers[field];
const score = (events: IngestEvent[]) => combine(runEngines(folded([env, ...events]), lastRequest)).score;
const fired = (events: IngestEvent[]) => combine(runEngines(folded([env, ...events]), lastRequest)).detectionIds;

t.test("a click on arrival is one whose pointer shows up in the middle of the page, and then clicks", async (t) => {
  const sent = [page(0), move(3000, 500, 400), click(3040, 500, 400)];
  t.equal(count(F.arrivalClicks, sent), 1);
  t.ok(fired(sent).includes(300601));
  const elsewhere = [page(0), move(100, 500, 400), page(9000), move(800, 200, 300), click(820, 200, 300)];
  t.equal(count(F.arrivalClicks, elsewhere), 1, "also on a later page");

  t.equal(count(F.arrivalClicks, [page(0), move(100, 500, 400), click(9000, 500, 400)]), 0, "it rested there");
  t.equal(count(F.arrivalClicks, [page(0), move(3000, 500, 8), click(3040, 500, 200)]), 0, "it came by the border");
  const again = [page(0), move(100, 500, 400), page(9000), move(90, 500, 400), click(900, 501, 400)];
  t.equal(count(F.arrivalClicks, again), 0, "the next page has its button at the same place");
  const byHand = [page(0), event("mouse", { t: 3000, points: wobblyPath(60, 4), ...mouse }), click(6000, 500, 400)];
  t.equal(count(F.arrivalClicks, byHand), 0, "it came by hand");
  for (const pointer_type of ["touch", "pen", "none"]) {
    t.equal(count(F.arrivalClicks, [page(0), move(3000, 500, 400), click(3040, 500, 400, { pointer_type })]), 0);
  }
});

t.test("moves that a busy browser merged into one report are a way", async (t) => {
  const merged = { count: 1, coalesced: 6, ...mouse } satisfies EventPayload;
  const way = (at: number, x: number, y: number, more: EventPayload) =>
    event("mouse", { t: at, points: [[0, x, y]], ...more });
  const arrival = (more: EventPayload) => [page(0), way(3000, 500, 400, more), click(3040, 500, 400)];
  t.equal(count(F.arrivalClicks, arrival({ ...merged, coalesced: 1 })), 1, "one move, and that is all");
  t.equal(count(F.arrivalClicks, arrival(merged)), 0);
  t.equal(count(F.arrivalClicks, arrival({ ...merged, trusted: false })), 1, "not of a script's events");
  const next = [...arrival(merged), page(9000), way(800, 200, 300, { ...merged, coalesced: 1 }), click(820, 200, 300)];
  t.equal(count(F.arrivalClicks, next), 1, "not of the page before");

  const places = [0, 1, 2, 3].map((index) => [300 + 170 * index, 200 + 90 * index] as const);
  const quiet = (more: EventPayload) =>
    places.flatMap(([x, y], index) => [way(4000 * index + 1, x, y, more), click(4000 * index + 40, x, y)]);
  t.equal(count(F.quietClicks, quiet({ ...merged, coalesced: 1 })), 3);
  t.equal(count(F.quietClicks, quiet(merged)), 0);
  t.equal(count(F.clicksJumped, quiet({ ...merged, coalesced: 1 })), 3);
  t.equal(count(F.clicksJumped, quiet(merged)), 0, "and no jump");
});

t.test("clicks out of silence are elsewhere, seconds later and without a way", async (t) => {
  const places = [0, 1, 2, 3].map((index) => [300 + 170 * index, 200 + 90 * index] as const);
  const acts = places.flatMap(([x, y], index) => [move(4000 * index + 1, x, y), click(4000 * index + 40, x, y)]);
  t.equal(count(F.quietClicks, acts), 3);
  t.ok(fired(acts).includes(300602));
  const fast = places.flatMap(([x, y], index) => [move(900 * index + 1, x, y), click(900 * index + 40, x, y)]);
  t.equal(count(F.quietClicks, fast), 0, "no silence");
  const same = places.map((_, index) => click(4000 * index + 40, 300, 200));
  t.equal(count(F.quietClicks, same), 0, "the same button again");
  const paths = places.flatMap(([x, y], index) => [
    event("mouse", { t: 4000 * index + 2500, points: wobblyPath(40, index + 1), ...mouse }),
    click(4000 * index + 4400, x, y),
  ]);
  t.equal(count(F.quietClicks, paths), 0, "a hand moves there");
  const pages = places.flatMap(([x, y], index) => [page(9000 * index), click(5000, x, y)]);
  t.equal(count(F.quietClicks, pages), 0, "each page has a clock of its own");
});

t.test("a pasted form counts without keys and menu only", async (t) => {
  const form = event("form", { field_count: 5, count: 5, unkeyed: 0, fill_ms: 4000, autofill: false, submit: true });
  const paste = event("key", { count: 0, backspaces: 0, pastes: 1, trusted: true });
  const pasted = [paste, paste, paste, paste, form].map((each, index) => ({ ...each, request_id: `paste-0${index}` }));
  t.equal(count(F.pastes, pasted), 4);
  t.equal(count(F.keys, pasted), 0, "a paste is no key");
  t.ok(fired(pasted).includes(300603));
  const strokes: StrokeRow[] = [0, 1, 2, 3].map((index) => [2000 * index, 70 + 9 * index]);
  t.notOk(fired([...pasted, event("key", { t: 1, strokes, count: 4, trusted: true })]).includes(300603), "Ctrl+V");
  const menus = [1, 2].map((index) => click(2000 * index, 300, 200, { button: 2 }));
  t.notOk(fired([...pasted, ...menus]).includes(300603), "the context menu");
  const finger = event("touch", { t: 1, x: 3, y: 5, dwell: 700, pointer_type: "touch", trusted: true });
  t.notOk(fired([...pasted, finger]).includes(300603), "a finger");
});

t.test("the signs that decided on an unknown agent are said, also one that is too little to fire", async (t) => {
  const decidedBy = (...events: IngestEvent[]) =>
    explain(folded([env, ...events]), lastRequest).find(({ id }) => id === 300600)?.decidedBy;
  const acts = (payload: EventPayload) => event("env", payload);
  const form = event("form", { field_count: 2, count: 2, unkeyed: 2, fill_ms: 900, autofill: false, submit: true });
  const press = click(900, 500, 400, { pressure: 0 });
  const arrival = [page(0), move(3000, 500, 400), click(3040, 500, 400)];
  const voice = [0, 1, 2, 3].flatMap((index) => [
    move(4000 * index + 1, 200 + 100 * index, 300),
    click(4000 * index + 40, 200 + 100 * index, 300),
  ]);
  t.strictSame(decidedBy(form, press), ["presses-without-pressure", "form-without-keys"]);
  t.strictSame(decidedBy(form, acts({ lone_activations: 1, x: 400, y: 300 })), [
    "activation-without-input",
    "form-without-keys",
  ]);
  t.strictSame(decidedBy(...arrival, acts({ lone_activations: 1 })), ["activation-without-input", "clicks-on-arrival"]);
  t.strictSame(decidedBy(...voice, acts({ exact_clicks: 4, stack_probe: true })), [
    "debugger-attached",
    "clicks-on-arrival",
    "clicks-out-of-silence",
    "exactly-in-the-middle",
  ]);
  t.equal(decidedBy(form), undefined, "a password manager's person is not named");
});

t.test("a form without keys names beside what only a driver gives, and never by itself", async (t) => {
  const acting = 300600;
  const form = (more: EventPayload) =>
    event("form", { field_count: 2, count: 2, unkeyed: 2, fill_ms: 900, autofill: false, submit: true, ...more });
  const filled = form({});
  const placed = (count: number) => event("env", { placed_texts: count });
  t.notOk(fired([filled]).includes(300615), "as a password manager's person does");
  t.notOk(fired([filled, placed(1)]).includes(300615), "one field says nothing");
  t.notOk(fired([placed(2)]).includes(300615), "nor do fields of a form with keys");
  t.ok(fired([filled, placed(2)]).includes(300615));
  for (const [name, more] of [
    ["autofill", { autofill: true, unkeyed: 0 }],
    ["one field", { field_count: 1, count: 1, unkeyed: 1 }],
    ["one of two by keys", { count: 13, unkeyed: 1 }],
    ["two of three by a manager, one by keys", { field_count: 3, count: 14, unkeyed: 2 }],
    ["pasted", { unkeyed: 0 }],
  ] as const satisfies [string, EventPayload][]) {
    t.equal(count(F.unkeyedForms, [form(more)]), 0, name);
  }
  t.equal(count(F.unkeyedForms, [form({ field_count: 3, count: 3 })]), 1, "with a box that was ticked");

  const exact = event("env", { exact_clicks: 1 });
  const fine = event("mouse", { t: 900, points: [[0, 500.3, 400.1]], ...mouse, count: 1, coalesced: 1, fractional: 1 });
  const pinched = event("mouse", {
    t: 3000,
    points: wobblyPath(60, 4),
    ...mouse,
    count: 60,
    coalesced: 2,
    fractional: 1,
  });
  const whole = event("mouse", { t: 900, points: [[0, 500, 400]], ...mouse, count: 1, coalesced: 1, fractional: 0 });
  const beside: [string, IngestEvent[]][] = [
    ["an activation", [event("env", { lone_activations: 1 })]],
    ["a press without pressure", [click(900, 500, 400, { pressure: 0 })]],
    ["a press between pixels in the very middle", [exact, fine]],
    ["the same before the third file is there", [page(0), fine, click(940, 500, 400, { off_center: 0.03 })]],
    ["texts that the browser put in", [placed(2)]],
  ];
  for (const [name, acts] of beside) {
    t.notOk(fired(acts).includes(acting), `${name} alone`);
    t.ok(fired([filled, ...acts]).includes(acting), name);
    const safari = event("env", { eval_length: 37 });
    t.notOk(fired([filled, ...acts, safari]).includes(acting), `${name}, of another engine`);
  }
  const aids: [string, IngestEvent[]][] = [
    ["voice control, on whole pixels", [exact, whole, page(0), move(3000, 500, 400), click(3040, 500, 400)]],
    ["a zoomed page", [event("env", { dpr: 1.25 }), exact, fine]],
    ["a page zoomed by pinching, by hand", [page(0), pinched, click(6000, 500, 400, { off_center: 0.03 })]],
    ["the same, and a click beside the middle", [page(0), fine, click(940, 500, 400, { off_center: 0.2 })]],
    [
      "the same, and the middle hit by hand later",
      [
        page(0),
        fine,
        click(940, 500, 400, { off_center: 0.2 }),
        event("mouse", { t: 5000, points: wobblyPath(60, 4), ...mouse, count: 60 }),
        click(8000, 300, 200, { off_center: 0.03 }),
      ],
    ],
    [
      "the middle on arrival, by the right button",
      [page(0), fine, click(940, 500, 400, { off_center: 0.03, button: 2 })],
    ],
    [
      "another screen before, on arrival",
      [
        event("env", { dpr: 1.25 }),
        fine,
        event("env", { dpr: 1 }),
        page(2000),
        whole,
        page(3000),
        move(3000, 500, 400),
      ].concat(click(3040, 500, 400, { off_center: 0.03 })),
    ],
    ["open developer tools", [event("env", { stack_probe: true })]],
    ["a chain of pages", [0, 300, 700, 1150].map((at) => page(at, { referrer_host: "shop.example" }))],
  ];
  for (const [name, acts] of aids) t.notOk(fired([...acts, filled]).includes(acting), name);
  t.equal(score([filled, ...beside[2]![1]]), score([filled, fine]), "and lowers no score by that");
});

t.test(
  "texts sooner than dictation has them name by a mouse of no window system, which says nothing alone",
  async (t) => {
    const acting = 300600;
    const form = event("form", { field_count: 3, count: 3, unkeyed: 3, fill_ms: 9000, autofill: false, submit: true });
    const windows = { userAgent: lastRequest.userAgent, secChUaPlatform: '"Windows"' };
    const userAgent = windows.userAgent.replace("Windows NT 10.0; Win64; x64", "X11; Linux x86_64");
    const linux = { userAgent, secChUaPlatform: '"Linux"' };
    const system = event("env", { platform: "Linux x86_64", user_agent: userAgent });
    const texts = event("env", { late_texts: 2 });
    const way = (more: EventPayload = {}) =>
      event("mouse", { t: 900, points: wobblyPath(40, 4), count: 40, coalesced: 1, fractional: 0, ...mouse, ...more });
    const presses = (dwell: number) => [2000, 4000, 6000].map((at) => click(at, 300, 200, { dwell, pressure: 0.5 }));
    const known = (events: IngestEvent[], facts = linux) => {
      const features = folded([env, system, ...events], { facts: { ...chromeFacts, ...facts } });
      return combine(runEngines(features, { ...lastRequest, ...facts })).detectionIds.filter(
        (id) => id === acting || id === 300617,
      );
    };
    const driven = [way(), ...presses(84.4)];
    const keyed = { ...form, payload: { ...form.payload, unkeyed: 0 } };
    const places: PointRow[] = [0, 1, 2].map((index) => [90 * index, 300 + 40 * index, 200 + 30 * index]);
    const wayOf = (points: PointRow[]) => way({ points, count: points.length });
    const holds = ([first, second]: number[]) =>
      presses(84).map((each, index) => ({
        ...each,
        payload: { ...each.payload, dwell: [first, second][index] ?? 84 },
      }));
    t.same(known([...driven, texts, form]), [acting, 300617]);
    t.same(known([...driven, event("env", { placed_texts: 1, led_texts: 1 }), form]), [acting, 300617]);
    t.same(known([way(), ...holds([84.4, 84.4]), texts, form]), [acting, 300617], "two holds");
    t.same(known([wayOf(places), ...presses(84.4), texts, form]), [acting, 300617], "three places");
    const people: [string, IngestEvent[]][] = [
      ["a remote desktop under Wayland", [...driven, form]],
      ["and one phrase by dictation", [...driven, event("env", { late_texts: 1 }), form]],
      ["dictation under X11, speaking all the time", [way(), ...presses(84), event("env", { led_texts: 3 }), form]],
      ["the same where times are rounded to tenths", [way(), ...presses(84.1), texts, form]],
      [
        "the same under Wayland",
        [way({ points: [[0, 300.5, 200.25], ...wobblyPath(9)] }), ...presses(84.4), texts, form],
      ],
      ["one hold of a fraction", [way(), ...holds([84.4, 84]), texts, form]],
      ["a mouse in two places", [wayOf(places.slice(1)), ...presses(84.4), texts, form]],
      ["a form with keys", [...driven, texts, keyed]],
      ["a tablet with a mouse", [event("env", { touch_points: 5 }), ...driven, texts, form]],
      ["a zoomed page", [event("env", { dpr: 1.25 }), ...driven, texts, form]],
      [
        "fingers",
        [
          way(),
          ...presses(84.4).map((each) => ({ ...each, payload: { ...each.payload, pointer_type: "touch" } })),
          texts,
          form,
        ],
      ],
    ];
    for (const [name, acts] of people) t.same(known(acts), [], name);
    t.same(known([...driven, texts, form], windows), [], "Windows has a finer clock");
    const app = { ...linux, userAgent: `${userAgent} Electron/33.0.0` };
    t.same(known([...driven, texts, form], app), [], "apps put texts in for their people");
  },
);

t.test("texts sooner than anybody speaks name where each click is in the middle, and nowhere else", async (t) => {
  const acting = 300600;
  const form = event("form", { field_count: 3, count: 3, unkeyed: 3, fill_ms: 9000, autofill: false, submit: true });
  const presses = (offCenter: number) =>
    [0, 1, 2, 3, 4].map((index) => click(4000 * index + 40, 300 + 90 * index, 200, { off_center: offCenter }));
  const acts = (more: EventPayload) => event("env", { exact_clicks: 5, led_texts: 3, ...more });
  const known = (events: IngestEvent[]) => fired(events).filter((id) => id === acting || id === 300618);
  t.same(known([...presses(0.01), acts({}), form]), [acting, 300618]);
  t.same(known([...presses(0.01).slice(1), acts({}), form]), [acting, 300618], "four clicks");
  const mixed = acts({ placed_texts: 1, led_texts: 1 });
  t.same(known([...presses(0.01), mixed, form]), [acting, 300618], "one text after a press, one without");
  const people: [string, IngestEvent[]][] = [
    ["voice control and dictation", [...presses(0.01), acts({ led_texts: 0, late_texts: 3 }), form]],
    ["voice control and a password manager", [...presses(0.01), acts({ led_texts: 0 }), form]],
    ["dictation while a hand presses", [...presses(0.4), acts({ exact_clicks: 0 }), form]],
    ["one click beside the middle", [...presses(0.01), click(90_000, 20, 20, { off_center: 0.3 }), acts({}), form]],
    ["one phrase", [...presses(0.01), acts({ led_texts: 1 }), form]],
    ["a form with keys", [...presses(0.01), acts({}), { ...form, payload: { ...form.payload, unkeyed: 0 } }]],
    ["three clicks", [...presses(0.01).slice(0, 3), acts({ exact_clicks: 3 }), form]],
    ["a key", [...presses(0.01), acts({}), event("key", { t: 1, strokes: [[0, 80]], count: 1, trusted: true }), form]],
    ["a pointer that was led", [...presses(0.01), acts({ exact_clicks: 2 }), form]],
  ];
  for (const [name, events] of people) t.same(known(events), [], name);
});

t.test("ten holds that are equal to a millisecond", async (t) => {
  const keys = (hold: (index: number) => number) =>
    event("key", {
      t: 1000,
      strokes: Array.from({ length: 12 }, (_, index): StrokeRow => [190 * index + (index % 3) * 17, hold(index)]),
      count: 12,
      trusted: true,
    });
  t.ok(fired([keys((index) => 80 + (index % 2) * 0.9)]).includes(300604));
  t.notOk(fired([keys((index) => (index === 8 ? 96 : 80))]).includes(300604));
  t.notOk(fired([keys((index) => 70 + ((index * 37) % 50))]).includes(300604));
});

t.test("pages that are left at once, three in a row", async (t) => {
  const at = (times: number[], more: EventPayload = {}) =>
    times.map((each) => page(each, { referrer_host: "shop.example", ...more }));
  t.ok(fired(at([0, 300, 700, 1150])).includes(300605));
  t.equal(count(F.quickPagesMax, at([0, 300, 5000, 5300])), 1, "not in a row");
  for (const nav_type of ["reload", "back_forward", "spa"]) {
    t.equal(count(F.quickPagesMax, at([0, 300, 700, 1150], { nav_type })), 0, nav_type);
  }
  t.equal(count(F.quickPagesMax, at([0, 300, 700, 1150], { state: "hidden" })), 0, "tabs opened in the background");
});

t.test("addresses that come by themselves", async (t) => {
  const pages = [0, 4000, 9000, 13_000].map((at) => page(at));
  t.ok(fired(pages).includes(300606));
  const between = (more: IngestEvent) =>
    pages.flatMap((each, index) => [each, { ...more, request_id: `between-${index}` }]);
  t.equal(count(F.typedPages, between(event("focus", { state: "blur" }))), 0, "the address bar takes the focus");
  t.equal(count(F.typedPages, between(click(900, 4, 5))), 0, "a link without a referrer");
  t.equal(count(F.typedPages, between(event("focus", { state: "focus" }))), 3, "to have the focus is no act");
  const linked = pages.map((each) => ({ ...each, payload: { ...each.payload, referrer_host: "shop.example" } }));
  t.equal(count(F.typedPages, linked), 0, "links");
});

t.test("an unknown agent is named by signs that no aid gives, beside others", async (t) => {
  const acts = (payload: EventPayload) => event("env", payload);
  const arrival = [page(0), move(3000, 500, 400), click(3040, 500, 400)];
  const voice = [0, 1, 2, 3].flatMap((index) => [
    move(4000 * index + 1, 200 + 100 * index, 300),
    click(4000 * index + 40, 200 + 100 * index, 300),
  ]);
  const acting = 300600;
  t.ok(fired([...arrival, acts({ lone_activations: 1 })]).includes(acting));
  t.ok(fired([acts({ lone_activations: 2, shared_focus: 2 })]).includes(acting));
  t.ok(fired([...voice, acts({ exact_clicks: 4, stack_probe: true })]).includes(acting), "a debugger's client, late");
  t.notOk(
    fired([...voice, acts({ exact_clicks: 4, hidden_acts: 9, unpaired_keys: 5 })]).includes(acting),
    "an aid's signs alone",
  );
  t.notOk(fired([...arrival, acts({ stack_probe: true })]).includes(acting), "open developer tools");
  t.notOk(fired([acts({ lone_activations: 9 })]).includes(acting), "their console");
  const sent = [page(0), move(3000, 500, 400), click(3040, 500, 400, { pressure: 0 })];
  t.ok(fired(sent).includes(acting), "a form is sent by one press, which has no pressure and no way there");
  t.notOk(fired(sent).includes(300613), "one press alone weighs nothing");
  t.notOk(fired([click(900, 500, 400, { pressure: 0 })]).includes(acting), "nor does it name anybody");
  t.notOk(fired([...sent, acts({ eval_length: 37 })]).includes(acting), "Safari gives no press any pressure");
  const firefox = acts({ lone_activations: 3, eval_length: 37 });
  t.notOk(fired([...arrival, firefox]).includes(acting), "Firefox activates pages of people, too");
  t.equal(score([...arrival, acts({ shared_focus: 2 })]), score(arrival), "and lowers no score by that");
});

t.test(
  "an activation before the pointer and a press without pressure make a bot, and are no bot's elsewhere",
  async (t) => {
    const active = event("env", { lone_activations: 1, x: 400, y: 300 });
    const byBorder = [
      [400, 12],
      [3, 300],
      [1890, 300],
    ].map(([x, y]) => count(F.activeMoves, [event("env", { lone_activations: 1, x: x!, y: y! })]));
    t.same(byBorder, [0, 0, 0], "from a bookmark's script or a side panel");
    t.equal(score([active]), 27);
    const presses = [0, 1].map((index) => click(900 * index, 300 + 90 * index, 200, { pressure: 0 }));
    t.equal(score(presses), 27);
    t.ok(score([page(0), active, ...presses]) <= 12, "together they are sure");
    t.equal(count(F.weightlessPresses, [click(1, 3, 4, { pressure: 0.5 }), click(2, 3, 4)]), 0);
    for (const pointer_type of ["touch", "pen", "none"]) {
      t.equal(count(F.weightlessPresses, [click(1, 3, 4, { pressure: 0, pointer_type })]), 0, pointer_type);
    }
    // Safari under another name gives no press any pressure.
    const safari = event("env", { eval_length: 37 });
    for (const id of [300607, 300612, 300613]) {
      const acts = [active, event("env", { lone_activations: 1 }), ...presses];
      t.ok(fired(acts).includes(id));
      t.notOk(fired([safari, ...acts]).includes(id), `${id} of another engine`);
    }
  },
);

t.test("addresses that are opened within half a second each", async (t) => {
  const pages = [0, 300, 700, 1150].map((at) => page(at));
  t.equal(score(pages), 27);
  const slow = [0, 300, 5700, 6150].map((at) => page(at));
  t.notOk(fired(slow).includes(300614));
  const forwarding = pages.flatMap((each, index) => [
    each,
    { ...event("focus", { state: "leave" }), request_id: `leave-000${index}` },
  ]);
  t.notOk(fired(forwarding).includes(300614), "pages that go on by themselves");
  t.equal(count(F.typedPages, forwarding), 0);
  const resting = pages.flatMap((each, index) => [each, { ...move(90, 500, 400), request_id: `rest-0000${index}` }]);
  t.ok(fired(resting).includes(300614), "a pointer that rests there does nothing");
  const replaced = pages.flatMap((each, index) => [
    each,
    { ...event("focus", { state: "blur" }, Date.parse(each.received_at) + 290), request_id: `blur-0000${index}` },
  ]);
  t.ok(fired(replaced).includes(300614), "a browser takes the focus from a page that it replaces");
});

t.test("counts of the third file add up", async (t) => {
  const more: EventPayload = {
    exact_clicks: 3,
    hidden_acts: 3,
    shared_focus: 2,
    unpaired_keys: 3,
    lone_activations: 2,
  };
  const features = folded([env, event("env", more), event("env", { exact_clicks: -5, hidden_acts: 1e9 })]);
  t.equal(features.numbers[F.exactClicks], 3);
  t.equal(features.numbers[F.hiddenActs], 1003, "bounded");
  const ids = combine(runEngines(features, lastRequest)).detectionIds;
  for (const id of [300607, 300608, 300609, 300610, 300611]) t.ok(ids.includes(id), `${id}`);
});

t.test(
  "touches without a touch screen name beside another sign or a form without keys, and a finger's never",
  async (t) => {
    const acting = 300600;
    const pointers = (any_pointer: string[], more: EventPayload = {}) => event("env", { any_pointer, ...more });
    const mouseOnly = pointers(["fine", "hover"]);
    const touch = (radius: number, more: EventPayload = {}) =>
      event("touch", { t: 900, x: 500, y: 400, radius, pressure: 1, pointer_type: "touch", trusted: true, ...more });
    const tap = (at: number, more: EventPayload = {}) =>
      click(at, at / 10, 400, { pointer_type: "touch", off_center: 0.2, ...more });
    const form = event("form", { field_count: 3, count: 3, unkeyed: 3, fill_ms: 9000, autofill: false, submit: true });
    const texts = event("env", { led_texts: 2 });
    const known = (events: IngestEvent[]) => fired(events).filter((id) => id === acting || id === 300619);
    t.same(known([mouseOnly, touch(1)]), [300619], "alone it names nobody");
    t.same(known([mouseOnly, touch(1), tap(960), form]), [acting, 300619], "as a debugger's client sends them");
    t.same(
      known([touch(0.5), tap(960), form, mouseOnly]),
      [acting, 300619],
      "as Puppeteer does; pointers are told later",
    );
    t.same(known([mouseOnly, touch(12), tap(960), texts, form]), [acting], "as wide as a finger, with texts at once");
    t.same(known([mouseOnly, touch(1), event("env", { lone_activations: 1 })]), [acting, 300619]);
    const middles = [1, 2, 3].map((each) => tap(2000 * each, { off_center: 0 }));
    t.same(known([mouseOnly, touch(1), ...middles]), [acting, 300619], "three taps in the middle");
    t.same(known([mouseOnly, touch(1), ...middles.slice(1)]), [300619], "two");
    const filled = event("form", {
      field_count: 4,
      count: 4,
      unkeyed: 0,
      fill_ms: 4000,
      autofill: false,
      submit: true,
    });
    const pasted = [1, 2, 3, 4].map((each) => event("key", { t: each, count: 0, pastes: 1, trusted: true }));
    t.same(known([mouseOnly, touch(1), ...pasted, filled]), [acting, 300619], "no finger pasted it");
    const explained = explain(folded([env, mouseOnly, touch(12), texts, form]), lastRequest);
    t.same(explained.find(({ id }) => id === acting)?.decidedBy, ["touches-without-touch-screen", "form-without-keys"]);

    const driven = [touch(1), ...middles, texts, form];
    const people: [string, IngestEvent[]][] = [
      ["touch points", [mouseOnly, event("env", { touch_points: 1 }), ...driven]],
      ["the same on another page of the visit", [event("env", { touch_points: 1 }), mouseOnly, env, ...driven]],
      ["a coarse pointer, where something hides the points", [pointers(["fine", "coarse", "hover"]), ...driven]],
      ["the same on an earlier page", [pointers(["fine", "coarse"]), mouseOnly, ...driven]],
      ["pointers that are not known yet", driven],
      ["a browser that knows no pointer", [pointers([]), ...driven]],
      ["touches of a script", [mouseOnly, touch(1, { trusted: false }), form]],
      ["a touch that is hardly wider, and a password manager", [mouseOnly, touch(1.1), tap(960), form]],
      ["device mode, and a password manager", [mouseOnly, touch(11.5), tap(960), form]],
      ["device mode, the middle of three targets", [mouseOnly, touch(11.5), ...middles, form]],
      ["device mode, four fields pasted", [mouseOnly, touch(11.5), ...pasted, filled]],
      ["device mode, and one phrase by dictation", [mouseOnly, touch(11.5), event("env", { led_texts: 1 }), form]],
      ["another engine", [mouseOnly, event("env", { eval_length: 37 }), ...driven]],
    ];
    for (const [name, events] of people) t.same(known(events), [], name);
    const phone = { userAgent: lastRequest.userAgent.replace("Windows NT 10.0; Win64; x64", "Linux; Android 10; K") };
    phone.userAgent = phone.userAgent.replace("Safari", "Mobile Safari");
    for (const userAgent of [phone.userAgent, `${lastRequest.userAgent} Electron/33.0.0`]) {
      const features = folded([env, mouseOnly, ...driven], { facts: { ...chromeFacts, userAgent } });
      const { detectionIds } = combine(runEngines(features, { ...lastRequest, userAgent }));
      t.notOk(detectionIds.includes(acting) || detectionIds.includes(300619), userAgent);
    }
    t.equal(
      score([mouseOnly, ...driven]),
      score([event("env", { touch_points: 1 }), ...driven]),
      "and lowers no score",
    );
  },
);
