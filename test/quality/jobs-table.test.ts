/** The tables of the bench of jobs: tools that broke count for nothing, and few runs prove little. */
import t from "tap";
import type { JobOutcome } from "../../scripts/jobs/outcome.js";
import { type JobRow, renderForms, renderTools } from "../../scripts/jobs/table.js";

const outcome = (result: JobOutcome["result"], number: number | null, band: string): JobOutcome => ({
  result,
  failure: null,
  stop:
    number === null
      ? null
      : { action: "block", request: number > 2 ? "POST /contact" : "GET /contact", number, atMs: 10 },
  band,
  score: 2,
  detectionIds: [],
  passes: 0,
  requests: 3,
  forms: { sent: 1, seen: number === null ? 0 : 1 },
  agent: null,
});
const row = (mode: "window" | "headless", A: JobOutcome, B: JobOutcome): JobRow => ({
  cell: { group: "undisguised", tool: "A tool", mode, job: "search" },
  missing: null,
  outcomes: { A, B },
});

t.test("a tool has a row for each of its modes, with the share and its interval", async (t) => {
  const rows = [
    row("window", outcome("stopped", 2, "definite"), outcome("stopped", 3, "definite")),
    row("window", outcome("done", null, "likely_human"), outcome("failed", null, "not_computed")),
    row("headless", outcome("stopped", 1, "definite"), outcome("stopped", 1, "definite")),
  ];
  t.same(renderTools(rows, ["A", "B"]).split("\n").slice(2), [
    "| undisguised | A tool, window | 1 of 2 (9 to 91 %) | 1 of 1 (21 to 100 %) | 2 to 3 | 2 of 3 (21 to 94 %) | 0 | 2 of 3 (21 to 94 %) |",
    "| undisguised | A tool, headless | 1 of 1 (21 to 100 %) | 1 of 1 (21 to 100 %) | 1 | 2 of 2 (34 to 100 %) | 0 | 2 of 2 (34 to 100 %) |",
  ]);
});

t.test("of visits with a form the table says where they ended", async (t) => {
  const form = (B: JobOutcome): JobRow => ({
    cell: { group: "attached", tool: "A tool", mode: "late", job: "contact" },
    missing: null,
    outcomes: { B },
  });
  const unsent = { sent: 0, seen: 0 };
  const named = { name: "unknown agent", certainty: "behavior" } as const;
  const rows = [
    form({ ...outcome("stopped", 2, "likely_human"), forms: unsent }),
    form({ ...outcome("stopped", 3, "likely_human"), forms: unsent }),
    form(outcome("stopped", 4, "definite")),
    form({ ...outcome("done", null, "likely_human"), agent: named }),
    form(outcome("done", null, "likely_human")),
    form(outcome("failed", null, "likely_human")),
    row("window", outcome("stopped", 1, "definite"), outcome("stopped", 1, "definite")),
  ];
  t.same(renderForms(rows, "B")?.split("\n").slice(2), [
    "| A tool, late | 5 | 1 | 1 | 1 | 1 | 1 |",
    `| all | 5 | ${Array(5).fill("1 of 5 (4 to 62 %)").join(" | ")} |`,
  ]);
  t.equal(renderForms(rows, "A"), null, "a search has no form");
});
