/**
 * The live measurement in short: one unmodified tool, one that hides, and one person, each in a real browser before a real
 * verdictd. `node dist/scripts/quality-live.js` is the long form with every tool and intervals.
 */
import t from "tap";
import { liveCases } from "../../scripts/live/cases.js";
import { missingProgram } from "../../scripts/live/chromium.js";
import { openDisplay } from "../../scripts/live/display.js";
import { measureVisit } from "../../scripts/live/measure.js";
import type { GoalName, LiveCase } from "../../scripts/live/measurement.js";
import { startService } from "../../scripts/live/service.js";
import { startSite } from "../../scripts/live/site.js";
import type { Verdict } from "../../src/contract/verdicts/verdict.js";
import { launch, noChromium, sessionCookie, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const service = await startService();
t.teardown(() => service.stop());
const site = await startSite(service);
t.teardown(() => site.close());
const display = missingProgram("Xvfb") === null ? await openDisplay() : null;
t.teardown(() => display?.close());

// Each visit waits far more than it works.
t.jobs = 3;
const atOnce = { buffered: true };

const botBands = ["definite", "confident_automated", "likely_automated"];

function caseOf(goal: GoalName, tool: RegExp, behavior: RegExp): LiveCase {
  const found = liveCases().find((each) => each.goal === goal && tool.test(each.tool) && behavior.test(each.behavior));
  if (found === undefined) throw new Error(`no live case of ${goal}`);
  return found;
}

/** The verdict on a visit of the case; fails the test when the visit did. */
async function verdictOn(of: LiveCase): Promise<Verdict> {
  const outcome = await measureVisit(of, 0, { service, site, display, seed: 1 });
  if ("failure" in outcome) throw new Error(outcome.failure);
  return outcome.verdict;
}

t.test("unmodified Playwright on the demo page is proven a bot, and the verdict says why", atOnce, async (t) => {
  const browser = await launch(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  const answered = page.waitForResponse(
    (response) => response.url().endsWith("/v1/events") && response.status() === 202,
  );
  await page.goto(`${service.origin}/demo`);
  await answered;
  const verdict = await service.verdict((await sessionCookie(context))?.value ?? "");
  t.match(verdict.verdict, /^(definite|confident_automated)$/);
  t.ok(verdict.detection_ids.length > 0, "detections are named");
  t.match(verdict.reason, /\w{4}/, "a reason is given");
});

t.test("hidden automation that moves in straight steps is in a bot band", atOnce, async (t) => {
  const verdict = await verdictOn(caseOf("hardened", /^Playwright, automation hidden, headless/, /straight/));
  t.ok(botBands.includes(verdict.verdict), `${verdict.verdict}: ${verdict.reason}`);
  t.ok(verdict.detection_ids.length > 0, "detections are named");
});

const person = caseOf("person", /Chromium in a window/, /barkworth/);
t.test(
  "a person's recorded input in a real window is likely human",
  { ...atOnce, skip: person.missing() ?? false },
  async (t) => {
    const verdict = await verdictOn(person);
    t.equal(verdict.verdict, "likely_human", verdict.reason);
    t.same(verdict.detection_ids, []);
  },
);
