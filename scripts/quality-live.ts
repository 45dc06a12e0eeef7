/**
 * The live half of the quality report: real tools in real browsers visit a page with the SDK, and the verdicts on their sessions are
 * read through the public API. `node dist/scripts/quality-live.js [--runs N] [--only TEXT,…] [--seed N] [--jobs N] [--captures DIR] [--json FILE]`
 * Exits 1 when a goal was missed, 2 on a wrong flag. Talks to loopback only; everything that it starts, it ends.
 */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { liveCases } from "./live/cases.js";
import { missingProgram } from "./live/chromium.js";
import { openDisplay } from "./live/display.js";
import { type Ground, measureVisit } from "./live/measure.js";
import type { LiveCase, Outcome } from "./live/measurement.js";
import { isAnyMissed, judge, type Row, renderReport } from "./live/report.js";
import { startService } from "./live/service.js";
import { type SiteVisit, startSite } from "./live/site.js";

const defaultRuns = 5;
/** One row in the window and one without at a time. */
const defaultJobs = 2;

interface Flags {
  readonly runs: number;
  readonly seed: number;
  /** Rows made at once: one of those that use the screen, the rest of those without; 1: all in turn. */
  readonly jobs: number;
  /** Cases whose goal, tool and behaviour contain one of these, in any case of letters. */
  readonly only: readonly string[];
  readonly captures: string | null;
  readonly json: string | null;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: String(defaultRuns) },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(defaultJobs) },
      only: { type: "string", default: "" },
      captures: { type: "string" },
      json: { type: "string" },
    },
  });
  const runs = Number(values.runs);
  const seed = Number(values.seed);
  const jobs = Number(values.jobs);
  if (!Number.isInteger(runs) || runs < 1 || runs > 1000) throw new Error("--runs wants a whole number from 1 to 1000");
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 16) throw new Error("--jobs wants a whole number from 1 to 16");
  if (!Number.isInteger(seed)) throw new Error("--seed wants a whole number");
  return {
    runs,
    seed,
    jobs,
    only: values.only.toLowerCase().split(","),
    captures: values.captures ?? null,
    json: values.json ?? null,
  };
}

/** Appends everything that the site saw of a visit to one file a tool, as JSON lines. */
function capture(folder: string, of: LiveCase, visit: SiteVisit, outcome: Outcome): void {
  mkdirSync(folder, { recursive: true });
  const name = of.tool.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  for (const each of visit.batches) {
    const line = { tool: of.tool, behavior: of.behavior, session: visit.token, outcome, ...each };
    appendFileSync(join(folder, `${name}.jsonl`), `${JSON.stringify(line)}\n`);
  }
}

async function measureRow(of: LiveCase, runs: number, ground: Ground): Promise<Row> {
  const missing = of.missing();
  const outcomes: Outcome[] = [];
  const runsHere = missing === null ? Math.min(runs, of.runsMax?.() ?? runs) : 0;
  for (let run = 0; run < runsHere; run++) outcomes.push(await measureVisit(of, run, ground));
  const row = { case: of, missing, outcomes };
  const bands = outcomes.map((each) =>
    "verdict" in each ? `${each.verdict.verdict} ${each.verdict.score}` : "failed",
  );
  console.error(`${judge(row)}: ${of.tool}, ${of.behavior}: ${missing ?? bands.join(", ")}`);
  return row;
}

/** Makes all rows, in the order of the cases. Rows that use the screen are made in turn: they would steal each other's focus. */
async function measureRows(cases: readonly LiveCase[], flags: Flags, ground: Ground): Promise<Row[]> {
  const rows: Row[] = [];
  const numbers = [...cases.keys()];
  const chain = async (queue: number[]) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      rows[next] = await measureRow(cases[next]!, flags.runs, ground);
    }
  };
  if (flags.jobs === 1) await chain(numbers);
  else {
    const onScreen = numbers.filter((each) => cases[each]!.needsDisplay);
    const elsewhere = numbers.filter((each) => !cases[each]!.needsDisplay);
    await Promise.all([chain(onScreen), ...Array.from({ length: flags.jobs - 1 }, () => chain(elsewhere))]);
  }
  return rows;
}

async function main(): Promise<void> {
  const flags = readFlags();
  const cases = liveCases().filter(({ goal, tool, behavior }) => {
    const name = `${goal} ${tool} ${behavior}`.toLowerCase();
    return flags.only.some((part) => name.includes(part));
  });
  if (cases.length === 0) throw new Error("no case matches --only");
  const service = await startService();
  const site = await startSite(service);
  const wantsDisplay = missingProgram("Xvfb") === null && cases.some((each) => each.needsDisplay);
  const display = wantsDisplay ? await openDisplay() : null;
  let rows: Row[] = [];
  try {
    const { captures } = flags;
    const ground: Ground = {
      service,
      site,
      display,
      seed: flags.seed,
      ...(captures !== null && { onVisit: (of, visit, outcome) => capture(captures, of, visit, outcome) }),
    };
    rows = await measureRows(cases, flags, ground);
  } finally {
    await display?.close();
    await site.close();
    await service.stop();
  }
  console.log(`# Live browsers, ${flags.runs} runs a row, seed ${flags.seed}\n\n${renderReport(rows)}`);
  if (flags.json !== null) writeFileSync(flags.json, `${JSON.stringify(rows, null, 1)}\n`);
  if (isAnyMissed(rows)) process.exitCode = 1;
}

// Leaving by `exit` ends what was started, which a signal's own way out would not.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
});
