/**
 * `npm run bench`: measures verdictd beside a bare uWebSockets.js server and, where Redis is installed, a Fastify peer; prints tables and
 * writes them with JSON and plots to `bench/results/`. Ratios of one run are worth quoting; absolute rates are this machine's.
 */
import { loadavg } from "node:os";
import { createInterface } from "node:readline/promises";
import { tuneGarbageCollection } from "../src/runtime/garbage-collection.js";
import { Bed } from "./bed.js";
import { challengeIssueScenario } from "./challenge/issue.js";
import { challengePassScenario } from "./challenge/page-pass.js";
import { inProcessBenches } from "./in-process/benches.js";
import { Generator } from "./load/generator.js";
import { type BenchOptions, readOptions, usage } from "./options.js";
import { describeMachine } from "./report/machine.js";
import { committedReport, type Report, reportText, writeReport } from "./report/report.js";
import { comparisonTable, type InProcessRow, loadTable } from "./report/table.js";
import { clusterScenario } from "./scenarios/cluster.js";
import { fillScenario } from "./scenarios/fill.js";
import { fixedRateScenarios } from "./scenarios/fixed-rate.js";
import { generatorCheckScenario } from "./scenarios/generator-check.js";
import { limitsScenario } from "./scenarios/limits.js";
import { raceScenarios } from "./scenarios/pairs.js";
import type { BenchContext, Scenario, ScenarioResult } from "./scenarios/scenario.js";
import { visitorsScenario } from "./scenarios/visitors.js";
import { sdkCostScenario } from "./sdk/sdk-cost.js";

/** In this order: the fill-up makes the sessions that the others read, the races the capacity that the fixed rates are shares of. */
const scenarios: readonly Scenario[] = [
  fillScenario,
  visitorsScenario,
  ...raceScenarios,
  ...fixedRateScenarios,
  limitsScenario,
  generatorCheckScenario,
  clusterScenario,
  sdkCostScenario,
  challengeIssueScenario,
  challengePassScenario,
];
/** Sessions that the scenarios need at least, when the fill-up is not run. */
const sessionsMin = 20_000;

async function runScenarios(options: BenchOptions, wanted: readonly Scenario[]): Promise<ScenarioResult[]> {
  if (wanted.length === 0) return [];
  const bed = await Bed.open(options);
  const generator = new Generator();
  const context: BenchContext = { bed, generator, options, say: console.error, results: [] };
  try {
    const readsSessions = wanted.some((each) => each.readsSessions !== false);
    if (readsSessions && !wanted.includes(fillScenario)) {
      const isUncached = wanted.some(({ name }) => name === "verdict-uncached");
      await storeSessions(context, isUncached ? options.sessions : sessionsMin);
    }
    for (const scenario of wanted) {
      console.error(`${scenario.name} …`);
      // One that fails does not cost the others, but the run has failed.
      await runScenario(scenario, context).catch((error: unknown) => {
        console.error(`${scenario.name} failed: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      });
    }
    return context.results;
  } finally {
    generator.close();
    await bed.close();
  }
}

async function runScenario({ name, title, run }: Scenario, context: BenchContext): Promise<void> {
  const result: ScenarioResult = { name, title, ...(await run(context)) };
  context.results.push(result);
  if (result.measured.length > 0) console.error(loadTable([result]));
  for (const { target, firstError } of result.measured) {
    if (firstError !== "") console.error(`${target}: ${firstError}`);
  }
}

function wantedScenarios({ only, full, remote }: BenchOptions): Scenario[] {
  return scenarios.filter(
    ({ name, isExtra, localOnly }) =>
      name.startsWith(only) && (full || only !== "" || isExtra !== true) && !(localOnly === true && remote !== null),
  );
}

async function storeSessions({ bed, generator, options }: BenchContext, count: number): Promise<void> {
  console.error(`storing ${count} sessions …`);
  const [{ errors, firstError }] = await generator.run({
    url: bed.verdictd.url,
    traffic: { kind: "ingest", siteKey: bed.keys.siteKey, tokens: null, sizes: [10] },
    tool: "raw",
    connections: options.visitors,
    pipelining: 1,
    warmUpMs: 0,
    durationMs: 0,
    rate: 0,
    statuses: [202],
    contains: '"accepted":10',
    tokensTo: bed.file("sessions"),
    requestsMax: count,
  });
  if (errors > 0) throw new Error(`sessions could not be stored: ${firstError}`);
}

async function runInProcess({ only }: BenchOptions): Promise<InProcessRow[]> {
  const rows: InProcessRow[] = [];
  for (const [name, bench] of Object.entries(inProcessBenches)) {
    if (!name.startsWith(only)) continue;
    console.error(`${name} …`);
    rows.push(...(await bench()).map(([what, micros]) => ({ bench: name, what, micros })));
  }
  return rows;
}

/** For the in-process benches, and what starts and stops. */
const otherS = 40;

/** Asks on the terminal before a deployment is put under load; throws unless the answer is yes. */
async function confirmRemote(
  { remote, sessions, visitors, yes }: BenchOptions,
  wanted: readonly Scenario[],
): Promise<void> {
  if (remote === null || yes) return;
  console.error(
    `This puts ${remote.url} under full load from up to ${visitors} connections, with ${wanted.length} scenarios. It stores about ${sessions} ` +
      "made-up sessions in the project of these keys; they count against its quota and stay until they expire.",
  );
  if (!process.stdin.isTTY) throw new Error("--url: nobody to ask; --yes goes on without asking");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Type yes to go on: ");
  terminal.close();
  if (answer.trim().toLowerCase() !== "yes") throw new Error("nothing was sent");
}

async function main(options: BenchOptions): Promise<void> {
  // As `serve` does.
  tuneGarbageCollection();
  const start = performance.now();
  const loadBefore = loadavg()[0]!;
  const wanted = wantedScenarios(options);
  await confirmRemote(options, wanted);
  const estimateS = otherS + wanted.reduce((sum, { estimateS }) => sum + estimateS(options), 0);
  console.error(`about ${Math.ceil(estimateS / 60)} minutes on two free cores`);
  const results = await runScenarios(options, wanted);
  const inProcess = options.remote === null ? await runInProcess(options) : [];
  if (results.length + inProcess.length === 0) throw new Error(`--only ${options.only}: there is no such scenario`);
  const { pairs, durationMs, sessions, connections, visitors } = options;
  const minutes = Math.round((performance.now() - start) / 60_000);
  const run = { pairs, seconds: durationMs / 1000, sessions, connections, visitors, minutes };
  const report: Report = { machine: describeMachine(loadBefore), run, results, inProcess };
  console.log(`\n${reportText(report)}`);
  const last = committedReport();
  const comparison = last === null ? "" : comparisonTable(last.results, results);
  if (comparison !== "")
    console.log(`\nBeside the committed results of ${last!.machine.at.slice(0, 10)}:\n\n${comparison}`);
  if (options.outDir === null) return;
  if (process.exitCode === 1) throw new Error("not written: a scenario failed");
  writeReport(options.outDir, report);
  console.error(`written to ${options.outDir}; node dist/scripts/bench-docs.js puts it into the documentation`);
}

// Servers and folders are cleared away at the exit, which a signal alone would not come to.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  if (process.argv.includes("--help")) console.log(usage);
  else await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
