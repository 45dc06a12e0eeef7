/**
 * When the SDK speaks: at once where a driver shows itself, before a form or a page is gone, also while its batches are rare, and as one session
 * whatever is left early.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import t from "tap";
import { wobblyPath } from "../engines/sessions.js";
import { gate, openSite, type Post, pageWith, type Site } from "../sdk/site.js";
import { launch, launchUsual, noChromium, skipFileIf } from "../support/chromium.js";
import { firstTenant, startServer } from "../support/server.js";
import { seenOnce } from "../support/test-store.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

/** Says that it is driven. */
const driven = await launch(t);
/** Says that it is not, as a person's; nor that it draws by software, as this machine may. */
const usual = await launchUsual(t, ["--disable-3d-apis"]);
const server = await startServer(t);
const tenant = await firstTenant(server);
/** The tag of a page that reports to this server. */
const reporting = `data-endpoint="${server.address}"`;

/** Batches are due after ten minutes, except for the first ones, which follow each other faster: see `quietly`. */
const slow = 'data-interval="600000"';
const keyOf = ({ headers, batch }: Post) => headers["idempotency-key"] ?? batch.idempotency_key;
const isBeacon = ({ headers }: Post) => /^text\/plain/.test(headers["content-type"] ?? "");
const typesOf = ({ batch }: Post) => batch.events.map(({ type }) => type);

/**
 * Opens a page whose `load` never comes and whose timers never fire, but those of `timersMs` at most; done when the SDK has run. The site's other
 * pages have their timers.
 */
async function openStill(site: Site, page: Page, timersMs = -1): Promise<void> {
  await page.route("**/hangs.png", () => {});
  // The page says itself when the SDK has run: what would ask it again and again needs the timers that it has lost.
  await page.addInitScript(`if (location.pathname === "/") {
    const later = window.setTimeout;
    window.setTimeout = (run, ms = 0) => (ms > ${timersMs} ? 0 : later(run, ms));
    window.requestIdleCallback = () => 0;
    document.addEventListener("load", ({ target }) => target.src?.endsWith("/sdk.js") && console.log("run"), true);
  }`);
  const hasRun = page.waitForEvent("console", (said) => said.text() === "run");
  site.pages.set("/", pageWith(slow, '<img src="/hangs.png">'));
  await page.goto(site.origin, { waitUntil: "commit" });
  await hasRun;
}

/** Until the browser has the answer to a report with an event of this type; asked for before what makes it. */
function answered(page: Page, type: string): Promise<unknown> {
  return page.waitForEvent("requestfinished", (request) => request.postData()?.includes(`"type":"${type}"`) ?? false);
}

/**
 * Opens the site in a page that sends nothing any more but what is urgent: its start is reported, and no batch is due for hours. Only the report that
 * completes the start is answered so: what a busy machine measures after it would wait as long.
 */
async function quietly(site: Site, page: Page): Promise<void> {
  const parts = ['"type":"timing"', '"any_pointer"'];
  const isPart = (text: string): boolean => parts.some((part) => text.includes(part));
  let isComplete = false;
  let told = "";
  site.answer = ({ batch }) => {
    told += JSON.stringify(batch);
    isComplete = parts.every((part) => told.includes(part));
    return isComplete ? { status: 202, interval: 100_000 } : { status: 202 };
  };
  const complete = page.waitForEvent("requestfinished", (sent) => isComplete && isPart(sent.postData() ?? ""));
  await page.goto(site.origin);
  await complete;
}

t.test("where the browser says that it is driven, page and env leave in the script's first run", async (t) => {
  const site = await openSite(t);
  const page = await driven.newPage();
  await openStill(site, page);
  const first = await site.post(() => true);
  t.same(typesOf(first), ["page", "env"]);
  t.equal(first.batch.events[1]!.payload.webdriver, true);
  t.ok(first.batch.events[1]!.payload.timezone, "with all that is known at once");
  await page.close();
});

t.test("where a driver left its name they leave in the task after it", async (t) => {
  const site = await openSite(t);
  const page = await usual.newPage();
  await page.addInitScript("document.__selenium_unwrapped = 1;");
  await openStill(site, page, 0);
  const first = await site.post(() => true);
  t.same(typesOf(first), ["page", "env"]);
  t.match(first.batch.events[1]!.payload, { webdriver: false, driver_artifacts: ["__selenium_unwrapped"] });
  await page.close();
});

t.test("a page that never finishes loading reports all the same", async (t) => {
  const site = await openSite(t);
  const page = await usual.newPage();
  await page.route("**/hangs.png", () => {});
  site.pages.set("/", pageWith(slow, '<img src="/hangs.png">'));
  await page.goto(site.origin, { waitUntil: "commit" });
  t.match(typesOf(await site.post(() => true)), ["page", "env"]);
  t.not(await page.evaluate("document.readyState"), "complete");
  await page.close();
});

t.test("a page that is left before anything was due reports as it goes, under the key of the next one", async (t) => {
  const site = await openSite(t);
  for (const path of ["/next", "/other"]) site.pages.set(path, pageWith('data-interval="250"'));
  const page = await usual.newPage();
  await openStill(site, page);
  t.ok(await page.evaluate("'verdictd' in window"));
  t.equal(site.posts.length, 0);
  await page.goto(`${site.origin}/next`, { waitUntil: "commit" });
  const beacon = await site.post(isBeacon);
  t.match(typesOf(beacon), ["page", "env"]);
  t.match([beacon.batch.session_token, beacon.batch.site_key], [null, "pk_test"]);
  await page.close();
  const other = await usual.newPage();
  // A path of its own: the first tab may have reported its second page before it was closed.
  await other.goto(`${site.origin}/other`);
  const contact = await site.post((post) => post.text.includes('"path":"/other"'));
  t.not(keyOf(contact), keyOf(beacon), "another tab is another contact");
  await other.close();
});

t.test("the tab's next page goes on with the key; where storage is refused it is a contact of its own", async (t) => {
  for (const refused of [false, true]) {
    const site = await openSite(t);
    site.answer = (post) => (isBeacon(post) ? { status: "drop" } : { status: 202 });
    const page = await usual.newPage();
    if (refused) {
      await page.addInitScript(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('refused'); } });",
      );
    }
    await openStill(site, page);
    site.pages.set("/next", pageWith('data-interval="250"'));
    await page.goto(`${site.origin}/next`);
    const contact = await site.post((post) => !isBeacon(post) && post.text.includes('"path":"/next"'));
    const first = await site.post((post) => post.text.includes('"path":"/"'));
    t.equal(keyOf(contact) === keyOf(first), !refused);
    t.equal(await page.evaluate("verdictd.ready"), "sess_1");
    await page.close();
  }
});

t.test("a form reports its first input, once, and itself before it is sent", async (t) => {
  const site = await openSite(t);
  const form = (id: string) => `<form action="/sent" id=${id}><input name=name><button>go</button></form>`;
  site.pages.set("/", pageWith(slow, form("one") + form("two")));
  site.pages.set("/sent?name=ab", "<p>sent</p>");
  const page = await usual.newPage();
  const typing = () => site.posts.filter((post) => typesOf(post).includes("key"));
  await quietly(site, page);
  const first = answered(page, "key");
  await page.type("#one input", "a");
  await first;
  const second = answered(page, "key");
  await page.type("#one input", "bc");
  await page.type("#two input", "a");
  await second;
  await page.type("#two input", "b");
  await page.click("#two button");
  const sent = await site.post((post) => typesOf(post).includes("form"));
  t.equal(typing().length, 3, "two first inputs, and the form");
  t.match(sent.headers["content-type"], /^application\/json/, "it did not wait for the end of the page");
  t.ok(sent.batch.events.find(({ type }) => type === "form")!.payload.submit);
  await page.close();
});

t.test("what is urgent does not wait for an answer that does not come", async (t) => {
  const site = await openSite(t);
  const never = gate();
  t.teardown(never.open);
  site.answer = () => ({ status: 202, until: never.opened });
  site.pages.set("/", pageWith(slow, '<form onsubmit="return false"><button>go</button></form>'));
  const page = await usual.newPage();
  await page.goto(site.origin);
  const first = await site.post(() => true);
  await page.click("button");
  const form = await site.post((post) => typesOf(post).includes("form"));
  t.ok(isBeacon(form));
  t.equal(keyOf(form), keyOf(first));
  t.equal(await page.evaluate("document.querySelectorAll('button').length"), 1, "the page is still there");
  await page.close();
});

t.test("a click that leaves the page reports; one that the page keeps does not", async (t) => {
  for (const without of [false, true]) {
    const site = await openSite(t);
    site.pages.set(
      "/",
      `<script>${without ? "delete window.navigation" : ""}</script>${pageWith(
        slow,
        `<a id=stay href="/other" onclick="return false">stay</a> <a id=hash href="#part">part</a>
        <a id=go href="/next">go</a>`,
      )}`,
    );
    site.pages.set("/next", "<p>next</p>");
    const page = await usual.newPage();
    // A click beside a report that is on its way leaves as a beacon.
    await quietly(site, page);
    const before = site.posts.length;
    // In one task: on a busy machine the first click's second would be over before the last one.
    await page.evaluate("for (const id of ['stay', 'hash', 'go']) document.getElementById(id).click()");
    await site.post((post) => site.posts.indexOf(post) >= before && typesOf(post).includes("click"));
    const report = site.posts.slice(before).find((post) => typesOf(post).includes("click"))!;
    t.equal(typesOf(report).filter((type) => type === "click").length, 3, "all three clicks in one report");
    t.match(report.headers["content-type"], /^application\/json/);
    // The page goes with its browser: one that is being left may be neither waited for nor closed for good.
  }
});

t.test("a page that is left sends at most 24 KB; the rest comes with the tab's next page", async (t) => {
  const site = await openSite(t);
  const never = gate();
  t.teardown(never.open);
  site.answer = (_post, index) => (index === 0 ? { status: 202, until: never.opened } : { status: 202 });
  site.pages.set("/next", pageWith('data-interval="250"'));
  const page = await usual.newPage();
  await page.goto(site.origin);
  await site.post(() => true);
  await page.evaluate("for (let n = 0; n < 400; n++) document.body.click()");
  await page.goto(`${site.origin}/next`);
  const clicks = () => site.posts.flatMap(({ batch }) => batch.events.filter(({ type }) => type === "click"));
  await site.post(() => clicks().length >= 400);
  t.equal(new Set(clicks().map(({ request_id }) => request_id)).size, 400);
  const beacons = site.posts.filter(isBeacon);
  const bytes = beacons.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  t.ok(bytes > 15_000 && bytes <= 24 * 1024, `${bytes} bytes in ${beacons.length} beacons`);
  t.ok(site.posts.every(({ text }) => Buffer.byteLength(text) <= 24 * 1024));
  await page.close();
});

t.test("a page flooded with events sends no more than that as beacons until it hears an answer", async (t) => {
  const site = await openSite(t);
  const never = gate();
  t.teardown(never.open);
  site.answer = (_post, index) => (index === 0 ? { status: 202, until: never.opened } : { status: 202 });
  site.pages.set("/form", pageWith('data-interval="250"', "<form><input></form><form><input></form>"));
  site.pages.set("/next", pageWith('data-interval="250"'));
  const page = await usual.newPage();
  await page.goto(`${site.origin}/form`);
  await site.post(() => true);
  // Each first input of a form is a reason of its own to report at once.
  await page.evaluate(`for (const each of document.querySelectorAll("input")) {
    for (let n = 0; n < 90; n++) document.body.click();
    each.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  for (let n = 0; n < 90; n++) document.body.click();
  location.href = "/next";`);
  const clicks = () => site.posts.flatMap(({ batch }) => batch.events.filter(({ type }) => type === "click"));
  await site.post(() => clicks().length >= 270);
  const bytes = site.posts.filter(isBeacon).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  t.ok(bytes > 15_000 && bytes <= 24 * 1024, `${bytes} bytes`);
  await page.close();
});

t.test("a driven page that is gone at once has a stored session with its environment and a score", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(reporting).replace("pk_test", tenant.siteKey));
  const context = await driven.newContext();
  for (let pages = 0; pages < 3; pages++) {
    const page = await context.newPage();
    await page.goto(site.origin, { waitUntil: "commit" });
    await page.waitForFunction("window.verdictd");
    await page.close();
  }
  const sessions = async () => {
    const { json } = await server.ask("GET", `/v1/projects/${tenant.projectId}/sessions`, { token: tenant.token });
    return json.data as { session_token: string; score: number; verdict: string; detection_ids: number[] }[];
  };
  const [first] = await seenOnce(sessions, (found) => found.length > 0);
  t.ok(first!.score < 30, `${first!.score}`);
  t.ok(first!.detection_ids.length > 0);
  await context.close();
});

t.test("a bot that behaves for half a minute first is still caught by the end of its first form", async (t) => {
  const site = await openSite(t);
  const form = `<input id=search>
    <form onsubmit="return false"><input><input><div data-verdictd-honeypot style="opacity:0"><input></div></form>`;
  site.pages.set("/", pageWith(`${reporting} data-interval="500"`, form).replace("pk_test", tenant.siteKey));
  const page = await usual.newPage();
  await page.addInitScript(`
    // It knows how a debugger's client is noticed.
    console.groupEnd = () => {};
    const wait = window.setTimeout;
    window.setTimeout = (task, ms) => wait(() => window.isStill || task(), ms);
  `);
  const told: (string | undefined)[] = [];
  page.on("response", (answer) => {
    if (answer.url() === `${server.address}/v1/events`) told.push(answer.headers()["x-verdict-interval"]);
  });
  await page.goto(site.origin);
  const token = (await page.evaluate("verdictd.ready")) as string;
  const session = async () => {
    const path = `/v1/projects/${tenant.projectId}/sessions/${token}`;
    return (await server.ask("GET", path, { token: tenant.token })).json as { score: number; verdict: string };
  };
  for (let stretch = 1; told.at(-1) !== "3"; stretch++) {
    if (stretch > 30) throw new Error(`no verdict stands: ${told.join()}, ${JSON.stringify(await session())}`);
    const start = performance.now();
    for (const [at, x, y] of wobblyPath(100, stretch)) {
      await delay(at - (performance.now() - start));
      await page.mouse.move(x % 1280, y % 720);
    }
  }
  t.ok((await session()).score >= 95);

  // No batch is due any more: what is said from here on is said at once, or never.
  await page.evaluate("window.isStill = true");
  await page.mouse.move(200, 200);
  const begun = answered(page, "mouse");
  await page.locator("#search").fill("lamps");
  await begun;
  const sent = answered(page, "form");
  await page.evaluate(`for (const each of document.forms[0].querySelectorAll("input")) {
    each.focus();
    document.execCommand("insertText", false, "as a script does");
  }
  document.forms[0].requestSubmit()`);
  await sent;
  const { score, verdict } = await waitUntil(session, (seen) => /automated/.test(seen.verdict));
  t.match(verdict, /automated/, `${score}`);
  t.equal(told.at(-1), "1", "and its batches follow each other as usual again");
  await page.close();
});
