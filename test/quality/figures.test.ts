/** The documented figures: every source and generator has a row, and what the page promises of people is in its own tables. */
import t from "tap";
import { alterations } from "../../scripts/altered-traces.js";
import { figuresOfPage } from "../../scripts/figures.js";
import { dataFolder, readTraces, type Trace } from "../../scripts/trace-sessions.js";

const page = figuresOfPage();
const [peopleRows = "", alteredRows = "", programRows = ""] = page
  .split(/^## .*$/m)
  .slice(1)
  .map((part) => part.slice(part.search(/^\| -+ /m)));
const cells = (rows: string) =>
  rows
    .split("\n")
    .filter((row) => row.startsWith("| ") && !row.startsWith("| --"))
    .map((row) =>
      row
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.trim()),
    );
const percentOf = (cell: string) => Number(/^([\d.]+) %/.exec(cell)?.[1] ?? 0);

const folder = dataFolder();
const skip = folder === null ? "no ../shared/data" : false;

t.test("each source of people and each generator has a row of its own", { skip }, async (t) => {
  const traces = ["dev", "keys_nc_dev"].flatMap((file) => readTraces(folder!, file));
  const named = (label: Trace["label"]) => traces.filter((each) => each.label === label);
  const sources = new Set(cells(peopleRows).map(([name]) => name));
  for (const source of new Set(named("human").map((each) => each.source))) t.ok(sources.has(source), source);
  const generators = new Set(cells(programRows).map(([name]) => name));
  for (const generator of new Set(named("bot").map((each) => each.generator)))
    t.ok(generators.has(`\`${generator}\``), `${generator}`);
});

t.test("no source of people is above 1 % in a bot band, or 0.1 % in a confident one", async (t) => {
  t.ok(cells(peopleRows).length >= 8);
  for (const [source, , train, dev, confident, moves] of cells(peopleRows)) {
    for (const cell of [train, dev, moves]) t.ok(percentOf(cell!) <= 1, `${source}: ${cell}`);
    t.ok(percentOf(confident!) <= 0.1, `${source}: ${confident}`);
  }
});

t.test("every alteration of recordings has its row", async (t) => {
  t.same(
    cells(alteredRows).map(([name]) => name),
    alterations.map(({ name }) => name),
  );
});
