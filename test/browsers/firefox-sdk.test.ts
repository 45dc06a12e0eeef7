/** The SDK in a real Firefox: the shared promises that hang on the browser, and what only Firefox shows. */
import t from "tap";
import { deliveryCases, pageCases, prove } from "../sdk/cases.js";
import { openSite, pageWith } from "../sdk/site.js";
import { throughPuppeteer } from "../sdk/visitor.js";
import { skipFileIf } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";

skipFileIf(t, noFirefox);

const arrive = throughPuppeteer(await launchFirefox(t));
prove(t, [...deliveryCases, ...pageCases], arrive);

t.test("what Firefox does not have is absent, not false", async (t) => {
  const site = await openSite(t);
  site.pages.set("/", pageWith());
  const visitor = await arrive();
  t.teardown(() => visitor.leave());
  const page = await visitor.open();
  await page.goto(site.origin);
  const { payload } = await site.event("env");
  for (const fact of ["ua_brands", "memory", "rtt"]) t.notOk(fact in payload, fact);
  t.match(payload, { webdriver: true, chrome_object: false, driver_artifacts: [], user_agent: /Firefox/ });
  t.equal(payload.eval_length, 37);
  const late = await site.event("env", (event) => "any_pointer" in event.payload);
  for (const fact of ["ua_platform", "ua_architecture", "ua_full_version", "stack_probe"])
    t.notOk(fact in late.payload, fact);
  t.ok(
    (late.payload.system_fonts as string[]).every((each) => each === "linux"),
    String(late.payload.system_fonts),
  );
});
