/** The SDK as a guest on somebody's page: cookies, policies, other origins, navigation, and never breaking anything. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import t from "tap";
import { pageCases, prove } from "../sdk/cases.js";
import { openSite, pageWith } from "../sdk/site.js";
import { throughPlaywright } from "../sdk/visitor.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

const browser = await launch(t, { args: ["--host-resolver-rules=MAP *.test 127.0.0.1"] });
const bundleOf = (name: string) =>
  readFileSync(join(resolve(dirname(fileURLToPath(import.meta.url)), "../.."), "sdk", name), "utf8");
const bundle = bundleOf("sdk.js");
const quick = 'data-interval="250"';

prove(t, pageCases, throughPlaywright(browser));

/** Everything that a visitor's console would complain about. */
function complaintsOf(page: Page): string[] {
  const found: string[] = [];
  page.on("pageerror", (error) => found.push(String(error)));
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) found.push(message.text());
  });
  return found;
}

t.test("on https the cookie is secure; name, domain, path and SameSite are the site's choice", async (t) => {
  const context = await browser.newContext();
  const choice = [
    'data-cookie-name="visitor"',
    'data-cookie-domain="shop.test"',
    'data-cookie-path="/app"',
    'data-cookie-same-site="Strict"',
    'data-cookie-max-age="3600"',
  ].join(" ");
  const pages: Record<string, string> = { "/app/": choice, "/": "" };
  await context.route("https://www.shop.test/**", (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/v1/events") {
      return route.fulfill({ status: 202, json: { session_token: "sess_1", accepted: 1, duplicates: 0 } });
    }
    if (path === "/sdk.js") return route.fulfill({ contentType: "text/javascript", body: bundle });
    return route.fulfill({ contentType: "text/html", body: pageWith(pages[path] ?? "") });
  });
  const page = await context.newPage();
  for (const path of ["/app/", "/"]) {
    await page.goto(`https://www.shop.test${path}`);
    t.equal(await page.evaluate("verdictd.ready"), "sess_1");
  }
  const cookies = await waitUntil(
    () => context.cookies(["https://www.shop.test/app/"]),
    (all) => all.length >= 2,
  );
  t.match(
    cookies.find((each) => each.name === "visitor"),
    { domain: ".shop.test", path: "/app", sameSite: "Strict", secure: true },
  );
  t.match(
    cookies.find((each) => each.name === "service_session"),
    { domain: "www.shop.test", path: "/", sameSite: "Lax", secure: true },
  );
  await context.close();
});

t.test("a nonce policy without 'self' is kept as well", async (t) => {
  const site = await openSite(t);
  site.policy = "default-src 'none'; script-src 'nonce-abc'; connect-src 'self'";
  site.pages.set("/", pageWith('nonce="abc"'));
  const page = await browser.newPage();
  const complaints = complaintsOf(page);
  await page.goto(site.origin);
  const late = await site.event("env", ({ payload }) => !("user_agent" in payload));
  t.equal(late.payload.worker_mismatch, undefined, "no worker where it would be a violation");
  await page.evaluate("verdictd.ready");
  t.same(complaints, []);
  await page.close();
});

t.test("a hostile or broken page gets no error from the SDK", async (t) => {
  const site = await openSite(t);
  const sabotage = `
    Object.defineProperty(document, "cookie", { get() { throw new Error("no"); }, set() { throw new Error("no"); } });
    Object.defineProperty(window, "sessionStorage", { get() { throw new Error("no"); } });
    navigator.sendBeacon = undefined;
    delete window.getComputedStyle;
    window.requestAnimationFrame = () => 0;
    HTMLCanvasElement.prototype.getContext = () => { throw new Error("no"); };
    console.groupEnd = null;
    PointerEvent.prototype.getCoalescedEvents = () => { throw new Error("no"); };
    Object.prototype.polluted = () => {};
  `;
  site.pages.set("/", `<script>${sabotage}</script>${pageWith(quick)}`);
  const page = await browser.newPage();
  const errors: unknown[] = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(site.origin);
  await site.event("env");
  t.equal(await page.evaluate("verdictd.ready"), "sess_1");
  await page.mouse.move(10, 10, { steps: 3 });
  await page.mouse.click(10, 10);
  await site.event("click");
  await page.evaluate("dispatchEvent(new Event('pagehide'))");
  t.same(errors, []);
  await page.close();
});

t.test("in a sandboxed frame without cookies or storage it reports and stays quiet", async (t) => {
  const site = await openSite(t);
  site.pages.set("/frame", pageWith());
  site.pages.set("/", '<iframe sandbox="allow-scripts" src="/frame"></iframe>');
  const page = await browser.newPage();
  const errors: unknown[] = [];
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(site.origin);
  await site.event("env");
  t.equal(await page.frames()[1]!.evaluate("verdictd.ready"), "sess_1");
  t.same(errors, []);
  await page.close();
});

t.test("the npm entry starts on request, in the page, and is inert on a server", async (t) => {
  const site = await openSite(t);
  const start = `import { init } from "/browser.js"; window.sdk = init({ siteKey: "pk_npm", interval: 250 });`;
  site.pages.set("/", `<script type="module">${start}</script>`);
  const page = await browser.newPage();
  await page.goto(site.origin);
  t.equal(await page.evaluate("sdk.ready"), "sess_1");
  t.equal(site.posts[0]!.headers["x-service-site-key"], "pk_npm");

  const said = complaintsOf(page);
  const misspelt = `import { init } from "/browser.js"; window.sdk = init({ sitekey: "pk_npm" }); init({});`;
  site.pages.set("/misspelt", `<script type="module">${misspelt}</script>`);
  await page.goto(`${site.origin}/misspelt`);
  t.equal(await page.evaluate("sdk.ready"), null);
  t.same(said, [
    "verdictd: unknown option `sitekey`; did you mean `siteKey`?",
    "verdictd: `siteKey` is missing, so nothing is collected",
  ]);
  await page.close();

  const { init } = (await import("verdictd/browser" as string)) as {
    init: (options: { siteKey: string }) => { ready: Promise<string | null>; token(): string | null; stop(): void };
  };
  const inert = init({ siteKey: "pk_x" });
  inert.stop();
  t.equal(await inert.ready, null);
  t.equal(inert.token(), null);
});

t.test("mistakes in the script tag are told, and a mistaken consent collects nothing", async (t) => {
  const site = await openSite(t);
  const page = await browser.newPage();
  const told = complaintsOf(page);
  const waiting = "verdictd: check data-site-key, data-consent";
  site.pages.set("/", pageWith(`${quick} data-consent="true"`));
  site.pages.set("/keyless", '<!doctype html><script src="/sdk.js" data-sitekey="pk_test"></script>');
  await page.goto(site.origin);
  await page.waitForTimeout(1500);
  t.equal(await page.evaluate("verdictd.token()"), null);
  await page.goto(`${site.origin}/keyless`);
  t.equal(await page.evaluate("verdictd.ready"), null);
  t.same([site.posts.length, told], [0, [waiting, waiting]]);

  told.length = 0;
  const slips = 'data-consnet="wait" data-cookie="no" data-cookie-max-age="1h" data-nscript="afterInteractive"';
  site.pages.set("/slips", pageWith(`${quick} ${slips}`));
  await page.goto(`${site.origin}/slips`);
  await waitUntil(
    async () => told.length,
    (length) => length >= 3,
  );
  t.same(told, [
    "verdictd: unknown attribute data-consnet; did you mean data-consent?",
    'verdictd: data-cookie: expected on or off, got "no"',
    'verdictd: data-cookie-max-age: expected seconds, got "1h"',
  ]);
  await page.close();
});

t.test("stop ends it", async (t) => {
  const site = await openSite(t);
  site.pages.set("/next", "<p>next</p>");
  const page = await browser.newPage();
  await page.goto(site.origin);
  await page.evaluate("verdictd.ready");
  await page.evaluate("verdictd.stop(); document.body.click()");
  await page.goto(`${site.origin}/next`);
  t.equal(site.posts.filter((post) => post.text.includes('"click"')).length, 0);
  await page.close();
});

t.test("the bundles are within 8 and 4 KB gzipped and evaluate, write and draw nothing", async (t) => {
  for (const [text, bytesMax] of [
    [bundle, 8192],
    [bundleOf("sdk-probes.js"), 4096],
  ] as const) {
    const bytes = gzipSync(text, { level: 9 }).length;
    t.ok(bytes <= bytesMax, `${bytes} bytes`);
    t.notMatch(text, /\beval\(|new Function|innerHTML|document\.write|toDataURL|getImageData|AudioContext/);
    t.notMatch(text, /https?:\/\//, "no address of anybody else");
  }
});

t.test("without the second file, or with a broken one, everything else goes on", async (t) => {
  const site = await openSite(t);
  const asked: string[] = [];
  const page = await browser.newPage();
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const errors: unknown[] = [];
  page.on("pageerror", (error) => errors.push(error));
  const clickIsReported = async () => {
    const already = site.posts.length;
    await page.evaluate("document.body.click()");
    await site.post((post) => site.posts.indexOf(post) >= already && post.text.includes('"click"'));
  };
  for (const [path, second] of [
    ["/syntax/", "export const probe = ;"],
    ["/throws/", "export function probe() { throw new Error('no'); }"],
    ["/lacks/", "export const other = 1;"],
    ["/missing/", undefined],
  ] as const) {
    site.pages.set(`${path}sdk.js`, bundle);
    site.pages.set(path, pageWith(quick, undefined, `${path}sdk.js`));
    if (second !== undefined) site.pages.set(`${path}sdk-probes.js`, second);
    const answered = page.waitForResponse((response) => response.url().endsWith("/sdk-probes.js"));
    await page.goto(site.origin + path);
    await answered;
    await clickIsReported();
  }
  t.same(errors, []);
  asked.length = 0;
  site.pages.set("/off", pageWith(`${quick} data-probes="off"`));
  await page.goto(`${site.origin}/off`);
  await page.evaluate("verdictd.ready");
  await clickIsReported();
  t.notOk(asked.includes("/sdk-probes.js"), "not asked for where it is off");
  await page.close();
});
