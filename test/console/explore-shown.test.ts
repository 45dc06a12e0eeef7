/** What Explore shows of an answer about a sample of the sessions. */
import t from "tap";
import { groupOfCounters } from "../../src/console/pages/explore-requests.js";
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

t.test("counters say by how much they may be wrong, where they may", (t) => {
  const answer = (error: number) =>
    ({
      data: [{ value: "/login", count: 30, bands: {}, actions: {} }],
      meta: { total: 100, other: 70, without: 0, error },
    }) as never as Parameters<typeof groupOfCounters>[1];
  t.match(groupOfCounters("path", answer(0.004)), { values: [{ value: "/login", count: 30 }], error: 0.004 });
  t.notOk("error" in groupOfCounters("path", answer(0)));
  t.end();
});
