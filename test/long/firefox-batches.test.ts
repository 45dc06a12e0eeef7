/** How the SDK cuts and repeats batches, in a real Firefox; `firefox-sdk.test.ts` has what hangs on the browser. */
import t from "tap";
import { prove, repeatCases } from "../sdk/cases.js";
import { throughPuppeteer } from "../sdk/visitor.js";
import { skipFileIf } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";

skipFileIf(t, noFirefox);

prove(t, repeatCases, throughPuppeteer(await launchFirefox(t)));
