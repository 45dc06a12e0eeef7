/** When the SDK speaks: at once where a driver shows itself, before a form or a page is gone, and as one session whatever is left early. */
import type { Page } from "playwright-core";
import t from "tap";
import { gate, openSite, type Post, pageWith, type Site } from "../sdk/site.js";
import { launch, noChromium } from "../support/chromium.js";
import { firstTenant, startServer } from "../support/server.js";
import { seenOnce } from "../support/test-store.js";

if (noChromium !== undefined) {
  t.plan(0, noChromium);
  process.exit(0);
}

/** Says that it is driven. */
const driven = await launch(t);
/** Says that it is not, as a person's. */
const usual = await launch(t, { hideAutomation: true });

/** Nothing is due in this page before ten minutes are over. */
const slow = 'data-interval="600000"';
const keyOf = ({ headers, batch }: Post) => headers["idempotency-key"] ?? batch.idempotency_key;
const isBeacon = ({ headers }: Post) => /^text\/plain/.test(headers["content-type"] ?? "");
const typesOf = ({ batch }: Post) => batch.events.map(({ type }) => type);

/** A page whose `load` never comes and whose timers never fire. */
async function openStill(site: Site, page: Page): Promise<void> {
  await page.route("**/hangs.png", () => {});
  await page.addInitScript("window.setTimeout = () => 0; window.requestIdleCallback = () => 0;");
  site.pages.set("/", pageWith(slow, '<img src="/hangs.png">'));
  await page.goto(site.origin, { waitUntil: "commit" });
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

t.test("so they do where a driver left its name", async (t) => {
  const site = await openSite(t);
  const page = await usual.newPage();
  await page.addInitScript("document.__selenium_unwrapped = 1;");
  await openStill(site, page);
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
  await page.waitForFunction("window.verdictd", undefined, { polling: 20 });
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
    site.pages.set("/", pageWith('data-interval="250"'));
    await page.goto(site.origin, { waitUntil: "commit" });
    await page.waitForFunction("window.verdictd");
    site.pages.set("/next", pageWith('data-interval="250"'));
    await page.goto(`${site.origin}/next`);
    const contact = await site.post((post) => !isBeacon(post) && post.text.includes('"path":"/next"'));
    const first = site.posts.find((post) => post.text.includes('"path":"/"'))!;
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
  await page.goto(site.origin);
  await page.evaluate("verdictd.ready");
  const typing = () => site.posts.filter((post) => typesOf(post).includes("key"));
  // Batches of this page follow each other by ten minutes, once the second file has reported.
  await site.event("timing");
  await page.type("#one input", "a");
  await site.post(() => typing().length >= 1);
  await page.type("#one input", "bc");
  await page.type("#two input", "a");
  await site.post(() => typing().length >= 2);
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
  const site = await openSite(t);
  for (const without of [false, true]) {
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
    await page.goto(site.origin);
    await page.evaluate("verdictd.ready");
    const before = site.posts.length;
    // In one task: on a busy machine the first click's second would be over before the last one.
    await page.evaluate("for (const id of ['stay', 'hash', 'go']) document.getElementById(id).click()");
    await site.post((post) => site.posts.indexOf(post) >= before && typesOf(post).includes("click"));
    const report = site.posts.slice(before).find((post) => typesOf(post).includes("click"))!;
    t.equal(typesOf(report).filter((type) => type === "click").length, 3, "all three clicks in one report");
    t.match(report.headers["content-type"], /^application\/json/);
    await page.close();
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

t.test("a driven page that is gone at once has a stored session with its environment and a score", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const site = await openSite(t);
  site.pages.set("/", pageWith(`data-endpoint="${server.address}"`).replace("pk_test", tenant.siteKey));
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
