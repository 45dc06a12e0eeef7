/**
 * Ingest and verdict reads together at fixed rates: each request is timed from when it was due, so a stalled server is seen stalled
 * (no coordinated omission). At half the capacity, at twice of it, and from a visitor's batch to a verdict that knows of it.
 */
import { batchText, UniqueIds } from "../load/batches.js";
import type { LoadJob, LoadResult } from "../load/job.js";
import { curve, Latencies } from "../load/latencies.js";
import { longRuns, type Measured, median, sampleOf, summary } from "../measure.js";
import { startVerdictd } from "../servers/servers.js";
import { atMost, type BenchContext, type Figure, type Scenario } from "./scenario.js";

const verdictsPerSecond = 2000;
const probes = 100;
const warmUpMs = 300;
/** A run at a fixed rate by one at full speed. */
const runLength = 4;
const capacityRuns = 3;
/** Connections at a fixed rate, as a multiple of those at full speed: waiting for a free one must not hold requests back. */
const openLoopLanes = 4;
/** Connections of the overload, and a queue that they can fill with batches of 2.5 KB. */
const crowd = 2000;
/** Connections of verdict reads then: enough to have 2,000 a second answered 100 ms late. */
const readers = 200;
const smallQueue = ["--queue-mb", "2", "--sample-above-mb", "1"] as const;

export const fixedRateScenarios: readonly Scenario[] = [
  {
    name: "mixed-half-capacity",
    title: "ingest at half its capacity and 2,000 verdicts a second",
    estimateS: runsS,
    run: async (context) => {
      const rate = (await capacity(context)) / 2;
      const [taken, read] = await settled(context, () => together(context, rate));
      const [ingest, verdict] = [atRate("verdictd, ingest", taken), atRate("verdictd, verdict", read)];
      // In a run of its own: the probes are a third process on the machine.
      const [toScoreMs] = await Promise.all([eventToScore(context), together(context, rate)]);
      const measured = [verdict, ingest];
      const figures = [
        atMost("verdict p99 at half of ingest's capacity", p99(verdict), "ms", 5),
        atMost("ingest p99 at half of its capacity", p99(ingest), "ms", 20),
        atMost("first event to score p99 at half of ingest's capacity", toScoreMs, "ms", 100),
        plain("batches a second at half of ingest's capacity", rate, "/s"),
      ];
      return { measured, goals: {}, figures, fill: [] };
    },
  },
  {
    name: "mixed-twice-capacity",
    title: "ingest at twice its capacity and 2,000 verdicts a second",
    estimateS: runsS,
    run: async (context) => {
      const rate = (await capacity(context)) * 2;
      const [taken, read] = await overloaded(context, rate);
      const [ingest, verdict] = [atRate("verdictd, ingest", taken), atRate("verdictd, verdict", read)];
      const measured = [verdict, ingest];
      const figures = [
        atMost("verdict p99 at twice ingest's capacity", p99(verdict), "ms", 50),
        plain("ingest p99 (accepted or shed) at twice its capacity", p99(ingest), "ms"),
        plain(
          "share of batches shed at twice ingest's capacity",
          median(taken.map(({ shed, requests }) => shed / requests)),
          "",
        ),
        plain("batches a second at twice ingest's capacity", rate, "/s"),
      ];
      return { measured, goals: {}, figures, fill: [] };
    },
  },
];

/** Batches a second that ingest takes at most, now: minutes later the machine may have more to give, or less. */
async function capacity(context: BenchContext): Promise<number> {
  const { durationMs } = context.options;
  const rates: number[] = [];
  for (let run = 0; run < capacityRuns; run++) {
    const [{ requests, seconds }] = await context.generator.run({ ...ingestJob(context), durationMs });
    rates.push(requests / seconds);
  }
  return median(rates);
}

function ingestJob({ bed, options }: BenchContext): LoadJob {
  const { siteKey } = bed.keys;
  return {
    url: bed.verdictd.url,
    traffic: { kind: "ingest", siteKey, tokens: bed.tokens("sessions", 20_000), sizes: [10] },
    tool: "raw",
    connections: options.visitors,
    pipelining: 1,
    warmUpMs,
    durationMs: runLength * options.durationMs,
    rate: 0,
    // 204: shed, as it may be under overload.
    statuses: [202, 204],
    contains: "",
  };
}

function verdictJob(context: BenchContext): LoadJob {
  const { bed } = context;
  const tokens = bed.tokens("sessions");
  return {
    ...ingestJob(context),
    traffic: { kind: "verdict", request: bed.requests.verdict, tokens, pages: 1 },
    connections: 16,
    rate: verdictsPerSecond,
    statuses: [200],
    contains: '"verdict":"',
  };
}

/** Of batches and of verdict reads, run by run. */
type Runs = readonly [ingest: readonly LoadResult[], verdict: readonly LoadResult[]];

/** Runs at one rate: a first that is not counted, in which the machine comes to rest from full speed, then the others. */
async function settled({ options }: BenchContext, run: () => Promise<[LoadResult, LoadResult]>): Promise<Runs> {
  await run();
  const [taken, read]: [LoadResult[], LoadResult[]] = [[], []];
  for (let count = 0; count < longRuns(options); count++) {
    const [ingest, verdict] = await run();
    taken.push(ingest);
    read.push(verdict);
  }
  return [taken, read];
}

function runsS(options: BenchContext["options"]): number {
  return ((capacityRuns + runLength * (1 + longRuns(options))) * options.durationMs) / 1000 + 8;
}

function together(context: BenchContext, rate: number): Promise<[LoadResult, LoadResult]> {
  const connections = openLoopLanes * context.options.visitors;
  return context.generator.run({ ...ingestJob(context), connections, rate }, verdictJob(context));
}

/**
 * Twice the capacity from many visitors at once, with a queue that so many can fill: of the bench's own server, since the default one
 * would take tens of thousands of connections.
 */
async function overloaded(context: BenchContext, rate: number): Promise<Runs> {
  const { bed, generator } = context;
  const isOwn = bed.dataDir !== "";
  const server = isOwn ? await startVerdictd(bed.dataDir, smallQueue) : bed.verdictd;
  const { url } = server;
  try {
    const ingest = { ...ingestJob(context), url, connections: crowd, rate };
    const verdict = { ...verdictJob(context), url, connections: readers };
    return await settled(context, () => generator.run(ingest, verdict));
  } finally {
    if (isOwn) await server.stop();
  }
}

/** 99th percentile of the time from a first batch sent to the first verdict that is computed; read again until it is. */
async function eventToScore({ bed }: BenchContext): Promise<number> {
  const ids = new UniqueIds();
  const latencies = new Latencies();
  for (let probe = 0; probe < probes; probe++) {
    const body = batchText(10, probe, true).replaceAll(/"request_id":"0+"/g, () => `"request_id":"${ids.next()}"`);
    const start = performance.now();
    const sent = await fetch(`${bed.verdictd.url}/v1/events`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-site-key": bed.keys.siteKey },
      body,
    });
    const { session_token } = (await sent.json()) as { session_token: string };
    for (let verdict = "not_computed"; verdict === "not_computed"; ) {
      const read = await fetch(`${bed.verdictd.url}/v1/sessions/${session_token}/verdict`, {
        headers: { authorization: `Bearer ${bed.keys.privateKey}` },
      });
      verdict = ((await read.json()) as { verdict: string }).verdict;
      if (performance.now() - start > 10_000) throw new Error("a session was not scored within 10 s");
    }
    latencies.add(performance.now() - start);
  }
  return latencies.at([99])[0]!;
}

function p99(measured: Measured): number {
  return measured.latencyMs[curve.indexOf(99)]!;
}

/** Medians of the runs. The server's CPU is not told apart by what it is spent on. */
function atRate(target: string, runs: readonly LoadResult[]): Measured {
  return summary(
    target,
    runs.map((run) => sampleOf(run, null, null)),
    undefined,
  );
}

function plain(what: string, value: number, unit: string): Figure {
  return { what, value, unit };
}
