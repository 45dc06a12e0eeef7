/** A run's report: the JSON that is kept, and what is made of it alone: the tables, the plots, the parts of README and documentation. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ScenarioResult } from "../scenarios/scenario.js";
import { headlineFigure } from "../scenarios/visitors.js";
import type { Machine } from "./machine.js";
import { plots } from "./plots.js";
import { frontTable, goalTable, type InProcessRow, inProcessTable, loadTable, otherTable } from "./table.js";

/** How the run was asked for, and what it took. */
interface RunFacts {
  readonly pairs: number;
  readonly seconds: number;
  readonly sessions: number;
  readonly connections: number;
  readonly visitors: number;
  readonly minutes: number;
}

/** `results.json`. */
export interface Report {
  readonly machine: Machine;
  readonly run: RunFacts;
  readonly results: readonly ScenarioResult[];
  readonly inProcess: readonly InProcessRow[];
}

/** Reads `results.json` of a folder; throws when there is none. */
export function readReport(folder: string): Report {
  return JSON.parse(readFileSync(join(folder, "results.json"), "utf8")) as Report;
}

/** The results that are committed, from the project's root; null without them. */
export function committedReport(): Report | null {
  const folder = fileURLToPath(new URL("../../../bench/results", import.meta.url));
  return existsSync(join(folder, "results.json")) ? readReport(folder) : null;
}

/** Writes `results.json` and what is made of it into a folder. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeReportFiles(folder, report);
}

/** What is made of a report, by file name: `results.md` and the plots. */
export function reportFiles(report: Report): Record<string, string> {
  return { "results.md": `${reportText(report)}\n`, ...plots(report.results) };
}

export function writeReportFiles(folder: string, report: Report): void {
  for (const [name, text] of Object.entries(reportFiles(report))) writeFileSync(join(folder, name), text);
}

/** All tables, with what was measured on. */
export function reportText({ machine, run, results, inProcess }: Report): string {
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  const about = [
    `${measuredOn(machine)}; ${machine.system}, Node ${machine.node}, ${packages.join(", ")}.`,
    `${pairsOf(run)}, verdicts read from ${run.connections} connections, batches sent from ${run.visitors}, up to ${run.sessions.toLocaleString("en")} stored sessions; ${run.minutes} minutes in all, load average before: ${machine.loadBefore.toFixed(1)}.`,
    "Servers and load generator share the cores: the ratios of one scenario are worth quoting, absolute rates are this machine's.",
  ].join("\n");
  const tables = [loadTable(results), goalTable(results), otherTable(results), inProcessTable(inProcess)];
  return [about, ...tables.filter((text) => text !== "")].join("\n\n");
}

/** What the performance page says of a run: where it was measured, the goals, the plots. `folder` is theirs, from the page's place. */
export function performanceText({ machine, run, results }: Report, folder: string): string {
  const pictures = Object.entries(plots(results)).map(([name, svg]) => `![${titleOf(svg)}](${folder}/${name})`);
  const about = [
    `${measuredOn(machine)}, load average before: ${machine.loadBefore.toFixed(1)}.`,
    `${pairsOf(run)}, alternating; servers and load generator share the cores. The bare server is`,
    "uWebSockets.js with constant answers; Fastify + Redis folds and scores as verdictd does. All other measurements:",
    `[results](${folder}/results.md).`,
  ].join("\n");
  return [about, goalTable(results), ...pictures].join("\n\n");
}

/** What the README says of a run: visitors a core, the ratios to the peer, and how long a site waits. */
export function headlineText({ machine, results }: Report): string {
  const visitors = results.flatMap(({ figures }) => figures).find(({ what }) => what === headlineFigure);
  const headline =
    visitors === undefined
      ? []
      : [
          `**${Math.round(visitors.value).toLocaleString("en")} ${headlineFigure}**: each visitor sends what real browsers sent, and views a page every 20 seconds,`,
          "for which a backend asks with the visitor's path, address and user agent. Found by raising the load step by step.",
          "",
        ];
  const about = [
    ...headline,
    `${measuredOn(machine)}. Fastify + Redis is a server`,
    "as one might build it instead, measured in the same run: it folds and scores as verdictd does.",
  ].join("\n");
  return [about, frontTable(results)].join("\n\n");
}

function measuredOn({ at, commit, cores, cpu, memoryGib }: Machine): string {
  return `Measured on ${at.slice(0, 10)} at commit ${commit} on ${cores} cores (${cpu}), ${memoryGib} GiB`;
}

function pairsOf({ pairs, seconds }: RunFacts): string {
  return `Medians of ${pairs} runs of ${seconds} s of each server`;
}

function titleOf(svg: string): string {
  return /aria-label="([^"]*)"/.exec(svg)?.[1] ?? "";
}
