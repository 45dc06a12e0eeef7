/** Fills the store with first contacts and measures on the way: does anything cost more once it is full? */
import { execFileSync } from "node:child_process";
import type { LoadJob } from "../load/job.js";
import { median } from "../measure.js";
import { privateBytes } from "../servers/process-usage.js";
import { startVerdictd } from "../servers/servers.js";
import type { BenchContext, Figure, FillPoint, Scenario } from "./scenario.js";

/** Events of a stored session: what the figure for disk is stated for. */
const eventsPerSession = 20;
const firstPoint = 10_000;

export const fillScenario: Scenario = {
  name: "fill",
  title: "fill-up with sessions of 20 events",
  localOnly: true,
  run: async (context) => {
    const fill: FillPoint[] = [];
    let held = 0;
    for (const sessions of steps(context.options.sessions)) {
      const fillRate = await fillTo(context, sessions - held);
      held = sessions;
      fill.push(await measurePoint(context, sessions, fillRate));
      context.say(`  ${sessions} sessions: ${line(fill.at(-1)!)}`);
    }
    return { measured: [], goals: {}, figures: await figuresOf(context, fill), fill };
  },
};

/** 10 000, 20 000, 50 000, 100 000 and so on, up to the last. */
function steps(last: number): number[] {
  const points: number[] = [];
  for (let decade = firstPoint; decade < last; decade *= 10) {
    points.push(...[decade, 2 * decade, 5 * decade].filter((point) => point < last));
  }
  return [...points, last];
}

function line({ fillRate, ingestRate, verdictRate, diskBytes, sessions }: FillPoint): string {
  return `filled at ${Math.round(fillRate)}/s, ingest ${Math.round(ingestRate)}/s, verdict ${Math.round(verdictRate)}/s, ${Math.round(diskBytes / sessions)} B/session`;
}

async function fillTo({ bed, generator, options }: BenchContext, more: number): Promise<number> {
  const [result] = await generator.run({
    ...baseJob,
    url: bed.verdictd.url,
    connections: options.connections,
    traffic: { kind: "ingest", siteKey: bed.keys.siteKey, tokens: null, sizes: [eventsPerSession] },
    statuses: [202],
    contains: `"accepted":${eventsPerSession}`,
    requestsMax: more,
    tokensTo: bed.file("sessions"),
  });
  if (result.errors > 0) throw new Error(`fill: ${result.firstError}`);
  return result.requests / result.seconds;
}

const baseJob = { tool: "raw", pipelining: 1, warmUpMs: 0, durationMs: 0, rate: 0 } as const;

/** Rates over all that is stored, in the stored order: three short runs of each in turn. */
async function measurePoint(context: BenchContext, sessions: number, fillRate: number): Promise<FillPoint> {
  const { bed, generator, options } = context;
  const verdictRates: number[] = [];
  const ingestRates: number[] = [];
  const diskBytes = diskOf(bed.dataDir);
  const common = {
    ...baseJob,
    url: bed.verdictd.url,
    connections: options.connections,
    durationMs: options.durationMs,
  };
  const reader = await startVerdictd(bed.dataDir, ["--verdict-ttl", "0"]);
  const { siteKey, privateKey } = bed.keys;
  try {
    for (let round = 0; round < 3; round++) {
      const from = Math.floor((round / 3) * sessions);
      const tokens = { ...bed.tokens("sessions"), from, count: Math.floor(sessions / 3) };
      const verdict: LoadJob = {
        ...common,
        url: reader.url,
        traffic: { kind: "verdict", privateKey, tokens },
        statuses: [200],
        contains: '"verdict":"',
      };
      const ingest: LoadJob = {
        ...common,
        traffic: { kind: "ingest", siteKey, tokens, sizes: [10] },
        statuses: [202],
        contains: "",
      };
      await generator.run({ ...verdict, durationMs: 300 });
      for (const [job, rates] of [
        [verdict, verdictRates],
        [ingest, ingestRates],
      ] as const) {
        const [{ requests, seconds, errors, firstError }] = await generator.run(job);
        if (errors > 0) throw new Error(`fill: ${firstError}`);
        rates.push(requests / seconds);
      }
    }
  } finally {
    await reader.stop();
  }
  return {
    sessions,
    fillRate,
    verdictRate: median(verdictRates),
    ingestRate: median(ingestRates),
    diskBytes,
    privateBytes: privateBytes(bed.verdictd.pids[0]!),
  };
}

/** Bytes the store takes on the disk; holes do not count. */
function diskOf(folder: string): number {
  return Number.parseInt(execFileSync("du", ["-s", "-B1", folder], { encoding: "utf8" }), 10);
}

async function figuresOf({ bed }: BenchContext, fill: readonly FillPoint[]): Promise<Figure[]> {
  const [first, last] = [fill[0]!, fill.at(-1)!];
  const started = await startVerdictd(bed.dataDir, []);
  await started.stop();
  const figures: Figure[] = [
    least("ingest rate, full against first", last.ingestRate / first.ingestRate, 0.9),
    least("verdict rate, full against first", last.verdictRate / first.verdictRate, 0.9),
    most("disk per session of 20 events", last.diskBytes / last.sessions, "B", 1200),
    most(`start-up with ${last.sessions} sessions`, started.readyMs, "ms", 1000),
  ];
  if (first.privateBytes !== null && last.privateBytes !== null && last.sessions > first.sessions) {
    const grown = Math.max(0, last.privateBytes - first.privateBytes) / (last.sessions - first.sessions);
    figures.push(most("private memory per stored session", grown, "B", 300));
  }
  return figures;
}

function least(what: string, value: number, goal: number): Figure {
  return { what, value, unit: "", goal: { what, value: goal, bound: "least" } };
}

function most(what: string, value: number, unit: string, goal: number): Figure {
  return { what, value, unit, goal: { what, value: goal, bound: "most" } };
}
