/**
 * The bench of jobs: tools, HTTP clients and people at a shop behind verdictd's middleware, each with a job, under two sets of rules (A: the bands alone, B: as
 * `protect.md` recommends). `node dist/scripts/quality-jobs.js [--only TEXT]… [--rules A,B,watch] [--jobs N] [--seed N] [--json FILE] [--peers]
 * [--build DIST] [--trace] [--record FILE]`. A TEXT is part of "group tool mode job". Talks to loopback only; everything that it starts, it ends.
 * `--tables FILE,…` runs nothing: it prints the tables of what `--json` wrote, of runs made one after another.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Cell, cellsOf, type Ground } from "./jobs/cells.js";
import { type Guarded, type RuleSetName, ruleSets, startGuarded } from "./jobs/guarded.js";
import { jobs } from "./jobs/jobs.js";
import { type JobOutcome, outcomeOf } from "./jobs/outcome.js";
import { type PeerName, peers } from "./jobs/peers.js";
import { Recordings } from "./jobs/people.js";
import { addRecordedVisits, recordedVisit } from "./jobs/recorded-visits.js";
import { type Shop, type ShopVisit, startShop } from "./jobs/shop.js";
import { type JobRow, renderForms, renderJobs, renderTools } from "./jobs/table.js";
import { missingProgram } from "./live/chromium.js";
import { openDisplay } from "./live/display.js";
import { pause } from "./live/pause.js";
import { missingTraces } from "./live/traces.js";

/** Reports are at most a second late, and a busy machine scores them later. */
const lastReportMs = 3000;

/** A shop and what stands before it. */
interface Counter {
  readonly name: string;
  readonly shop: Shop;
  /** Null before a peer. */
  readonly guarded: Guarded | null;
}

function readFlags() {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [""] },
      rules: { type: "string", default: "A,B" },
      jobs: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      json: { type: "string" },
      build: { type: "string" },
      peers: { type: "boolean", default: false },
      trace: { type: "boolean", default: false },
      record: { type: "string" },
      tables: { type: "string" },
    },
  });
  const jobsEach = Number(values.jobs);
  if (!Number.isInteger(jobsEach) || jobsEach < 1 || jobsEach > 7)
    throw new Error("--jobs wants a whole number from 1 to 7");
  const rules = values.rules.split(",").filter((name) => name !== "");
  if (!rules.every((name): name is RuleSetName => Object.hasOwn(ruleSets, name)))
    throw new Error("--rules wants some of A, B, watch");
  const seed = Number(values.seed);
  if (!Number.isInteger(seed)) throw new Error("--seed wants a whole number");
  return { ...values, rules, jobsEach, seed, parts: values.only.map((part) => part.toLowerCase()) };
}

type Flags = ReturnType<typeof readFlags>;

async function runCell(
  cell: Cell,
  { shop, guarded }: Counter,
  ground: Ground,
  { trace: isTraced, record: file }: Flags,
): Promise<JobOutcome> {
  const isPerson = cell.group === "people";
  const visit = shop.open({ tellsPlaces: isPerson || cell.group === "attached" });
  const error = await cell.run(visit, ground).then(
    () => null,
    (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))),
  );
  if (isTraced && error !== null) console.error(`  ${error.message.split("\n")[0]}`);
  if (cell.mode !== "-") await pause(lastReportMs);
  const last = visit.token === null || guarded === null ? null : await guarded.verdict(visit.token);
  const agent = visit.token === null || guarded === null ? null : await guarded.agent(visit.token);
  if (isTraced && guarded !== null) await trace(visit, guarded);
  const outcome = outcomeOf(jobs[cell.job], visit, error, last, isPerson, agent);
  if (file !== undefined && outcome.result === "done") addRecordedVisits(file, [recordedVisit(cell, visit.batches)]);
  return outcome;
}

/** What was known when: each verdict with its moment, and what the session shows in the end. */
async function trace({ judged, token, reports }: ShopVisit, guarded: Guarded): Promise<void> {
  const verdicts = judged.map(({ atMs, request, action, band, score, detectionIds, isAgent }) => ({
    atMs,
    line: `${request}: ${action}, ${band} ${score} [${detectionIds.join(" ")}]${isAgent ? ", an agent" : ""}`,
  }));
  const reported = reports.map(({ atMs, status, types }) => ({ atMs, line: `report ${status}: ${types.join(" ")}` }));
  const all = [...verdicts, ...reported].sort((one, other) => one.atMs - other.atMs);
  for (const { atMs, line } of all) console.error(`  ${atMs} ms ${line}`);
  for (const each of token === null ? [] : await guarded.detections(token)) {
    console.error(`  ${each.slug} ${each.contribution} ${JSON.stringify(each.evidence)}`);
  }
}

function printTables(rows: readonly JobRow[], names: readonly string[]): void {
  const forms = names.flatMap((name) => renderForms(rows, name) ?? []);
  console.log([renderTools(rows, names), ...forms, renderJobs(rows, names)].join("\n\n"));
}

async function main(): Promise<void> {
  const flags = readFlags();
  if (flags.tables !== undefined) {
    const rows = flags.tables.split(",").flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as JobRow[]);
    const ran = new Set(rows.flatMap(({ outcomes }) => Object.keys(outcomes)));
    return printTables(rows, [...ran]);
  }
  const dist = resolve(flags.build ?? resolve(dirname(fileURLToPath(import.meta.url)), ".."));
  const cells = cellsOf(flags.jobsEach).filter(({ group, tool, mode, job }) => {
    const name = `${group} ${tool} ${mode} ${job}`.toLowerCase();
    return flags.parts.some((part) => name.includes(part));
  });
  if (cells.length === 0) throw new Error("no row matches --only");
  const hasPeople = cells.some(({ group }) => group === "people" || group === "attached") && missingTraces() === null;
  const display = missingProgram("Xvfb") === null ? await openDisplay() : null;
  const counters: Counter[] = [];
  const rows: JobRow[] = [];
  try {
    for (const [index, set] of flags.rules.entries()) {
      const guarded = await startGuarded(dist, set);
      counters.push({ name: set, guarded, shop: await startShop(guarded.gate, index) });
    }
    for (const name of flags.peers ? (Object.keys(peers) as PeerName[]) : []) {
      counters.push({ name, guarded: null, shop: await startShop(peers[name](), counters.length) });
    }
    const ground: Ground = { display, recordings: hasPeople ? new Recordings() : null, seed: flags.seed };
    for (const cell of cells) rows.push(await measureRow(cell, counters, ground, flags));
  } finally {
    await display?.close();
    for (const { shop, guarded } of counters) {
      await shop.close();
      await guarded?.stop();
    }
  }
  const names = counters.map(({ name }) => name);
  printTables(rows, names);
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(rows, null, 1)}\n`);
}

/** A row of tools is run before every counter; of people not before A, whose rules B contains. */
async function measureRow(cell: Cell, counters: readonly Counter[], ground: Ground, flags: Flags): Promise<JobRow> {
  const missing = cell.missing();
  const outcomes: Record<string, JobOutcome> = {};
  const hasB = counters.some(({ name }) => name === "B");
  const before = cell.group === "people" && hasB ? counters.filter(({ name }) => name !== "A") : counters;
  for (const counter of missing === null ? before : []) {
    const startedAt = performance.now();
    const outcome = await runCell(cell, counter, ground, flags);
    outcomes[counter.name] = outcome;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { result, band, score, stop, failure, requests, passes, agent } = outcome;
    console.error(
      `${cell.group}, ${cell.tool}, ${cell.mode}, ${cell.job}, ${counter.name}: ${result} ${failure ?? ""} ${band} ${score} ` +
        `[${outcome.detectionIds.join(" ")}] ${requests} requests, ${passes} passes, ${JSON.stringify(stop)}, agent ${JSON.stringify(agent)} ${seconds} s`,
    );
  }
  return { cell, missing, outcomes };
}

// Leaving by `exit` ends what was started, which a signal's own way out would not.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exit(2);
    },
  );
}
