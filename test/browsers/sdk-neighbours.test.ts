/** What else is on the page: a second SDK, old libraries, elements with the browser's own names, other cookies of the same name. */
import type { BrowserContext, Page } from "playwright-core";
import t from "tap";
import { openSite, pageWith, type Site } from "../sdk/site.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

const browser = await launch(t, { hideAutomation: true, args: ["--host-resolver-rules=MAP *.test 127.0.0.1"] });
const quick = 'data-interval="250"';

/** Warnings, errors and what nobody caught. */
function complaintsOf(page: Page): string[] {
  const found: string[] = [];
  page.on("pageerror", (error) => found.push(String(error)));
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) found.push(message.text());
  });
  return found;
}

const contacts = (site: Site) => site.posts.filter(({ batch }) => batch.session_token === null);

t.test("started twice it is one collector: tag and tag, tag and module, init and init", async (t) => {
  const site = await openSite(t);
  const module = `import { init } from "/browser.js";
    window.handles = [init({ siteKey: "pk_test" }), init({ siteKey: "pk_test" }), verdictd];`;
  const tag = '<script src="/sdk.js" data-site-key="pk_test" data-interval="250"></script>';
  site.pages.set("/", `<!doctype html>${tag}${tag}<script type="module">${module}</script>`);
  const page = await browser.newPage();
  const told = complaintsOf(page);
  await page.goto(site.origin);
  await page.waitForFunction("window.handles");
  t.equal(await page.evaluate("new Set(handles).size"), 1);
  t.equal(await page.evaluate("verdictd.ready"), "sess_1");
  await page.evaluate("document.body.click()");
  await site.event("click");
  t.equal(site.posts.flatMap(({ batch }) => batch.events).filter(({ type }) => type === "click").length, 1);
  t.equal(contacts(site).length, 1);
  t.same(told, ["verdictd: started twice; one serves both"]);
  await page.close();
});

t.test("init, stop and init again, as React's StrictMode does, collects again with the same handle", async (t) => {
  const site = await openSite(t);
  const effect = `import { init } from "/browser.js";
    const effect = () => { const handle = init({ siteKey: "pk_test", interval: 250 }); return [handle, () => handle.stop()]; };
    const [first, cleanUp] = effect(); cleanUp(); const [second] = effect();
    window.isSame = first === second; window.sdk = second;`;
  for (const browserOf of [browser, await launch(t)]) {
    site.posts.length = 0;
    site.pages.set("/", `<!doctype html><script type="module">${effect}</script>`);
    const context = await browserOf.newContext();
    const page = await context.newPage();
    await page.goto(site.origin);
    t.equal(await page.evaluate("isSame"), true);
    t.equal(await page.evaluate("sdk.ready"), "sess_1");
    await page.evaluate("document.body.click()");
    await site.event("click");
    t.equal(site.posts.flatMap(({ batch }) => batch.events).filter(({ type }) => type === "click").length, 1);
    t.equal(new Set(contacts(site).map(({ headers }) => headers["idempotency-key"])).size, 1, "one visitor");
    await context.close();
  }
});

t.test("a second start waits for consent where its page or the first one waits", async (t) => {
  const site = await openSite(t);
  const module = `import { init } from "/browser.js";
    const first = init({ siteKey: "pk_test", consent: "wait" }); init({ siteKey: "pk_test" });
    window.tokens = [first.token()]; first.start(); await first.ready; first.stop();
    init({ siteKey: "pk_test", consent: "wait" }); document.body.click();
    init({ siteKey: "pk_test" }); window.again = await first.ready;`;
  site.pages.set("/", `<!doctype html><script type="module">${module}</script>`);
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.waitForFunction("window.again");
  t.same(await page.evaluate("[tokens, again]"), [[null], "sess_1"]);
  t.notOk(
    site.posts.some(({ text }) => text.includes('"click"')),
    "stopped is stopped",
  );
  await page.close();
});

t.test("two site keys run beside each other, each with a cookie of its own", async (t) => {
  const site = await openSite(t);
  site.answer = ({ headers }) => ({ status: 202, token: `sess_of_${headers["x-service-site-key"]}` });
  const other = `<script src="/sdk.js" data-site-key="pk_other" data-cookie-name="other" ${quick}></script>`;
  site.pages.set("/", pageWith(quick, other));
  const context = await browser.newContext();
  const page = await context.newPage();
  const told = complaintsOf(page);
  await page.goto(site.origin);
  const cookies = await waitUntil(
    () => context.cookies(),
    (all) => all.length >= 2,
  );
  t.same(Object.fromEntries(cookies.map(({ name, value }) => [name, value])), {
    service_session: "sess_of_pk_test",
    other: "sess_of_pk_other",
  });
  t.equal(new Set(contacts(site).map(({ headers }) => headers["idempotency-key"])).size, 2);
  t.same(told, []);
  await context.close();
});

t.test("a private key in a page is told, and never sent", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick).replace("pk_test", "sk_secret"));
  site.pages.set("/next", pageWith());
  const page = await browser.newPage();
  const told = complaintsOf(page);
  await page.goto(site.origin);
  t.equal(await page.evaluate("verdictd.ready"), null);
  t.match(told, [/^verdictd: sk_ keys are secret/]);
  await page.goto(`${site.origin}/next`);
  await site.post(() => true);
  t.notOk(site.posts.some(({ headers, text }) => `${headers["x-service-site-key"]}${text}`.includes("sk_")));
  await page.close();
});

t.test("old libraries that replace builtins change nothing of what is sent", async (t) => {
  const site = await openSite(t);
  const library = `
    Array.prototype.toJSON = function () { return "[" + this.join(", ") + "]"; };
    Object.prototype.toJSON = function () { return "{}"; };
    String.prototype.toJSON = Number.prototype.toJSON = function () { return '"' + this + '"'; };
    Date.prototype.toJSON = () => "never";
    Array.prototype.reduce = function () { return this.length > 1 ? this : this[0]; };
    Array.prototype.entries = Array.prototype.toArray = function () { return this.slice(); };
    Array.from = (list) => list.toArray();
    Object.keys = (object) => { const names = []; for (const name in object) names.push(name); return names; };`;
  site.pages.set("/", `<script>${library}</script>${pageWith(quick, "<form onsubmit='return false'><input></form>")}`);
  site.pages.set("/next", pageWith());
  const page = await browser.newPage();
  const told = complaintsOf(page);
  await page.goto(site.origin);
  t.equal(await page.evaluate("verdictd.ready"), "sess_1");
  await page.mouse.move(100, 100, { steps: 5 });
  await page.type("input", "ab");
  await page.keyboard.press("Enter");
  await site.event("form");
  const [mouse, key] = [await site.event("mouse"), await site.event("key", ({ payload }) => Boolean(payload.strokes))];
  t.ok(mouse.payload.points!.every((row) => row.length === 3));
  t.ok(key.payload.strokes!.every((row) => row.length === 2));
  t.ok((await site.event("env")).payload.languages);
  await site.event("env", ({ payload }) => "any_pointer" in payload);
  t.same(told, []);
  await page.close();
});

t.test("no content of the page answers in place of the browser", async (t) => {
  const site = await openSite(t);
  const names = ["cookie", "currentScript", "hidden", "visibilityState", "referrer", "readyState", "documentElement"];
  const methods = ["querySelectorAll", "querySelector", "addEventListener", "createElement", "dispatchEvent"];
  const drivers = ["__selenium_unwrapped", "__webdriver_evaluate", "$cdc_x"];
  const windows = [
    "chrome",
    "Temporal",
    "navigation",
    "requestIdleCallback",
    "trustedTypes",
    "verdictd",
    "Notification",
  ];
  const named = [...names, ...methods, ...drivers].map((name) => `<img name="${name}"><form name="${name}"></form>`);
  const fields = ["elements", "tagName", "matches", "getBoundingClientRect", "closest", "action", "id"];
  const form = `<form id=f onsubmit="return false" style="padding:40px">${fields.map((name) => `<input name="${name}">`).join("")}
    <input name=url2 data-verdictd-honeypot value=x style="position:absolute;left:-9999px"><button id=b>go</button></form>`;
  site.pages.set(
    "/",
    `<!doctype html>${named.join("")}${windows.map((name) => `<b id="${name}"></b>`).join("")}
    <iframe name="webdriver" srcdoc="x"></iframe>${form}<script src="/sdk.js" data-site-key="pk_test" ${quick}></script>`,
  );
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors: unknown[] = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(site.origin);
  t.equal(await page.evaluate("typeof document.cookie"), "object", "it is hidden");
  t.equal(await page.evaluate("verdictd.ready"), "sess_1");
  t.same(
    (
      await waitUntil(
        () => context.cookies(),
        (all) => all.length > 0,
      )
    ).map(({ value }) => value),
    ["sess_1"],
  );
  t.same((await site.event("env")).payload.driver_artifacts, []);
  t.match((await site.event("page")).payload, { state: "visible", path: "/" });
  await page.evaluate("document.getElementsByName('url2')[0].value = 'spam'");
  const box = "const { left, top } = Element.prototype.getBoundingClientRect.call(document.getElementById('f'))";
  const [x, y] = (await page.evaluate(`(() => { ${box}; return [left + 5, top + 5]; })()`)) as [number, number];
  await page.mouse.click(x, y);
  t.match((await site.event("click")).payload, { target_tag: "form", trusted: true });
  await page.click("#b");
  t.equal((await site.event("form")).payload.honeypot, true);
  const late = await site.event("env", ({ payload }) => "any_pointer" in payload);
  t.same(late.payload.iframe_mismatch, []);
  t.same(errors, []);
  await context.close();
});

/** Answers as a server that knows these sessions, and mints others. */
function knowing(site: Site, known: Set<string>): string[] {
  const minted: string[] = [];
  const byKey = new Map<string, string>();
  site.answer = ({ batch, headers }) => {
    if (batch.session_token !== null && known.has(batch.session_token)) return { status: 202 };
    const key = String(headers["idempotency-key"] ?? batch.idempotency_key ?? minted.length);
    const token = byKey.get(key) ?? `sess_minted${minted.length + 1}`;
    if (!byKey.has(key)) minted.push(token);
    byKey.set(key, token);
    known.add(token);
    return { status: 202, token };
  };
  return minted;
}

async function sendTen(site: Site, page: Page): Promise<void> {
  for (let clicks = 0; clicks < 10; clicks++) {
    const before = site.posts.length;
    await page.evaluate("document.body.click()");
    await site.post((post) => site.posts.indexOf(post) >= before && post.text.includes('"click"'));
  }
}

const sessionCookies = async (context: BrowserContext) =>
  (await context.cookies()).filter(({ name }) => name === "service_session");

t.test("after its session was erased a visitor gets one new one, whatever cookies stand in the way", async (t) => {
  for (const data of ['data-cookie-domain="shop.test"', ""]) {
    const site = await openSite(t);
    const minted = knowing(site, new Set());
    site.pages.set("/app/", pageWith(`${quick} ${data}`));
    const url = `http://www.shop.test:${site.port}/app/`;
    const context = await browser.newContext();
    const erased = { name: "service_session", value: "sess_erased", path: "/" };
    await context.addCookies([
      { ...erased, domain: ".shop.test" },
      { ...erased, domain: "www.shop.test" },
    ]);
    const page = await context.newPage();
    await page.goto(url);
    t.equal(await page.evaluate("verdictd.ready"), "sess_minted1");
    await sendTen(site, page);
    await page.reload();
    t.equal(await page.evaluate("verdictd.ready"), "sess_minted1");
    await sendTen(site, page);
    t.same(minted, ["sess_minted1"]);
    t.equal((await sessionCookies(context)).length, 1);
    await context.close();
  }
});

t.test("a page that was not told the cookie's domain writes the site's cookie, no second one", async (t) => {
  const site = await openSite(t);
  const known = new Set(["sess_site"]);
  const minted = knowing(site, known);
  site.pages.set("/challenge", pageWith(quick));
  site.pages.set("/app", pageWith(`${quick} data-cookie-domain="shop.test"`));
  const context = await browser.newContext();
  await context.addCookies([{ name: "service_session", value: "sess_site", domain: ".shop.test", path: "/" }]);
  const page = await context.newPage();
  await page.goto(`http://www.shop.test:${site.port}/challenge`);
  t.equal(await page.evaluate("verdictd.ready"), "sess_site");
  t.match(await sessionCookies(context), [{ domain: ".shop.test", value: "sess_site" }]);
  known.delete("sess_site");
  await sendTen(site, page);
  t.same(minted, ["sess_minted1"]);
  t.match(await sessionCookies(context), [{ domain: ".shop.test", value: "sess_minted1" }]);
  await page.goto(`http://www.shop.test:${site.port}/app`);
  t.equal(await page.evaluate("verdictd.ready"), "sess_minted1");
  t.equal((await sessionCookies(context)).length, 1);
  t.same(minted, ["sess_minted1"]);

  await page.evaluate("verdictd.stop({ forget: true })");
  t.same(await sessionCookies(context), []);
  t.same(await page.evaluate("[document.cookie, sessionStorage.length, localStorage.length, verdictd.token()]"), [
    "",
    0,
    0,
    null,
  ]);
  await context.close();
});

t.test("a host's own cookie beside the domain's one, as older versions left it, is removed", async (t) => {
  const site = await openSite(t);
  const minted = knowing(site, new Set(["sess_site"]));
  site.pages.set("/", pageWith(`${quick} data-cookie-domain="shop.test"`));
  const context = await browser.newContext();
  await context.addCookies([
    { name: "service_session", value: "sess_erased", domain: "www.shop.test", path: "/" },
    { name: "service_session", value: "sess_site", domain: ".shop.test", path: "/" },
  ]);
  const page = await context.newPage();
  await page.goto(`http://www.shop.test:${site.port}/`);
  t.equal(await page.evaluate("verdictd.ready"), "sess_site", "the site's session goes on");
  t.match(await sessionCookies(context), [{ domain: ".shop.test", value: "sess_site" }]);
  await sendTen(site, page);
  t.ok(minted.length <= 1, "one contact at most was lost to the erased one");
  await context.close();
});

t.test("forgetting removes the cookie wherever it was written, and all that the tab keeps", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith(quick));
  const context = await browser.newContext();
  await context.addCookies([
    { name: "service_session", value: "sess_a", domain: "www.shop.test", path: "/" },
    { name: "service_session", value: "sess_b", domain: ".shop.test", path: "/" },
  ]);
  const page = await context.newPage();
  await page.goto(`http://www.shop.test:${site.port}/`);
  await page.evaluate("verdictd.ready");
  await site.event("env", ({ payload }) => "any_pointer" in payload);
  await page.evaluate("sessionStorage.setItem('verdictd_pk_test', '{}'); verdictd.stop({ forget: true })");
  t.same(await sessionCookies(context), []);
  t.equal(await page.evaluate("sessionStorage.length"), 0);
  await context.close();
});
