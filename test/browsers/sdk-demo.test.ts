/** The demo page in a real Chromium: it shows what its server answers, and keeps a strict content-security policy. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { Verdict } from "../../src/contract/verdicts/verdict.js";
import { openSite } from "../sdk/site.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const html = readFileSync(join(dist, "demo/index.html"), "utf8");
const browser = await launch(t);

t.test("the panel shows band, score, action, reason and what each detection means", async (t) => {
  const site = await openSite(t);
  const verdict: Verdict = {
    verdict: "likely_automated",
    score: 22,
    action: "challenge",
    detection_ids: [100101, 999999],
    reason: "<b>The browser</b> says it is automated.",
  };
  const detections = [{ id: 100101, slug: "webdriver-declared", meaning: "navigator.webdriver is true." }];
  site.policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:";
  site.pages.set("/demo", html.replace("__SITE_KEY__", "pk_demo"));
  site.pages.set("/demo/verdict?session=sess_1", JSON.stringify(verdict));
  site.pages.set("/v1/detections", JSON.stringify({ data: detections, meta: { count: 1 } }));
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text());
  });
  await page.goto(`${site.origin}/demo`);
  await page.waitForSelector("#band[data-band=likely_automated]");
  await page.waitForSelector("text=navigator.webdriver is true.");
  t.equal(await page.textContent("#score"), "22");
  t.equal(await page.textContent("#action"), "challenge");
  t.equal(await page.textContent("#session"), "sess_1");
  t.equal(await page.textContent("#reason"), verdict.reason, "shown as text, not as markup");
  t.same(await page.locator("#detections li").allTextContents(), [
    "100101 webdriver-declared navigator.webdriver is true.",
    "999999",
  ]);
  t.equal(site.posts[0]!.headers["x-service-site-key"], "pk_demo");
  const list = page.locator("#detections");
  t.equal(await list.getAttribute("tabindex"), null, "what does not scroll is no stop of the Tab key");
  const many = { ...verdict, detection_ids: Array(30).fill(100101) };
  site.pages.set("/demo/verdict?session=sess_1", JSON.stringify(many));
  await page.waitForSelector("#detections[tabindex='0']");
  t.same(complaints, []);
  await page.close();
});
