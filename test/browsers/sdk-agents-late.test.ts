/** A debugger's client that attaches to a browser in which a page is open already, as agents do that work in a person's own window. */

import { chromium } from "playwright-core";
import t from "tap";
import { shippedAgentMarks } from "../../src/bots/marks/catalogue.js";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { agentsFile, openSite, pageWith } from "../sdk/site.js";
import { launchAlone, noChromium, skipFileIf } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

t.test("who attaches to an open page is seen once it acts", async (t) => {
  const site = await openSite(t);
  site.pages.set("/sdk-agents.js", agentsFile(shippedAgentMarks()));
  site.pages.set("/", pageWith('data-interval="250"'));
  const sees =
    (seen: boolean) =>
    ({ payload }: IngestEvent) =>
      payload.stack_probe === seen;
  const alone = site.event("env", sees(false));
  const port = await freePort();
  launchAlone(t, site.origin, alone, [`--remote-debugging-port=${port}`]);
  t.ok(await alone, "nobody is there when the page opens");

  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  t.teardown(() => browser.close());
  const page = browser
    .contexts()
    .flatMap((context) => context.pages())
    .find((each) => each.url().startsWith(site.origin));
  const reported = () => site.posts.flatMap(({ batch }) => batch.events).filter(sees(true)).length;
  // The page looks again no sooner than ten seconds after it was opened.
  const acted = async () => {
    await page?.keyboard.press("Shift");
    return reported();
  };
  await waitUntil(acted, (count) => count > 0);
  for (let again = 0; again < 3; again++) await page?.keyboard.press("Shift");
  await page?.mouse.click(5, 5);
  await site.event("click");
  t.equal(reported(), 1, "and not looked for with every input");
});
