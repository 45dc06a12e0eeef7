/** What limits: under each load at full speed, which thread is busy, and with which part of the program. */
import { mkdirSync } from "node:fs";
import { arrivalJob, type LoadJob, withoutArrival } from "../load/job.js";
import { settleMs } from "../measure.js";
import { startVerdictd, type Target } from "../servers/servers.js";
import { moment, type ThreadUse, threadUses } from "../servers/thread-use.js";
import type { BenchContext, Figure, Scenario } from "./scenario.js";

const visitors = 20_000;
const cachedSessions = 1000;
/** A run, in runs at full speed. */
const runLength = 4;
/** Parts of a thread that are named. */
const namedParts = 6;

/** The loads by name; each on a server of its own, with these flags. */
const loads: readonly {
  readonly name: string;
  readonly flags: readonly string[];
  readonly job: (context: BenchContext, server: Target) => LoadJob;
}[] = [
  { name: "cached reads", flags: [], job: (context, server) => readJob(context, server, cachedSessions) },
  { name: "computed reads", flags: ["--verdict-ttl", "0"], job: (context, server) => readJob(context, server) },
  {
    name: "visits",
    flags: [],
    job: ({ bed, options }, { url }) =>
      arrivalJob(url, { kind: "visits", crowd: url, visitors, siteKey: bed.keys.siteKey }, options.visitors),
  },
];

export const limitsScenario: Scenario = {
  name: "limits",
  title: "what limits",
  localOnly: true,
  estimateS: ({ durationMs }) => (loads.length * (2 * settleMs + runLength * durationMs + 3000)) / 1000 + 5,
  run: async (context) => {
    const figures: Figure[] = [];
    for (const { name, flags, job } of loads) {
      const uses = await profiled(context, flags, (server) => job(context, server));
      const [limit] = uses;
      if (limit !== undefined) context.say(`  ${name}: ${sentenceOf(limit)}`);
      figures.push(...uses.flatMap((use) => figuresOf(name, use)));
    }
    return { measured: [], goals: {}, fill: [], figures };
  },
};

function readJob({ bed, options }: BenchContext, { url }: Target, most?: number): LoadJob {
  return {
    url,
    traffic: { kind: "verdict", request: bed.requests.verdict, tokens: bed.tokens("sessions", most), pages: 1 },
    tool: "raw",
    connections: options.connections,
    pipelining: 1,
    warmUpMs: 0,
    durationMs: 0,
    rate: 0,
    statuses: [200],
    contains: '"verdict":"',
  };
}

async function profiled(
  { bed, generator, options }: BenchContext,
  flags: readonly string[],
  jobOf: (server: Target) => LoadJob,
): Promise<ThreadUse[]> {
  const folder = bed.file(`profiles-${profiles++}`);
  mkdirSync(folder);
  const server = await startVerdictd(bed.dataDir, flags, folder);
  const pid = server.pids[0]!;
  const { requestsMax, ...job } = jobOf(server);
  let span: Parameters<typeof threadUses>[2];
  try {
    if (requestsMax !== undefined) await generator.run({ ...job, requestsMax });
    const traffic = job.traffic.kind === "visits" ? withoutArrival(job.traffic) : job.traffic;
    await generator.run({ ...job, traffic, durationMs: settleMs });
    const from = moment(pid);
    const [{ errors, firstError }] = await generator.run({
      ...job,
      traffic,
      durationMs: runLength * options.durationMs,
    });
    if (errors > 0) throw new Error(`limits: ${firstError}`);
    span = { from, to: moment(pid) };
  } finally {
    await server.stop();
  }
  return threadUses(folder, pid, span);
}

let profiles = 0;

function sentenceOf({ thread, cores, parts }: ThreadUse): string {
  const named = parts.slice(0, namedParts).map(([part, share]) => `${part} ${Math.round(100 * share)} %`);
  return `the ${thread} limits, ${cores.toFixed(2)} of a core: ${named.join(", ")}`;
}

function figuresOf(load: string, { thread, cores, parts }: ThreadUse): Figure[] {
  const named = cores < 0.05 ? [] : parts.slice(0, namedParts);
  return [
    { what: `${load}: cores that the ${thread} used`, value: cores, unit: "" },
    ...named.map(([part, share]) => ({ what: `${load}: of the ${thread} ${part}`, value: 100 * share, unit: "%" })),
  ];
}
