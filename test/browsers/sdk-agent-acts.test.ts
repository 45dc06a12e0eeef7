/** How agents act, counted in real pages: by a driver's own calls, and by what must not count. */
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { shippedAgentMarks } from "../../src/bots/marks/catalogue.js";
import type { EventPayload } from "../../src/contract/events/events.js";
import { pointsOf } from "../../src/contract/events/packed-points.js";
import { agentsFile, openSite, pageWith } from "../sdk/site.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const browser = await launch(t);
const buttons = ["a", "b", "c", "d"].map(
  (id, index) =>
    `<button id="${id}" style="position:absolute;left:${40 + 170 * index}px;top:${60 + 90 * index}px;width:121px;height:41px">${id}</button>`,
);
const body = `${buttons.join("")}<input id="field" style="position:absolute;left:40px;top:500px">`;

async function openSiteWith(t: Test, html = body) {
  const site = await openSite(t);
  site.pages.set("/sdk-agents.js", agentsFile(shippedAgentMarks()));
  site.pages.set("/", pageWith('data-interval="250"', html));
  const context = await browser.newContext();
  t.teardown(() => context.close());
  await context.addInitScript(() => {
    const told: unknown[] = [];
    const { postMessage } = BroadcastChannel.prototype;
    BroadcastChannel.prototype.postMessage = function (what) {
      told.push(what);
      postMessage.call(this, what);
    };
    Object.assign(globalThis, { told });
  });
  const openPage = async (before?: string) => {
    const page = await context.newPage();
    if (before !== undefined) await page.addInitScript(before);
    const loaded = page.waitForResponse((response) => response.url().endsWith("/sdk-agents.js"));
    await page.goto(site.origin);
    await loaded;
    return page;
  };
  const total = (key: keyof EventPayload) =>
    site.posts.flatMap(({ batch }) => batch.events).reduce((sum, { payload }) => sum + Number(payload[key] ?? 0), 0);
  return { site, openPage, total };
}

type Site = Awaited<ReturnType<typeof openSiteWith>>["site"];
const reported = (site: Site, key: keyof EventPayload) =>
  site.event("env", ({ payload }) => payload[key] !== undefined);

let marker = 1000;

/** Has everything reported that the page counts until now: it leaves with an event that the page makes. */
async function reportAll(site: Site, page: Page): Promise<void> {
  const x = ++marker;
  await page.evaluate(`dispatchEvent(new MouseEvent("click", { clientX: ${x} }))`);
  await site.event("click", ({ payload }) => payload.x === x);
}

t.test("an evaluation activates the page, and no input explains it", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  const page = await openPage();
  const looked = page.evaluate("1 + 1");
  t.ok(await reported(site, "lone_activations"));
  await looked;
});

t.test(
  "an activation that a key, a frame, a film or the page's own click may have given counts for nothing",
  async (t) => {
    for (const more of ["", '<iframe srcdoc="<p>"></iframe>', "<video></video>"]) {
      const { site, openPage, total } = await openSiteWith(t, body + more);
      const page = await openPage();
      if (more === "") await page.mouse.click(5, 5);
      await page.evaluate("document.body.click()");
      await reportAll(site, page);
      t.equal(total("lone_activations"), 0, more || "a press and a click of the page");
    }
  },
);

t.test("keys that an extension keeps from the page explain an activation", async (t) => {
  // A mark, which says when the page is looked at.
  const { site, openPage, total } = await openSiteWith(t, `${body}<div id="claude-agent-glow-border"></div>`);
  // As keyboard navigation does; its click comes after the page was looked at.
  const page = await openPage(`for (const type of ["keydown", "keyup"]) addEventListener(type, (event) => {
    event.stopImmediatePropagation();
    if (type === "keyup") setTimeout(() => document.body.click(), 1500);
  }, true)`);
  await reported(site, "agent_marks");
  await page.keyboard.press("f");
  await site.event("click");
  t.equal(total("lone_activations"), 0);
});

t.test("a key that sends a form explains its activation before the browser has counted it", async (t) => {
  const mark = '<div id="claude-agent-glow-border"></div>';
  for (const isFirst of [true, false]) {
    const { site, openPage, total } = await openSiteWith(t, `${body}<form onsubmit="return false"></form>${mark}`);
    // Counts as older Chromium does, after the listeners; all that came before the key is long ago.
    const page = await openPage(`let ahead = 0;
      const { now } = Performance.prototype;
      Performance.prototype.now = function () { return now.call(this) + ahead };
      let isListening = false;
      const { get } = EventCounts.prototype;
      EventCounts.prototype.get = function (type) { return get.call(this, type) - (isListening && type === "keydown") };
      addEventListener("keydown", () => { ahead = 60_000 }, true);
      addEventListener("keydown", () => {
        isListening = true;
        document.forms[0].requestSubmit();
        isListening = false;
      })`);
    await reported(site, "agent_marks");
    if (!isFirst) {
      await page.mouse.click(20, 20);
      await site.event("click");
    }
    await page.keyboard.press("Enter");
    await site.event("form");
    t.equal(total("lone_activations"), 0, isFirst ? "the page's first input" : "a later one");
  }
});

t.test("the pointer finds a page activated that nobody has touched", async (t) => {
  const { site, openPage, total } = await openSiteWith(t);
  const found = () =>
    site.posts
      .flatMap(({ batch }) => batch.events)
      .filter(({ payload }) => payload.lone_activations !== undefined && payload.x !== undefined);
  const page = await openPage();
  await page.evaluate("1 + 1");
  await page.mouse.move(400, 300);
  await page.evaluate("1 + 1");
  await page.mouse.move(420, 310);
  await reportAll(site, page);
  t.same(
    found().map(({ payload }) => [payload.x, payload.y]),
    [[400, 300]],
    "once",
  );
  t.ok(total("lone_activations") > 0);

  const cases: [string, string, (page: Page) => Promise<unknown>][] = [
    ["a frame may have given it", '<iframe srcdoc="<p>"></iframe>', (page) => page.mouse.move(400, 300)],
    ["a key was pressed", "", (page) => page.keyboard.press("x")],
    [
      "an input method wrote, which has no key",
      '<input id="dictated">',
      async (page) => {
        await page.focus("#dictated");
        await page.keyboard.insertText("x");
      },
    ],
    [
      "the pointer had been on its way, into a frame that nobody sees",
      "",
      async (page) => {
        await page.mouse.move(300, 200);
        await page.mouse.move(310, 205);
      },
    ],
    ["another window had the focus", "", (page) => page.evaluate('dispatchEvent(new Event("blur"))')],
  ];
  for (const [name, more, before] of cases) {
    const other = await openSiteWith(t, body + more);
    const visited = await other.openPage();
    await before(visited);
    await visited.evaluate("1 + 1");
    await visited.mouse.move(400, 300);
    await visited.mouse.move(440, 320);
    await reportAll(other.site, visited);
    const moves = other.site.posts
      .flatMap(({ batch }) => batch.events)
      .filter(({ payload }) => payload.lone_activations !== undefined && payload.x !== undefined);
    t.same(moves, [], name);
  }
});

t.test(
  "a press in a frame that the page can't see, as in an extension's icon, is no activation without an input",
  async (t) => {
    const icon = `<div id="host" style="position:absolute;left:600px;top:300px"></div><script>{
    const frame = document.createElement("iframe");
    frame.style.cssText = "width:80px;height:80px;border:0";
    frame.srcdoc = "<body style='margin:0;height:80px' onmousedown='event.preventDefault()'>";
    document.getElementById("host").attachShadow({ mode: "closed" }).append(frame);
  }</script>`;
    // A mark, whose report says that the third file follows the pointer, too.
    const { site, openPage, total } = await openSiteWith(t, `${body}${icon}<div id="claude-agent-glow-border"></div>`);
    const page = await openPage();
    await reported(site, "agent_marks");
    const isSeen = (at: number) => site.event("mouse", ({ payload }) => pointsOf(payload).some(([, x]) => x === at));
    await page.mouse.move(420, 300);
    await page.mouse.move(500, 320);
    // Of moves from before the SDK follows the pointer it knows nothing.
    await isSeen(500);
    await page.mouse.move(640, 340);
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.move(450, 310);
    t.ok(await isSeen(450));
    await reportAll(site, page);
    t.equal(await page.evaluate("window.length"), 0, "the frame is none of the page's");
    t.equal(total("lone_activations"), 0);
  },
);

t.test("a press tells its pressure, and a page that goes on by itself says so", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  site.pages.set("/next", pageWith('data-interval="250"', body));
  const page = await openPage();
  const session = await page.context().newCDPSession(page);
  for (const force of [undefined, 0.5]) {
    for (const type of ["mousePressed", "mouseReleased"] as const) {
      const more = { button: "left" as const, clickCount: 1, ...(force !== undefined && { force }) };
      await session.send("Input.dispatchMouseEvent", { type, x: 60, y: 70, ...more });
    }
    t.ok(await site.event("click", ({ payload }) => payload.pressure === (force ?? 0)), `${force}`);
  }
  const left = site.event("focus", ({ payload }) => payload.state === "leave");
  await page.evaluate('location.href = "/next"');
  t.ok(await left);
  await page.waitForURL("**/next");
  const opened = (path: string) =>
    site.posts
      .flatMap(({ batch }) => batch.events)
      .filter(({ type, payload }) => type === "page" && payload.path === path);
  const leaves = () =>
    site.posts.flatMap(({ batch }) => batch.events).filter(({ payload }) => payload.state === "leave").length;
  const before = leaves();
  await page.goto(`${site.origin}/`);
  await reportAll(site, page);
  t.ok(opened("/next").length > 0);
  t.equal(leaves(), before, "an address from outside");
});

t.test("element clicks hit the middle without a way there; a moved pointer's don't count", async (t) => {
  const { site, openPage, total } = await openSiteWith(t);
  const page = await openPage();
  // A script's own moves are none of the pointer's.
  await page.evaluate(`addEventListener("pointermove", (event) => {
    for (let n = 1; event.isTrusted && n < 9; n++) event.target.dispatchEvent(
      new PointerEvent("pointermove", { bubbles: true, pointerType: "mouse", screenX: n, screenY: n }))
  }, true)`);
  for (const id of ["a", "b", "c"]) await page.click(`#${id}`);
  await reportAll(site, page);
  t.equal(total("exact_clicks"), 3);

  const other = await openSiteWith(t);
  const second = await other.openPage();
  for (const id of ["a", "b", "c"]) {
    const box = (await second.locator(`#${id}`).boundingBox())!;
    await second.mouse.move(box.x + 9, box.y + 9, { steps: 8 });
    await second.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 8 });
    await second.mouse.down();
    await second.mouse.up();
    await second.mouse.click(box.x + 20, box.y + 12);
  }
  await reportAll(other.site, second);
  t.equal(other.total("exact_clicks"), 0);
});

t.test("letters that go down twice are counted, and what systems do with keys is not", async (t) => {
  const { site, openPage, total } = await openSiteWith(t);
  const page = await openPage();
  await page.click("#field");
  const dispatch = async (type: string, code: string, more: object = {}) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Input.dispatchKeyEvent", {
      type: type as "keyDown",
      code,
      key: code.slice(-1).toLowerCase(),
      ...more,
    });
    await session.detach();
  };
  // Held down: the system repeats it; released: once for each.
  await dispatch("keyDown", "KeyA");
  await dispatch("keyDown", "KeyA", { autoRepeat: true });
  await dispatch("keyUp", "KeyA");
  // A Mac tells no release of a letter while the command key is held.
  for (let times = 0; times < 4; times++) await dispatch("keyDown", "KeyV", { modifiers: 4 });
  await reportAll(site, page);
  t.equal(total("unpaired_keys"), 0);

  for (let times = 0; times < 4; times++) await dispatch("keyDown", "KeyB");
  await reported(site, "unpaired_keys");
  await page.evaluate("document.body.click()");
  t.ok(total("unpaired_keys") >= 1);
});

t.test("two tabs with the focus at once", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  const first = await openPage();
  await openPage();
  // A driver emulates the focus for each of its pages.
  const asked = reported(site, "shared_focus");
  let isOver = false;
  asked
    .then(() => {
      isOver = true;
    })
    .catch(() => {});
  while (!isOver) {
    await first.evaluate("document.body.click()");
    await first.waitForTimeout(100);
  }
  t.ok(await asked);
});

t.test("a tab that is alone tells the others nothing", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  const told = (page: Page) => page.evaluate<string[]>("window.told");
  const first = await openPage();
  for (let reports = 0; reports < 3; reports++) await reportAll(site, first);
  t.same(await told(first), ["came"]);
  const second = await openPage();
  t.same(await told(second), ["came"]);
  await first.waitForFunction('window.told.includes("here")');
  await reportAll(site, first);
  await first.waitForFunction('window.told.includes("focus")');
  await reportAll(site, first);
  t.equal((await told(first)).filter((each) => each === "focus").length, 1, "not with each report");
});

t.test("texts that the browser puts into a field as it gets the focus", async (t) => {
  const { site, openPage, total } = await openSiteWith(t, '<input id="name"><textarea id="note"></textarea>');
  const page = await openPage();
  // A slow machine must not be late with the text: half a second takes ten.
  await page.evaluate("{ const now = performance.now.bind(performance); performance.now = () => now() / 20; }");
  const others: [string, () => Promise<unknown>][] = [
    ["letter by letter", () => page.keyboard.type("Ada Bell")],
    ["a sign of a picker", () => page.keyboard.insertText("\u{1F642}")],
    [
      "after a key, as a suggestion comes",
      () => page.keyboard.press("A").then(() => page.keyboard.insertText("da Bell")),
    ],
    ["a script that edits", () => page.evaluate('document.execCommand("insertText", false, "Ada Bell")')],
    [
      "an event of a script",
      () =>
        page.evaluate(
          'document.activeElement.dispatchEvent(new InputEvent("beforeinput", { bubbles: true, inputType: "insertText", data: "Ada Bell" }))',
        ),
    ],
  ];
  for (const [name, write] of others) {
    await page.focus("#name");
    await write();
    await reportAll(site, page);
    t.equal(total("placed_texts"), 0, name);
    await page.evaluate("document.activeElement.blur()");
  }
  /** Whoever used a hand before has not for a while. */
  const later = (ms: number) =>
    page.evaluate(`{ const now = performance.now; performance.now = () => now() + ${ms}; }`);
  await later(5000);
  for (const id of ["name", "note"]) {
    await page.focus(`#${id}`);
    await page.keyboard.insertText("Ada Bell");
    await page.keyboard.insertText("and more");
  }
  await reportAll(site, page);
  t.equal(total("placed_texts"), 2, "once a field");

  await later(5000);
  await page.focus("#name");
  await later(1000);
  await page.keyboard.insertText("Ada Bell");
  await reportAll(site, page);
  t.equal(total("placed_texts"), 2, "later, as who speaks");
  await later(5000);
  await page.evaluate('document.activeElement.blur(); dispatchEvent(new Event("focus"))');
  await page.focus("#name");
  await page.keyboard.insertText("Ada Bell");
  await reportAll(site, page);
  t.equal(total("placed_texts"), 2, "a window that came back with its field");
  for (const [name, reach] of [
    ["a press", () => page.click("#note")],
    ["Tab", () => page.keyboard.press("Shift+Tab")],
  ] as const) {
    await later(5000);
    await reach();
    await page.keyboard.insertText("Ada Bell");
    await reportAll(site, page);
    t.equal(total("placed_texts"), 2, `after ${name}, as who dictates all the time`);
  }
  await later(5000);
  await page.focus("#note");
  await page.keyboard.insertText("Ada Bell");
  await reportAll(site, page);
  t.equal(total("placed_texts"), 3, "and again without a hand");
});

t.test("texts sooner than anybody speaks, all together, also after a press", async (t) => {
  const fill = async (texts: [string, number][], isLed = true) => {
    const { site, openPage, total } = await openSiteWith(t, '<input id="name"><input id="mail"><textarea id="note">');
    const page = await openPage();
    await page.evaluate("{ const now = performance.now.bind(performance); performance.now = () => now() / 20; }");
    const later = (ms: number) =>
      page.evaluate(`{ const now = performance.now; performance.now = () => now() + ${ms}; }`);
    await later(5000);
    for (const [index, [text, ms]] of texts.entries()) {
      const field = `#${["name", "mail", "note"][index]}`;
      await (isLed ? page.click(field) : page.focus(field));
      await later(ms);
      await page.keyboard.insertText(text);
    }
    await reportAll(site, page);
    t.equal(total(isLed ? "placed_texts" : "led_texts"), 0);
    return [total(isLed ? "led_texts" : "placed_texts"), total("late_texts")];
  };
  const name = "Ada Bell of Norwich";
  t.same(
    await fill([
      [name, 0],
      [name, 600],
      [name, 100],
    ]),
    [2, 1],
  );
  t.same(
    await fill([
      [name, 1200],
      ["Ada", 600],
      ["Ada Bell", 900],
    ]),
    [0, 0],
    "as somebody dictates",
  );
  t.same(
    await fill([
      [name, 1200],
      [name, 600],
      [name, 600],
    ]),
    [0, 2],
    "the first was slow, together they were not",
  );
  t.same(
    await fill([
      [name, 5000],
      [name, 600],
      [name, 600],
    ]),
    [0, 0],
    "who speaks is slow at times",
  );
  t.same(
    await fill([
      ["a phrase that was ready before its field was pressed ".repeat(2), 0],
      ["Ada Bell", 3000],
    ]),
    [1, 0],
    "a long phrase makes no later one a quick one",
  );
  t.same(
    await fill(
      [
        [name, 10_000],
        [name, 0],
        ["Ada", 100],
      ],
      false,
    ),
    [2, 0],
    "without a hand each counts by its own time",
  );
});

t.test("keys that reach a hidden page", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  const page = await openPage();
  await page.evaluate('Object.defineProperty(Document.prototype, "hidden", { get: () => true })');
  for (let times = 0; times < 3; times++) await page.keyboard.press("x");
  await page.evaluate("document.body.click()");
  t.ok(await reported(site, "hidden_acts"));
});

t.test("a debugger's touches are narrow, and a mouse in the device mode is as wide as a finger", async (t) => {
  const { site, openPage } = await openSiteWith(t);
  const page = await openPage();
  const pointers = (await site.event("env", ({ payload }) => payload.any_pointer !== undefined)).payload.any_pointer;
  t.notOk(pointers?.includes("coarse"), "there is no touch screen");
  const client = await page.context().newCDPSession(page);
  const touched = async (count: number) => {
    await site.event("touch", () => site.posts.flatMap(({ batch }) => batch.events).filter(isTouch).length >= count);
    return site.posts.flatMap(({ batch }) => batch.events).filter(isTouch)[count - 1]!.payload;
  };
  const isTouch = ({ type }: { type: string }) => type === "touch";
  const tap = async (more: object) => {
    await client.send("Input.dispatchTouchEvent", {
      type: "touchStart",
      touchPoints: [{ x: 300, y: 520, ...more }],
    });
    await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  await tap({});
  t.match(await touched(1), { radius: 1, pressure: 1, trusted: true });
  await tap({ radiusX: 0.5, radiusY: 0.5, force: 0.5 });
  t.match(await touched(2), { radius: 0.5, pressure: 0.5, trusted: true }, "as Puppeteer sends them");
  await client.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 1 });
  await client.send("Emulation.setEmitTouchEventsForMouse", { enabled: true, configuration: "mobile" });
  // The browser turns it into a touch, and never answers that a mouse was pressed.
  page.mouse.click(300, 520).catch(() => {});
  t.ok((await touched(3)).radius! > 5, "turned on after the page has told its pointers");
});
