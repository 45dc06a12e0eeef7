/**
 * Stealth browsers that pass verdictd's challenge and then act in straight steps, live: the clearance ends with the batch that shows it. The same
 * visits, more of them, are part of `npm run quality`.
 */
import t from "tap";
import { liveCases } from "../../scripts/live/cases.js";
import { measureVisit } from "../../scripts/live/measure.js";
import { startService } from "../../scripts/live/service.js";
import { startSite } from "../../scripts/live/site.js";

const service = await startService();
t.teardown(() => service.stop());
const site = await startSite(service);
t.teardown(() => site.close());

const cases = liveCases().filter(({ goal }) => goal === "cleared");
t.ok(cases.length >= 4, "several tools");
for (const of of cases) {
  t.test(`${of.tool}: ${of.behavior}`, { skip: of.missing() ?? false }, async (t) => {
    const outcome = await measureVisit(of, 0, { service, site, display: null, seed: 1 });
    t.match(outcome, { verdict: { verdict: /^(definite|confident_automated|likely_automated)$/ } });
  });
}
