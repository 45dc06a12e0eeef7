/** Results as a Markdown table: what is printed, kept and shown in the README. */
import { curve } from "../load/latencies.js";
import type { Measured } from "../measure.js";
import type { Figure, ScenarioResult } from "../scenarios/scenario.js";

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

/** Every figure with a goal, and whether it is reached. */
export function goalTable(results: readonly ScenarioResult[]): string {
  const rows = results.flatMap((result) => [...raceGoals(result), ...result.figures.map(figureRow)]);
  return rows.length === 0 ? "" : table(["figure", "measured", "goal", "reached"], rows);
}

function raceGoals({ title, goals, measured }: ScenarioResult): string[][] {
  const own = measured.find(({ target }) => target === "verdictd");
  const peer = measured.find(({ target }) => target.startsWith("Fastify"));
  if (own === undefined) return [];
  const rows: string[][] = [];
  const row = (what: string, value: number | null, goal: number | undefined, isLeast: boolean): void => {
    if (goal === undefined || value === null) return;
    const reached = isLeast ? value >= goal : value <= goal;
    rows.push([`${title}: ${what}`, `${value.toFixed(2)}×`, `${isLeast ? "≥" : "≤"} ${goal}×`, reached ? "yes" : "no"]);
  };
  row("throughput of the bare server's", own.rateRatio, goals.rateRatio, true);
  row("server CPU of the bare server's", own.cpuRatio, goals.cpuRatio, false);
  row("throughput of Fastify + Redis", peer === undefined ? null : own.rate / peer.rate, goals.peerRatio, true);
  return rows;
}

function figureRow({ what, value, unit, goal }: Figure): string[] {
  const shown = `${value >= 100 ? Math.round(value) : value.toFixed(2)} ${unit}`.trim();
  if (goal === undefined) return [what, shown, "", ""];
  const isLeast = goal.bound === "least";
  const reached = isLeast ? value >= goal.value : value <= goal.value;
  return [what, shown, `${isLeast ? "≥" : "≤"} ${goal.value} ${unit}`.trim(), reached ? "yes" : "no"];
}

export function inProcessTable(rows: readonly InProcessRow[]): string {
  return rows.length === 0
    ? ""
    : table(
        ["in one process", "what", "µs"],
        rows.map(({ bench, what, micros }) => [bench, what, micros.toFixed(2)]),
      );
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((head, index) => Math.max(head.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  return [line(columns), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}
