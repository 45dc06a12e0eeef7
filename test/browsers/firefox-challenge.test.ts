/** A real Firefox passes verdictd's challenge without being asked to. */
import t from "tap";
import { openChallengedSite, readyScript, scoredSession } from "../challenge/challenged-site.js";
import { stepMsMax } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";
import { waitUntil } from "../support/wait-until.js";

t.test("Firefox", { skip: noFirefox ?? false }, async (t) => {
  const site = await openChallengedSite(t);
  const browser = await launchFirefox(t);
  const page = await browser.newPage();
  page.setDefaultTimeout(stepMsMax);
  await page.goto(site.origin);
  await scoredSession(site, () => page.evaluate(readyScript));
  await page.goto(`${site.origin}/c/page`);
  // Not `waitForFunction`, which builds a function in the page: the policy of the challenge page forbids that. A navigation ends an evaluation.
  const isIn = (): Promise<unknown> =>
    page.evaluate("document.body.innerText.includes('You are in')").catch(() => false);
  await waitUntil(isIn, Boolean);
  // 304 where the page that it loaded itself is still the same.
  t.match(String((await page.goto(`${site.origin}/c/page`))?.status()), /^(200|304)$/);
});
