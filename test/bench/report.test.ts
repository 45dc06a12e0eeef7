/** What the README and the plots say of the bench is what the committed results say. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { figureRows } from "../../bench/report/figures.js";
import { plots } from "../../bench/report/plots.js";
import { readReport, reportFiles } from "../../bench/report/report.js";
import { comparisonTable } from "../../bench/report/table.js";
import { atLeast, atMost, type ScenarioResult } from "../../bench/scenarios/scenario.js";
import { benchParts, resultsFolder } from "../../scripts/bench-docs.js";

const folder = join(resolve(fileURLToPath(new URL("../../..", import.meta.url))), resultsFolder);
const report = readReport(folder);

t.test("README and performance page say what the committed results give", async (t) => {
  const parts = benchParts();
  t.equal(parts.length, 2);
  for (const { file, stands, made } of parts) t.equal(stands, made, `${file}; if not: node dist/scripts/bench-docs.js`);
});

t.test("tables and plots beside the results are made of them", async (t) => {
  for (const [name, text] of Object.entries(reportFiles(report))) {
    t.equal(readFileSync(join(folder, name), "utf8"), text, name);
  }
});

t.test("the committed results are of a whole run of at least five pairs", async (t) => {
  t.ok(report.run.pairs >= 5);
  t.ok(Object.keys(plots(report.results)).length >= 4, "every plot has its data");
  t.ok(report.inProcess.length > 0);
  t.match(report.machine.commit, /^[0-9a-f]{12}$/, "measured at a commit, not beside one");
  for (const { name, measured } of report.results) {
    for (const { target, runs, errors } of measured) t.equal(errors, 0, `${name}, ${target}, ${runs} runs`);
  }
});

t.test("no two figures have the same words", async (t) => {
  const names = figureRows(report.results).map(({ figure }) => figure);
  t.equal(new Set(names).size, names.length);
});

const result = (...figures: ScenarioResult["figures"]): ScenarioResult => ({
  name: "x",
  title: "x",
  measured: [],
  goals: {},
  figures,
  fill: [],
});

t.test("figures that two runs have are shown beside each other, with the change", async (t) => {
  const [before, now] = [
    result(atMost("a", 4, "ms", 5), atLeast("b", 2, "×", 1), { what: "gone", value: 1, unit: "" }),
    result({ what: "new", value: 1, unit: "" }, atLeast("b", 1.5, "×", 1), atMost("a", 5, "ms", 5)),
  ];
  const rows = comparisonTable([before], [now]).split("\n").slice(2);
  t.same(
    rows.map((row) => row.split("|").map((cell) => cell.trim())).map(([, ...cells]) => cells.slice(0, 4)),
    [
      ["b", "2×", "1.50×", "-25 %"],
      ["a", "4 ms", "5 ms", "+25 %"],
    ],
  );
  t.equal(comparisonTable([result()], [now]), "");
});

t.test("a figure is reached at its goal and missed beyond it", async (t) => {
  const rows = figureRows([
    result(
      atMost("a", 5, "ms", 5),
      atMost("b", 5.1, "ms", 5),
      atLeast("c", 0.9, "×", 0.9),
      atLeast("d", 0.8, "×", 0.9),
    ),
  ]);
  t.same(
    rows.map(({ isReached }) => isReached),
    [true, false, true, false],
  );
  t.same(rows[1], { figure: "b", measured: "5.10 ms", goal: "≤ 5 ms", isReached: false });
  t.equal(figureRows([result({ what: "e", value: 1, unit: "" })])[0]?.goal, "", "one without a goal says so");
});
