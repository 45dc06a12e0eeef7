/** The plots the README shows: latency percentiles by server, throughput over stored sessions. */
import { curve } from "../load/latencies.js";
import type { ScenarioResult } from "../scenarios/scenario.js";
import { type Line, linearTicks, logTicks, plot } from "./svg-plot.js";

/** SVG texts by file name; those without data are left out. */
export function plots(results: readonly ScenarioResult[]): Record<string, string> {
  const files: Record<string, string> = {};
  const latency = (file: string, title: string, lines: readonly Line[]): void => {
    if (lines.length > 0) files[file] = latencyPlot(title, lines);
  };
  latency("latency-verdict.svg", "Latency of a verdict read, full speed", linesOf(results, "verdict-cached"));
  latency(
    "latency-ingest.svg",
    "Latency of an ingest batch of 10 events, full speed",
    linesOf(results, "ingest-known"),
  );
  latency(
    "latency-mixed.svg",
    "Latency at a fixed rate: ingest at half its capacity, 2,000 verdicts a second",
    linesOf(results, "mixed-half-capacity"),
  );
  const fill = results.find(({ name }) => name === "fill")?.fill ?? [];
  if (fill.length > 0) {
    const lines: Line[] = [
      { name: "verdict, uncached", points: fill.map((point) => [point.sessions, point.verdictRate]) },
      { name: "ingest, known sessions", points: fill.map((point) => [point.sessions, point.ingestRate]) },
      { name: "first contacts (fill-up)", points: fill.map((point) => [point.sessions, point.fillRate]), dashed: true },
    ];
    const values = lines.flatMap(({ points }) => points.map(([, y]) => y));
    files["stored-sessions.svg"] = plot(
      "Requests a second over stored sessions",
      {
        label: "stored sessions",
        isLog: true,
        ticks: logTicks(
          fill.map(({ sessions }) => sessions),
          thousands,
        ),
      },
      { label: "requests a second", isLog: false, ticks: linearTicks(values, thousands) },
      lines,
    );
  }
  return files;
}

function linesOf(results: readonly ScenarioResult[], name: string): Line[] {
  const measured = results.find((result) => result.name === name)?.measured ?? [];
  return measured.map(({ target, latencyMs }) => ({
    name: target,
    points: curve.map((percent, index) => [100 / (100 - percent), latencyMs[index]!] as const),
  }));
}

/** By 1 / (1 - percentile), logarithmic: the tail is what people wait for. */
function latencyPlot(title: string, lines: readonly Line[]): string {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const marks = [50, 90, 99, 99.9, 99.99];
  const ticks = marks.map((percent) => ({ at: 100 / (100 - percent), text: `p${percent}` }));
  return plot(
    title,
    { label: "percentile", isLog: true, ticks },
    { label: "milliseconds", isLog: true, ticks: logTicks(values, (value) => String(Number(value.toPrecision(3)))) },
    lines,
  );
}

function thousands(value: number): string {
  return value >= 1_000_000 ? `${value / 1_000_000}M` : value >= 1000 ? `${value / 1000}k` : String(value);
}
