/** Results as Markdown tables: what is printed and kept. */
import { curve } from "../load/latencies.js";
import type { Measured } from "../measure.js";
import type { ScenarioResult } from "../scenarios/scenario.js";
import { allFigures, type FigureRow, figureRows, frontRows, withUnit } from "./figures.js";

export interface InProcessRow {
  readonly bench: string;
  readonly what: string;
  readonly micros: number;
}

const heads = [
  "scenario",
  "server",
  "requests/s",
  "of bare",
  "CPU µs",
  "of bare",
  "cores",
  "p50 ms",
  "p90 ms",
  "p99 ms",
  "errors",
];

/** Each server of each scenario; "" when there is none. */
export function loadTable(results: readonly ScenarioResult[]): string {
  const rows = results.flatMap(({ title, measured }) =>
    measured.map((each, index) => loadRow(index === 0 ? title : "", each)),
  );
  return table(heads, rows);
}

function loadRow(title: string, each: Measured): string[] {
  const at = (percent: (typeof curve)[number]): string => each.latencyMs[curve.indexOf(percent)]!.toFixed(2);
  return [
    title,
    each.target,
    Math.round(each.rate).toLocaleString("en"),
    each.rateRatio === null ? "" : each.rateRatio.toFixed(2),
    each.cpuMicros === null ? "" : each.cpuMicros.toFixed(1),
    each.cpuRatio === null ? "" : `${each.cpuRatio.toFixed(2)}×`,
    each.serverCores === null ? "" : each.serverCores.toFixed(2),
    at(50),
    at(90),
    at(99),
    String(each.errors),
  ];
}

/** Every figure with a goal, and whether it is reached; "" when there is none. */
export function goalTable(results: readonly ScenarioResult[]): string {
  return rowsWithGoals(figureRows(results).filter(({ goal }) => goal !== ""));
}

/** What the front page shows, without the goals: those are for who works on it. */
export function frontTable(results: readonly ScenarioResult[]): string {
  return table(
    ["figure", "measured"],
    frontRows(results).map(({ figure, measured }) => [figure, measured]),
  );
}

function rowsWithGoals(rows: readonly FigureRow[]): string {
  return table(
    ["figure with a goal", "measured", "goal", "reached"],
    rows.map(({ figure, measured, goal, isReached }) => [figure, measured, goal, isReached ? "yes" : "no"]),
  );
}

/** The figures that nothing was promised of; "" when there is none. */
export function otherTable(results: readonly ScenarioResult[]): string {
  const rows = figureRows(results).filter(({ goal }) => goal === "");
  return table(
    ["figure without a goal", "measured"],
    rows.map(({ figure, measured }) => [figure, measured]),
  );
}

/** How each figure stands to what it was: only those that both runs have; "" when there is none. */
export function comparisonTable(before: readonly ScenarioResult[], now: readonly ScenarioResult[]): string {
  const known = new Map(allFigures(before).map((figure) => [figure.what, figure]));
  const rows = allFigures(now).flatMap(({ what, value, unit }) => {
    const last = known.get(what);
    return last === undefined
      ? []
      : [[what, withUnit(last.value, unit), withUnit(value, unit), change(last.value, value)]];
  });
  return table(["figure", "then", "now", "change"], rows);
}

function change(before: number, now: number): string {
  if (before === 0) return "";
  const percent = Math.round(100 * (now / before - 1));
  return `${percent > 0 ? "+" : ""}${percent} %`;
}

/** Microseconds of the stages; "" when there is none. */
export function inProcessTable(rows: readonly InProcessRow[]): string {
  return table(
    ["in one process", "what", "µs"],
    rows.map(({ bench, what, micros }) => [bench, what, micros.toFixed(2)]),
  );
}

/** Aligned, as the formatter wants it. */
function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const widths = columns.map((head, index) => Math.max(head.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
