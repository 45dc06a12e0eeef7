/**
 * The headline: how many people one core carries, found by raising the load step by step. Each visitor sends batches as recorded, at the SDK's own
 * pace, and views a page every 20 seconds, for which the site's backend asks with the whole context. Requests are timed from when they were due.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { visitorBatchRate } from "../load/crowd.js";
import { arrivalJob, type LoadJob, type LoadResult } from "../load/job.js";
import { curve } from "../load/latencies.js";
import type { TrafficSpec } from "../load/traffic-spec.js";
import { cpuOf, type Measured, sampleOf, summary } from "../measure.js";
import { counterOf, startVerdictd, type Target } from "../servers/servers.js";
import type { BenchContext, Figure, Scenario } from "./scenario.js";

const pageViewEveryS = 20;
/** Bounds of the 99th percentile: a page waits for its verdict; nobody waits for a batch, but a verdict should know of it soon. */
const verdictMsMax = 10;
const batchMsMax = 100;
/** The first step, as a share of what the core takes at full speed, and from one step to the next. */
const firstShare = 0.4;
const stepFactor = 1.15;
/** However little the machine has to give: a load of none would be one without a rate. */
const visitorsMin = 100;
const stepsMax = 10;
/** Visitors with whom the core's full speed is measured. */
const firstVisitors = 5000;
/** A step, in runs at full speed: a tenth of it is not counted. */
const runLength = 6;
/** Connections that batches come from: each visitor has one, and a tenth of them at a time is under way at most. */
const batchLanes = 1024;
const viewLanes = 64;

export const visitorsScenario: Scenario = {
  name: "visitors",
  title: "active visitors on one core, step by step",
  localOnly: true,
  estimateS: ({ durationMs }) => 12 + 6 * (4 + (runLength * durationMs) / 1000),
  run: async (context) => {
    const cores = availableParallelism();
    const isPinned = cores > 1 && canPin();
    if (!isPinned) context.say("  not pinned to one core: there is no taskset, or one core alone");
    const server = await startVerdictd(context.bed.dataDir, []);
    try {
      if (isPinned) {
        pin(server.pids[0]!, "0");
        pin(context.generator.pid, `1-${cores - 1}`);
      }
      return await byLoadSteps(context, server);
    } finally {
      if (isPinned) pin(context.generator.pid, `0-${cores - 1}`);
      await server.stop();
    }
  },
};

interface Step {
  readonly visitors: number;
  readonly verdict: Measured;
  readonly ingest: Measured;
  /** Of the core, and the share of verdicts that came from the cache; null where it can't be known. */
  readonly cores: number | null;
  readonly cachedShare: number;
  readonly isWithin: boolean;
}

async function byLoadSteps(context: BenchContext, server: Target): ReturnType<Scenario["run"]> {
  const full = await fullSpeed(context, server);
  let visitors = Math.max(visitorsMin, Math.round((firstShare * full) / visitorBatchRate()));
  const steps: Step[] = [];
  for (let count = 0; count < stepsMax; count++) {
    const present = Math.max(firstVisitors, ...steps.map((step) => step.visitors));
    const step = await measuredStep(context, server, visitors, present);
    steps.push(step);
    const { verdict, ingest, isWithin } = step;
    context.say(
      `  ${visitors.toLocaleString("en")} visitors: reads p99 ${p99(verdict).toFixed(1)} ms, batches p99 ${p99(ingest).toFixed(1)} ms, ${step.cores?.toFixed(2) ?? "?"} cores${isWithin ? "" : ": over the bounds"}`,
    );
    if (isWithin) visitors = Math.round(visitors * stepFactor);
    // One bad moment of the machine is not the end: the step is tried once more. When none was within the bounds, fewer may be.
    else if (steps.at(-2)?.visitors !== visitors) continue;
    else if (steps.some((each) => each.isWithin)) break;
    else visitors = Math.max(visitorsMin, Math.round(visitors / 2));
  }
  const best = steps.findLast(({ isWithin }) => isWithin);
  const measured = steps.flatMap(({ verdict, ingest }) => [verdict, ingest]);
  return { measured, goals: {}, fill: [], figures: best === undefined ? [] : figuresOf(best) };
}

function figuresOf({ visitors, verdict, ingest, cores, cachedShare }: Step): Figure[] {
  return [
    { what: headlineFigure, value: visitors, unit: "" },
    { what: "batches a second from them", value: ingest.rate, unit: "/s" },
    { what: "page views a second from them", value: verdict.rate, unit: "/s" },
    { what: "verdict p99 then", value: p99(verdict), unit: "ms" },
    { what: "batch p99 then", value: p99(ingest), unit: "ms" },
    { what: "share of their verdicts from the cache", value: cachedShare, unit: "" },
    ...(cores === null ? [] : [{ what: "cores used by them", value: cores, unit: "" }]),
  ];
}

/** What the README leads with. */
export const headlineFigure = `active visitors a core, at a p99 of ${verdictMsMax} ms for verdicts and ${batchMsMax} ms for batches`;

/** Batches a second, as fast as they are answered. */
async function fullSpeed({ generator, bed, options }: BenchContext, server: Target): Promise<number> {
  const spec = visitsOf({ bed }, server, firstVisitors);
  const arrival = arrivalJob(server.url, spec, options.visitors);
  await generator.run(arrival);
  const { requestsMax: _, ...timed } = { ...arrival, traffic: spec, durationMs: 2 * options.durationMs };
  await generator.run(timed);
  const [{ requests, seconds }] = await generator.run(timed);
  return requests / seconds;
}

function visitsOf(
  { bed }: Pick<BenchContext, "bed">,
  { url }: Target,
  visitors: number,
): Extract<TrafficSpec, { kind: "visits" }> {
  return { kind: "visits", crowd: url, visitors, siteKey: bed.keys.siteKey };
}

/** `present`: of the visitors so many have come already. */
async function measuredStep(context: BenchContext, server: Target, visitors: number, present: number): Promise<Step> {
  const { bed, generator, options } = context;
  const spec = visitsOf(context, server, visitors);
  const comers = visitors - present;
  if (comers > 0) await generator.run(arrivalJob(server.url, spec, options.visitors, comers));
  const ingest: LoadJob = {
    url: server.url,
    traffic: spec,
    tool: "raw",
    connections: batchLanes,
    pipelining: 1,
    warmUpMs: (runLength * options.durationMs) / 10,
    durationMs: runLength * options.durationMs,
    rate: visitors * visitorBatchRate(),
    statuses: [202, 204],
    contains: "",
  };
  const verdict: LoadJob = {
    ...ingest,
    traffic: { kind: "page-views", crowd: spec.crowd, request: bed.requests.verdict },
    connections: viewLanes,
    rate: visitors / pageViewEveryS,
    statuses: [200],
    contains: '"verdict":"',
  };
  const before = await verdictsOf(server);
  const cpuBefore = cpuOf(server);
  const start = performance.now();
  const [taken, read] = await generator.run(ingest, verdict);
  const seconds = (performance.now() - start) / 1000;
  const cpuAfter = cpuOf(server);
  const after = await verdictsOf(server);
  const [ofIngest, ofVerdict] = [
    measuredOf(`${visitors.toLocaleString("en")} visitors: batches`, taken),
    measuredOf(`${visitors.toLocaleString("en")} visitors: verdicts`, read),
  ];
  const keptUp = taken.requests >= 0.97 * ingest.rate * taken.seconds;
  return {
    visitors,
    verdict: ofVerdict,
    ingest: ofIngest,
    cores: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / seconds,
    cachedShare: (after.cached - before.cached) / Math.max(1, after.all - before.all),
    isWithin: keptUp && taken.shed === 0 && p99(ofVerdict) <= verdictMsMax && p99(ofIngest) <= batchMsMax,
  };
}

async function verdictsOf(server: Target): Promise<{ readonly all: number; readonly cached: number }> {
  return {
    all: await counterOf(server, "verdictd_verdicts_total"),
    cached: await counterOf(server, "verdictd_verdicts_total", 'source="cached"'),
  };
}

function measuredOf(target: string, result: LoadResult): Measured {
  return summary(target, [sampleOf(result, null, null)], undefined);
}

function p99({ latencyMs }: Measured): number {
  return latencyMs[curve.indexOf(99)]!;
}

function canPin(): boolean {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** All threads of a process. */
function pin(pid: number, cores: string): void {
  execFileSync("taskset", ["-a", "-p", "-c", cores, String(pid)], { stdio: "ignore" });
}
