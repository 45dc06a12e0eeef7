/** What the collectors see in a real Chromium, driven as people and scripts drive it, and what they must never send. */
import t from "tap";
import { openSite, pageWith, wholeEnvironment } from "../sdk/site.js";
import { launch, launchAlone, noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const browser = await launch(t);
const quick = 'data-interval="250"';

t.test("pointer moves keep fractions, and say how they were delivered", async (t) => {
  const site = await openSite(t);
  // As many moves in one batch on a slow machine as well.
  site.pages.set("/", pageWith('data-interval="1500"'));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.mouse.move(100.5, 100.25);
  await page.mouse.move(400, 333.3, { steps: 12 });
  const { payload } = await site.event("mouse", (event) => event.payload.points!.length > 5);
  t.ok(payload.points!.length <= 256);
  t.equal(payload.points![0]![0], 0, "time counts from the first row");
  t.ok(payload.points!.every((row, index, rows) => index === 0 || row[0] >= rows[index - 1]![0]));
  t.ok(payload.points!.some((row) => row[1] % 1 !== 0 || row[2] % 1 !== 0));
  t.ok(payload.fractional! > 0 && payload.fractional! <= 1);
  t.equal(payload.trusted, true);
  t.equal(payload.pointer_type, "mouse");
  t.equal(payload.movement_mismatch, 0);
  t.ok(payload.coalesced! >= 1);
  await page.close();
});

t.test("once a page is zoomed nothing is said of fractions", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.mouse.move(100.5, 100.3);
  t.equal((await site.event("mouse")).payload.fractional, 1);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setPageScaleFactor", { pageScaleFactor: 2 });
  await page.mouse.move(300.5, 200.3, { steps: 3 });
  const { payload } = await site.event("mouse", (event) => event.payload.count === 3);
  t.equal(payload.fractional, undefined);
  t.ok(payload.coalesced! >= 1);
  await page.close();
});

t.test("a press that a script dispatches is none", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.evaluate(`addEventListener("pointerdown", (event) => {
    if (event.isTrusted) event.target.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pressure: 0 }));
  }, true)`);
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["mousePressed", "mouseReleased"] as const) {
    await devtools.send("Input.dispatchMouseEvent", { type, x: 60, y: 60, button: "left", clickCount: 1, force: 0.5 });
  }
  const { payload } = await site.event("click");
  t.match(payload, { trusted: true, pressure: 0.5 });
  await page.close();
});

t.test("moves dispatched by a script are told apart", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.evaluate(`for (let n = 0; n < 10; n++) document.body.dispatchEvent(
    new MouseEvent("mousemove", { bubbles: true, clientX: n * 20, clientY: 5, screenX: n * 20, screenY: 5 }))`);
  const { payload } = await site.event("mouse", (event) => event.payload.trusted === false);
  t.equal(payload.count, 10);
  t.equal(payload.movement_mismatch, 1);
  await page.close();
});

t.test("a long path is cut into rows of at most 256, and skipped beyond an allowance", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.event("env");
  await page.evaluate(`for (let n = 0; n < 20000; n++) document.body.dispatchEvent(
    new MouseEvent("mousemove", { bubbles: true, clientX: n % 500, clientY: 5 })); document.body.click()`);
  await site.event("click");
  const rows = site.posts.flatMap((post) => post.batch.events).map((event) => event.payload.points?.length ?? 0);
  t.equal(Math.max(...rows), 256);
  const sum = rows.reduce((total, each) => total + each, 0);
  t.ok(sum <= 3400, `${sum} rows of 20000 moves`);
  await page.close();
});

t.test("clicks tell hand from script: dwell, trust, where on the target", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick, "<button id=b style='width:200px;height:100px'>b</button>"));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.click("#b", { delay: 60, position: { x: 150, y: 50 } });
  const held = await site.event("click");
  t.ok(held.payload.dwell! > 20, `held ${held.payload.dwell} ms`);
  t.match(held.payload, { button: 0, trusted: true, target_tag: "button", pointer_type: "mouse" });
  t.ok(Math.abs(held.payload.off_center! - 0.5) < 0.05);
  await page.evaluate("document.getElementById('b').click()");
  const scripted = await site.event("click", (event) => event.payload.trusted === false);
  t.equal(scripted.payload.pointer_type, "none");
  t.equal(scripted.payload.dwell, undefined, "nothing was held");
  await page.close();
});

t.test("a click that assistive technology asks for is one without a pointer", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick, "<button id=b style='width:200px;height:100px'>b</button>"));
  const page = await browser.newPage();
  // Chromium counts no click in the press of a default action; no driver can ask for one.
  await page.addInitScript(
    "addEventListener('mousedown', (event) => Object.defineProperty(event, 'detail', { value: 0 }), true)",
  );
  await page.goto(site.origin);
  await page.click("#b", { delay: 30 });
  const { payload } = await site.event("click");
  t.match(payload, { trusted: true, pointer_type: "none" });
  t.equal(payload.dwell, undefined);
  t.equal(payload.off_center, undefined);
  await page.close();
});

t.test("a paste counts, but not one by a context menu", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick, "<input name=user>"));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.event("env");
  const paste = "document.querySelector('input').dispatchEvent(new ClipboardEvent('paste', { bubbles: true }))";
  await page.click("input", { button: "right" });
  await page.evaluate(paste);
  await page.keyboard.press("Escape");
  const typed = await site.event("key");
  t.equal(typed.payload.pastes ?? 0, 0, "by the menu");
  // A menu that was opened long ago.
  await page.evaluate("Object.defineProperty(ClipboardEvent.prototype, 'timeStamp', { get: () => 60_000 })");
  await page.evaluate(paste);
  t.equal((await site.event("key", ({ payload }) => (payload.pastes ?? 0) > 0)).payload.pastes, 1);
  await page.close();
});

t.test("typing leaves as a rhythm; no key, no value, no password ever does", async (t) => {
  const site = await openSite(t);
  const form = `<form id=f action="javascript:void 0"><input name=user><input name=pass type=password>
    <textarea name=note></textarea><button>go</button></form>`;
  site.pages.set("/", pageWith(quick, form));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.event("env");
  await page.evaluate("document.getElementById('f').addEventListener('submit', (e) => e.preventDefault())");
  await page.type("input[name=user]", "xyzzySecretName", { delay: 15 });
  await page.keyboard.press("Backspace");
  const typed = await site.event("key", (event) => (event.payload.strokes?.length ?? 0) > 0);
  t.ok(typed.payload.strokes!.every((row) => row.length === 2 && row[1] >= 0));
  t.equal(typed.payload.trusted, true);
  await site.event("key", (event) => (event.payload.backspaces ?? 0) > 0);
  const presses = () =>
    site.posts
      .flatMap((post) => post.batch.events)
      .filter((event) => event.type === "key")
      .reduce((total, event) => total + event.payload.count!, 0);
  const before = presses();
  await page.type("input[name=pass]", "plughPassword", { delay: 5 });
  await page.fill("textarea", "frotzNote");
  await page.click("button");
  const submitted = await site.event("form", (event) => event.payload.submit === true);
  t.equal(submitted.payload.field_count, 3);
  t.ok(submitted.payload.fill_ms! > 0);
  t.equal(presses(), before, "password fields are not followed");
  const wire = site.posts.map((post) => post.text).join("\n");
  t.notMatch(wire, /xyzzy|plugh|frotz|SecretName|Password|Note/i);
  t.notMatch(wire, /"(Key[A-Z]|Backspace|Shift)/);
  await page.close();
});

t.test("fields that a script fills in are not explained by keys", async (t) => {
  const site = await openSite(t);
  site.pages.set(
    "/",
    pageWith(quick, '<form onsubmit="return false"><input name=a><input name=b><button>go</button></form>'),
  );
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.fill("[name=a]", "one");
  await page.fill("[name=b]", "two");
  await page.click("button");
  const { payload } = await site.event("form");
  t.match(payload, { field_count: 2, count: 2, unkeyed: 2, autofill: false, submit: true, trusted: true });
  await page.close();
});

t.test("how fast a script fills in a form is told only where the page was never activated", async (t) => {
  const site = await openSite(t);
  // By the page's own script: what a driver evaluates activates the page.
  const fill = `<script>addEventListener("load", () => setTimeout(() => {
    const [one, two] = document.forms[0].elements;
    const set = (field) => field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    set(one);
    setTimeout(() => { set(two); setTimeout(() => document.forms[0].requestSubmit(), 150) }, 300);
  }, 100))</script>`;
  const form = '<form onsubmit="return false"><input name=a><input name=b></form>';
  site.pages.set("/form", pageWith(quick, form + fill));
  site.pages.set("/", pageWith(quick, "<a href='/form'>on</a>"));
  const page = await browser.newPage();
  await page.goto(`${site.origin}/form`);
  const { payload } = await site.event("form");
  t.match(payload, { field_count: 2, submit: true });
  t.ok(payload.untouched_ms! >= 250 && payload.untouched_ms! < payload.fill_ms!, `${payload.untouched_ms} ms`);
  t.ok(Number.isInteger(payload.untouched_ms));
  t.equal(payload.scroll_input, "none");
  await page.goto(site.origin);
  const before = site.posts.length;
  await page.click("a");
  const { payload: led } = await site.event("form", (event) =>
    site.posts.slice(before).some(({ batch }) => batch.events.some(({ request_id: id }) => id === event.request_id)),
  );
  t.match(led, { field_count: 2, submit: true });
  t.equal(led.untouched_ms, undefined, "a press led there");

  await page.goto(site.origin);
  const seen = site.posts.length;
  await page.mouse.wheel(0, 90);
  await page.click("a");
  const left = await site.event("focus", (event) =>
    site.posts.slice(seen).some(({ batch }) => batch.events.some(({ request_id: id }) => id === event.request_id)),
  );
  t.match(left.payload, { state: "leave", scroll_input: "pointer" });
  await page.close();
});

t.test("a filled trap field is told, an empty one too, and a form without one says nothing", async (t) => {
  const site = await openSite(t);
  const trap = "<input name=url2 data-verdictd-honeypot style='position:absolute;left:-9999px'>";
  const usual = "<input name=hp_mail style='opacity:0' tabindex=-1>";
  const form = (id: string, more: string) =>
    `<form id=${id} onsubmit="return false"><input name=name>${more}<button id=${id}b>go</button></form>`;
  site.pages.set("/", pageWith(quick, form("named", trap) + form("usual", usual) + form("plain", "")));
  const page = await browser.newPage();
  await page.goto(site.origin);
  const submit = async (id: string, script: string) => {
    const already = site.posts.length;
    await page.evaluate(script);
    await page.click(`#${id}b`);
    const post = await site.post(
      (each) => site.posts.indexOf(each) >= already && each.batch.events.some((event) => event.type === "form"),
    );
    return post.batch.events.find((event) => event.type === "form")!.payload.honeypot;
  };
  t.equal(await submit("named", ""), false);
  t.equal(await submit("named", "document.querySelector('[name=url2]').value = 'http://spam.test'"), true);
  t.equal(await submit("usual", "document.querySelector('[name=hp_mail]').value = 'a@b.test'"), true);
  t.equal(await submit("plain", ""), undefined);
  await page.close();
});

t.test("scrolling names its cause: a wheel, or nothing but a script", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick, "<div style='height:5000px'>long</div>"));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.evaluate("scrollTo(0, 600)");
  const scripted = await site.event("scroll");
  t.equal(scripted.payload.scroll_input, "none");
  t.equal(scripted.payload.dy, 600);
  await page.mouse.move(50, 50);
  await page.mouse.wheel(0, -300);
  const wheeled = await site.event("scroll", (event) => event.payload.scroll_input === "wheel");
  t.ok(wheeled.payload.dy! < 0);
  await page.close();
});

t.test("touches leave as one gesture with a path", async (t) => {
  const site = await openSite(t);
  const context = await browser.newContext({ hasTouch: true });
  const page = await context.newPage();
  await page.goto(site.origin);
  await page.touchscreen.tap(120, 90);
  const { payload } = await site.event("touch");
  t.match(payload, { x: 120, y: 90, pointer_type: "touch", trusted: true, count: 1 });
  t.ok(payload.points!.length >= 1);
  await context.close();
});

t.test("hiding the page is told at once, and coming back too", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith('data-interval="600000"'));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.evaluate("verdictd.ready");
  const become = (state: string) => `
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    Object.defineProperty(document, "hidden", { configurable: true, get: () => ${state === "hidden"} });
    document.dispatchEvent(new Event("visibilitychange"));`;
  await page.evaluate(become("hidden"));
  await site.event("visibility", (event) => event.payload.state === "hidden");
  await page.evaluate(become("visible") + become("hidden"));
  await site.event("visibility", (event) => event.payload.state === "visible");
  await page.close();
});

t.test("automation that does not hide is named", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  await page.addInitScript("window.cdc_adoQpoasnfa76pfcZLmcfl_Array = Array; document.__selenium_unwrapped = 1;");
  await page.goto(site.origin);
  const { payload } = await site.event("env");
  t.equal(payload.webdriver, true);
  const late = await site.event("env", (event) => "stack_probe" in event.payload);
  t.equal(late.payload.stack_probe, true, "playwright's protocol session reads the trap");
  t.same(payload.driver_artifacts, ["cdc_adoQpoasnfa76pfcZLmcfl_Array", "__selenium_unwrapped"]);
  t.match(payload.user_agent, /HeadlessChrome/);
  await page.close();
});

t.test("disguised properties are named, in the page and against a fresh frame", async (t) => {
  const site = await openSite(t);
  const disguise = `
    Object.defineProperty(Navigator.prototype, "languages", { get: () => ["xx"] });
    const real = Object.getOwnPropertyDescriptor(Navigator.prototype, "platform").get;
    Object.defineProperty(Navigator.prototype, "platform", { get: new Proxy(real, { apply: () => "Win32" }) });
    Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 64 });
    Intl.DateTimeFormat.prototype.resolvedOptions = () => ({ timeZone: "Mars/Base" });
    window.framesAdded = 0;
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) framesAdded += [...addedNodes].filter((node) => node.tagName === "IFRAME").length;
    }).observe(document.documentElement, { childList: true });`;
  site.pages.set("/", `<script>${disguise}</script>${pageWith(quick)}`);
  const page = await browser.newPage();
  const payload = await wholeEnvironment(site, () => page.goto(site.origin));
  t.same([...(payload.native_tampered as string[])].sort(), [
    "navigator.hardwareConcurrency",
    "navigator.languages",
    "navigator.platform",
  ]);
  t.same([...(payload.iframe_mismatch as string[])].sort(), ["cpu", "languages", "platform"]);
  t.same([...(payload.worker_mismatch as string[])].sort(), ["cpu", "languages", "platform", "timezone"]);
  t.equal(payload.timezone, "Mars/Base", "a page's own timezone is the one that it shows");
  t.equal(await page.evaluate("framesAdded"), 1, "one frame answers all");
  await page.close();
});

t.test("a disguise that lies in frames, too, is seen by the engine's own text", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  // As stealth plug-ins do it: proxies that answer for what they stand before, and refuse to be their own prototype.
  await page.addInitScript(`
    const text = Function.prototype.toString;
    const real = new Map();
    const handler = {
      apply: (target, self, values) => target === text ? text.apply(real.get(self) ?? self, values) : false,
      setPrototypeOf() { throw new TypeError("Cyclic __proto__ value"); },
    };
    const disguise = (owner, key, kind) => {
      const property = Object.getOwnPropertyDescriptor(owner, key);
      const proxy = new Proxy(property[kind], handler);
      real.set(proxy, property[kind]);
      Object.defineProperty(owner, key, { ...property, [kind]: proxy });
    };
    disguise(Navigator.prototype, "webdriver", "get");
    disguise(Function.prototype, "toString", "value");
  `);
  const payload = await wholeEnvironment(site, () => page.goto(site.origin));
  t.same(payload.native_tampered, ["navigator.webdriver", "function.toString"]);
  await page.close();
});

t.test("what takes the navigator's place is held against a fresh frame", async (t) => {
  const site = await openSite(t);
  site.pages.set(
    "/",
    `<script>
      const real = navigator;
      const get = (_, key) => key === "platform" ? "Win32" : typeof real[key] === "function" ? real[key].bind(real) : real[key];
      Object.defineProperty(window, "navigator", { value: new Proxy({}, { get }) });
    </script>${pageWith(quick)}`,
  );
  const page = await browser.newPage();
  const payload = await wholeEnvironment(site, () => page.goto(site.origin));
  t.match(payload, { native_tampered: [], iframe_mismatch: ["platform"] });
  await page.close();
});

t.test("an undisguised browser has nothing to be named, and no frame is made", async (t) => {
  const site = await openSite(t);
  const honest = await launch(t, { hideAutomation: true });
  const page = await honest.newPage();
  await page.addInitScript(`
    window.framesAdded = 0;
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) framesAdded += [...addedNodes].filter((node) => node.tagName === "IFRAME").length;
    }).observe(document, { childList: true, subtree: true });`);
  const payload = await wholeEnvironment(site, () => page.goto(site.origin));
  t.equal(payload.webdriver, false);
  t.same(payload.driver_artifacts, []);
  t.same(payload.native_tampered, []);
  t.same(payload.iframe_mismatch, []);
  t.equal(await page.evaluate("framesAdded"), 0);
  t.same(payload.worker_mismatch, []);
  t.equal(payload.timezone, await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone"));
  t.equal(payload.permissions_mismatch, false);
  t.equal(payload.eval_length, 33);
  t.equal(payload.chrome_object, true);
  t.equal(payload.ua_platform, "Linux");
  t.match(payload, { ua_architecture: /^(x86|arm)$/, ua_bitness: /^(32|64)$/ });
  t.match(payload.ua_full_version, new RegExp(`^${/Chrome\/(\d+)/.exec(payload.user_agent!)![1]}\\.`));
  t.notMatch(payload.ua_full_version, /\.0\.0\.0$/);
  t.ok(
    (payload.system_fonts as string[]).every((each) => each === "linux"),
    String(payload.system_fonts),
  );
});

t.test("a browser that nobody drives does not trip the debugger trap", async (t) => {
  const site = await openSite(t);
  const first = site.event("env");
  launchAlone(t, site.origin, first);
  const { payload } = await first;
  const late = await site.event("env", (event) => !("user_agent" in event.payload));
  t.same(late.payload.worker_mismatch ?? [], [], "or the worker was late");
  t.same(late.payload.any_pointer, [], "without a window there is no pointer");
  t.equal(late.payload.stack_probe, false);
  t.same(late.payload.native_tampered, []);
  t.equal(payload.webdriver, false);
  t.same(payload.driver_artifacts, []);
});
