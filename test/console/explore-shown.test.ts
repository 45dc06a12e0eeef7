/** What Explore shows of an answer about a sample of the sessions. */
import t from "tap";
import { shownSessions } from "../../src/console/pages/explore-shown.js";

t.test("counts of a sample are scaled up to the whole, and say so; those of all sessions stay", (t) => {
  const answer = {
    from: "2026-11-02T00:00:00.000Z",
    to: "2026-11-03T00:00:00.000Z",
    matched: 19_694,
    scanned: 20_000,
    total: 100_000,
    is_sample: true,
    unavailable_fields: [],
    groups: [
      {
        by: "country",
        values: [{ value: "NL", sessions: 30, verdicts: {}, condition: null }],
        further_values: 0,
        without: 2,
      },
    ],
  } as never as Parameters<typeof shownSessions>[0];
  const shown = shownSessions(answer);
  t.match(shown, { matched: 98_470, total: 100_000, isEstimate: true });
  t.match(shown.groups, [{ values: [{ value: "NL", count: 150 }], without: 10 }]);
  t.match(shownSessions({ ...answer, is_sample: false }), { matched: 19_694, total: 20_000, isEstimate: false });
  t.end();
});
