/**
 * `npm run bench`: measures verdictd beside a bare uWebSockets.js server and, where Redis is installed, a Fastify peer; prints a table and
 * writes it with JSON and plots to `bench/results/`. Ratios of one run are worth quoting; absolute rates are this machine's.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { Bed } from "./bed.js";
import { inProcessBenches } from "./in-process/benches.js";
import { Generator } from "./load/generator.js";
import { type BenchOptions, readOptions, usage } from "./options.js";
import { describeMachine, type Machine } from "./report/machine.js";
import { plots } from "./report/plots.js";
import { goalTable, type InProcessRow, inProcessTable, loadTable } from "./report/table.js";
import { fillScenario } from "./scenarios/fill.js";
import { fixedRateScenarios } from "./scenarios/fixed-rate.js";
import { raceScenarios } from "./scenarios/pairs.js";
import type { BenchContext, Scenario, ScenarioResult } from "./scenarios/scenario.js";
import { sdkCostScenario } from "./sdk/sdk-cost.js";

/** In this order: the fill-up makes the sessions that the others read, the races the capacity that the fixed rates are shares of. */
const scenarios: readonly Scenario[] = [fillScenario, ...raceScenarios, ...fixedRateScenarios, sdkCostScenario];
/** Sessions that the scenarios need at least, when the fill-up is not run. */
const sessionsMin = 20_000;

async function runScenarios(options: BenchOptions): Promise<ScenarioResult[]> {
  const wanted = scenarios.filter(
    ({ name, localOnly }) => name.startsWith(options.only) && !(localOnly === true && options.remote !== null),
  );
  if (wanted.length === 0) return [];
  const bed = await Bed.open(options);
  const generator = new Generator();
  const context: BenchContext = { bed, generator, options, say: console.error, results: [] };
  try {
    const readsSessions = wanted.some((each) => each.readsSessions !== false);
    if (readsSessions && !wanted.includes(fillScenario)) await storeSessions(context);
    for (const { name, title, run } of wanted) {
      console.error(`${name} …`);
      const result: ScenarioResult = { name, title, ...(await run(context)) };
      context.results.push(result);
      if (result.measured.length > 0) console.error(loadTable([result]));
      for (const { target, firstError } of result.measured)
        if (firstError !== "") console.error(`${target}: ${firstError}`);
    }
    return context.results;
  } finally {
    generator.close();
    await bed.close();
  }
}

async function storeSessions({ bed, generator, options }: BenchContext): Promise<void> {
  const count = options.only.startsWith("verdict-unc") ? options.sessions : sessionsMin;
  console.error(`storing ${count} sessions …`);
  const [{ errors, firstError }] = await generator.run({
    url: bed.verdictd.url,
    traffic: { kind: "ingest", siteKey: bed.keys.siteKey, tokens: null, sizes: [10] },
    tool: "raw",
    connections: options.connections,
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

function runInProcess({ only }: BenchOptions): InProcessRow[] {
  const rows: InProcessRow[] = [];
  for (const [name, bench] of Object.entries(inProcessBenches)) {
    if (!name.startsWith(only)) continue;
    console.error(`${name} …`);
    rows.push(...bench().map(([what, micros]) => ({ bench: name, what, micros })));
  }
  return rows;
}

function write(
  folder: string,
  machine: Machine,
  results: readonly ScenarioResult[],
  rows: readonly InProcessRow[],
): void {
  mkdirSync(folder, { recursive: true });
  const tables = [loadTable(results), goalTable(results), inProcessTable(rows)].filter((text) => text.includes("\n"));
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  const about = [
    `Measured ${machine.at} at commit ${machine.commit} on ${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, ${machine.system},`,
    `Node ${machine.node}, ${packages.join(", ")}. Load average before: ${machine.loadBefore.toFixed(1)}.`,
    "Servers and load generator share the cores: ratios within a row's scenario count, absolute rates do not.",
  ].join("\n");
  const text = `${[about, ...tables].join("\n\n")}\n`;
  console.log(`\n${text}`);
  writeFileSync(join(folder, "results.md"), text);
  writeFileSync(join(folder, "results.json"), `${JSON.stringify({ machine, results, inProcess: rows }, null, 1)}\n`);
  for (const [file, svg] of Object.entries(plots(results))) writeFileSync(join(folder, file), svg);
}

try {
  if (process.argv.includes("--help")) console.log(usage);
  else {
    const options = readOptions(process.argv.slice(2));
    const loadBefore = loadavg()[0]!;
    const results = await runScenarios(options);
    const rows = options.remote === null ? runInProcess(options) : [];
    if (results.length + rows.length === 0) throw new Error(`--only ${options.only}: there is no such scenario`);
    write(options.outDir, describeMachine(loadBefore), results, rows);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
