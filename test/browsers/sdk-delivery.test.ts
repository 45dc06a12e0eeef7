/** How batches travel, seen on the wire from a real Chromium: first report, batches, retries, leaving, tabs. */
import t from "tap";
import type { IngestBatch } from "../../src/contract/events/events.js";
import { unpackPoints } from "../../src/contract/events/packed-points.js";
import { batchOf, readBody } from "../../src/ingest/decode-batch.js";
import { deliveryCases, prove, repeatCases } from "../sdk/cases.js";
import { gate, openSite, type Post, pageWith } from "../sdk/site.js";
import { throughPlaywright } from "../sdk/visitor.js";
import { launch, noChromium, sessionCookie, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const browser = await launch(t);
/** Makes a page record something at once. */
const click = "document.body.click()";

prove(t, [...deliveryCases, ...repeatCases], throughPlaywright(browser));

t.test("what happens offline is sent when the network is back", async (t) => {
  const site = await openSite(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.origin);
  await site.post(() => true);
  await page.evaluate("verdictd.ready");
  await context.setOffline(true);
  const failed = page.waitForEvent("requestfailed");
  await page.evaluate(click);
  await failed;
  // A batch that was on its way when the network went may still arrive.
  t.notOk(
    site.posts.some(({ text }) => text.includes('"click"')),
    "nothing of then arrives while offline",
  );
  await context.setOffline(false);
  await site.event("click");
  await context.close();
});

t.test("a server that stays away costs a bounded queue, and the first report survives", async (t) => {
  const site = await openSite(t);
  let healthy = false;
  site.answer = () => ({ status: healthy ? 202 : 503 });
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.post(() => true);
  t.equal(await page.evaluate("verdictd.ready"), null, "ready does not wait for a server that fails");
  await page.evaluate(`for (let n = 0; n < 3000; n++) ${click}`);
  healthy = true;
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.evaluate("document.body.dispatchEvent(new MouseEvent('click', { button: 7, bubbles: true }))");
  await site.event("click", (event) => event.payload.button === 7);
  const keys = new Set(site.posts.map((post) => post.headers["idempotency-key"]));
  t.ok(keys.size <= 14, `${keys.size} batches for 3000 clicks`);
  t.ok(site.posts.some((post) => post.batch.events.some((event) => event.type === "env")));
  await page.close();
});

t.test("refusals are final: three in a row and the SDK is silent", async (t) => {
  const site = await openSite(t);
  site.answer = () => ({ status: 401 });
  const page = await browser.newPage();
  await page.goto(site.origin);
  for (const count of [1, 2, 3]) {
    await site.post(() => site.posts.length >= count);
    await page.evaluate("verdictd.ready");
    await page.evaluate(click);
  }
  t.equal(new Set(site.posts.map((post) => post.headers["idempotency-key"])).size, 3, "none was repeated");
  // The same page's next visit to the server is proof that nothing else was queued before it.
  site.pages.set("/next", "<p>next</p>");
  await page.goto(`${site.origin}/next`);
  t.equal(site.posts.length, 3);
  await page.close();
});

t.test("a retried first contact adopts the session that another tab has opened meanwhile", async (t) => {
  const site = await openSite(t);
  const retry = gate();
  site.answer = (post, index) => {
    if (index === 0) return { status: 500, until: retry.opened };
    return { status: 202, token: index === 1 ? "sess_two" : (post.batch.session_token ?? "sess_one") };
  };
  const context = await browser.newContext();
  const [one, two] = [await context.newPage(), await context.newPage()];
  await one.goto(site.origin);
  await site.post(() => true);
  await two.goto(site.origin);
  t.equal(await two.evaluate("verdictd.ready"), "sess_two");
  retry.open();
  await site.post((post) => site.posts.indexOf(post) > 1 && post.text === site.posts[0]!.text);
  await one.evaluate(click);
  const next = await site.event("click").then(() => site.post((post) => post.text.includes('"click"')));
  t.equal(next.batch.session_token, "sess_two");
  t.equal((await sessionCookie(context, /sess_two/))?.value, "sess_two");
  await context.close();
});

t.test("stopped before the first report, nothing is ever sent", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith("onload='verdictd.stop()'"));
  site.pages.set("/next", pageWith());
  // An automated one would have reported before the page could stop it.
  const page = await (await launch(t, { hideAutomation: true })).newPage();
  await page.goto(site.origin);
  t.equal(await page.evaluate("verdictd.ready"), null);
  t.equal(site.posts.length, 0);
  await page.goto(`${site.origin}/next`);
  await site.post(() => true);
  const opened = site.posts.flatMap(({ batch }) => batch.events.filter(({ type }) => type === "page"));
  t.same(
    opened.map(({ payload }) => payload.path),
    ["/next"],
    "only the next page's",
  );
  await page.close();
});

t.test("a shed first contact is repeated until there is a token", async (t) => {
  const site = await openSite(t);
  site.answer = (_post, index) => ({ status: index === 0 ? 204 : 202 });
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.post(() => site.posts.length >= 2);
  t.equal(site.posts[1]!.text, site.posts[0]!.text);
  await page.evaluate(click);
  const next = await site.event("click").then(() => site.post((post) => post.text.includes('"click"')));
  t.equal(next.batch.session_token, "sess_1");
  await page.close();
});

t.test("a new token replaces one that the server no longer knows", async (t) => {
  const site = await openSite(t);
  site.answer = () => ({ status: 202, token: "sess_new" });
  const context = await browser.newContext();
  await context.addCookies([{ name: "service_session", value: "sess_old", url: site.origin }]);
  const page = await context.newPage();
  await page.goto(site.origin);
  t.equal((await site.post(() => true)).batch.session_token, "sess_old");
  t.equal(await page.evaluate("verdictd.ready"), "sess_new");
  t.equal((await sessionCookie(context, /sess_new/))?.value, "sess_new");
  await context.close();
});

t.test("points are packed once an answer has said that they are understood", async (t) => {
  const site = await openSite(t);
  let interval: number | undefined = 1;
  site.answer = () => ({ status: 202, ...(interval !== undefined && { interval }) });
  const page = await browser.newPage();
  await page.goto(site.origin);
  // The second file does it.
  await site.event("timing");
  await page.mouse.move(10, 10);
  await page.mouse.move(200, 100, { steps: 20 });
  const { payload } = await site.event("mouse", (event) => event.payload.packed_points !== undefined);
  t.equal(payload.points, undefined);
  const text = Buffer.from(payload.packed_points!);
  const rows = unpackPoints(text, 0, text.length)!;
  t.equal(rows[0]![0], 0, "time counts from the first row");
  t.ok(rows.every(([t, x, y], at) => t >= (rows[at - 1]?.[0] ?? 0) && x >= 10 && x <= 200 && y >= 10 && y <= 100));
  interval = undefined;
  await page.evaluate(click);
  await site.event("click");
  await page.mouse.move(300, 300, { steps: 5 });
  await site.event("mouse", (event) => event.payload.points !== undefined);
  await page.close();
});

t.test(
  "clicks in a row are one event where that is understood; a server that refuses it gets the same batch plainly",
  async (t) => {
    const site = await openSite(t);
    // An older server answers what it does not know with 422, and names no form.
    const isOlder = (post: Post) => post.text.includes("packed_clicks");
    site.answer = (post) => (isOlder(post) ? { status: 422 } : { status: 202, interval: 100_000, packing: 2 });
    site.pages.set("/", pageWith('data-interval="250"', "<button>Again</button>"));
    const page = await browser.newPage();
    await page.goto(site.origin);
    await site.post((post) => post.text.includes("timezone"));
    await page.waitForFunction("verdictd.ready");
    const button = (await page.locator("button").boundingBox())!;
    await page.mouse.move(button.x + 5, button.y + 5);
    for (let clicks = 0; clicks < 4; clicks++) await page.mouse.click(button.x + 5 + clicks, button.y + 5);
    await page.evaluate("history.pushState(null, '', '/another')");
    const packed = await site.post(isOlder);
    const sameKey = packed.headers["idempotency-key"];
    const plain = await site.post((post) => post !== packed && post.headers["idempotency-key"] === sameKey);
    t.notOk(isOlder(plain));
    const body = batchOf(readBody(Buffer.from(packed.text))) as IngestBatch;
    // The kind of element is the first one's alone.
    const told = ({ events }: IngestBatch) =>
      events.map(({ type, received_at, payload: { target_tag: _, ...payload } }) => [type, received_at, payload]);
    // A batch that was due before, or a late fact of the page, may cut the row.
    t.ok(body.events.filter(({ type }) => type === "click").length >= 2);
    t.strictSame(told(body), told(batchOf(readBody(Buffer.from(plain.text))) as IngestBatch));
    await page.close();
  },
);

t.test("where the verdict stands batches are rare, but for what may change it", async (t) => {
  const site = await openSite(t);
  // So long that nothing is sent by itself.
  site.answer = () => ({ status: 202, interval: 100_000 });
  site.pages.set("/", pageWith('data-interval="250"', '<form><input name="q"></form>'));
  const page = await browser.newPage();
  await page.goto(site.origin);
  await site.post((post) => post.text.includes("timezone"));
  await page.evaluate("verdictd.ready");
  await page.mouse.move(5, 5);
  await page.evaluate("history.pushState(null, '', '/checkout')");
  await site.event("page", (event) => event.payload.path === "/checkout");
  await page.focus("input");
  await page.keyboard.press("a");
  const typed = await site.event("key");
  t.equal(typed.payload.count, 1, "the first input into a form");
  await page.evaluate("document.forms[0].requestSubmit()");
  await site.event("form", (event) => event.payload.submit === true);
  await page.close();
});
