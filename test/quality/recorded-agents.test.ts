/** Recorded visits of agents' tools and of people to the shop: nobody is taken for an agent, and most agents are known. */
import t from "tap";
import { readRecordedVisits } from "../../scripts/jobs/recorded-visits.js";
import { agentsTable, agentsTableOfPage, outcomeOfRecorded, splitOf } from "../../scripts/quality-agents.js";

const outcomes = readRecordedVisits().map(outcomeOfRecorded);
const isPerson = ({ visit }: (typeof outcomes)[number]) => visit.group === "people";

t.test("no person is named or in a bot band", async (t) => {
  const people = outcomes.filter(isPerson);
  t.ok(people.length >= 8, `${people.length} visits`);
  for (const { known, visit, detectionIds } of people) {
    t.equal(known, "missed", `${visit.tool} ${visit.job}: ${detectionIds.join(" ")}`);
  }
});

t.test("a visit that came with its start ticket has it when it is folded again", async (t) => {
  const without = outcomes.filter(({ detectionIds }) => detectionIds.includes(100410));
  t.same(
    without.map(({ visit }) => `${visit.tool} ${visit.job}`),
    [],
  );
});

t.test("of tools and jobs on which nothing was chosen, four in five are named or in a bot band", async (t) => {
  const aside = outcomes.filter((each) => !isPerson(each) && splitOf(each.visit) === "dev");
  const known = aside.filter((each) => each.known !== "missed");
  t.ok(known.length >= 0.8 * aside.length, `${known.length} of ${aside.length}`);
  for (const each of outcomes.filter(({ visit }) => visit.tool === "Stagehand")) t.equal(each.known, "marked");
});

t.test("of forms on which nothing was chosen, nine agents in ten are named or in a bot band", async (t) => {
  const fresh = outcomes.filter((each) => !isPerson(each) && splitOf(each.visit) === "fresh");
  t.ok(fresh.length >= 10, `${fresh.length} visits`);
  const known = fresh.filter((each) => each.known !== "missed");
  t.ok(known.length >= 0.9 * fresh.length, `${known.length} of ${fresh.length}`);
});

t.test("the documented table is what the program comes to now", async (t) => {
  t.equal(agentsTableOfPage(), agentsTable(), "node dist/scripts/quality-agents.js --write makes it anew");
});
