/** How the SDK cuts and repeats batches, in a real Firefox; `firefox-sdk.test.ts` has what hangs on the browser. */
import t from "tap";
import { prove, repeatCases } from "../sdk/cases.js";
import { throughPuppeteer } from "../sdk/visitor.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";

if (noFirefox !== undefined) {
  t.plan(0, noFirefox);
  process.exit(0);
}

prove(t, repeatCases, throughPuppeteer(await launchFirefox(t)));
