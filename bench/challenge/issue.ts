/**
 * Challenges asked for without end, as anybody with the site key can: at full speed beside the bare server, and 10,000 a second with what that
 * costs in processor time, memory and the verdicts that are read meanwhile.
 */
import { limits } from "../../src/limits.js";
import { batchText, UniqueIds } from "../load/batches.js";
import type { LoadJob } from "../load/job.js";
import { curve } from "../load/latencies.js";
import { cpuOf, longRuns, measurePairs, median, type Sample, sampleOf, summary } from "../measure.js";
import type { BenchContext, Scenario, ScenarioResult } from "../scenarios/scenario.js";
import { privateBytes } from "../servers/process-usage.js";
import { startBare, type Target } from "../servers/servers.js";

const askedPerSecond = 10_000;
const verdictsPerSecond = 1000;
/** A run at that rate by one at full speed. */
const runLength = 4;
const warmUpMs = 400;
const lookEveryMs = 100;
const MIB = 1024 ** 2;

export const challengeIssueScenario: Scenario = {
  name: "challenge-issue",
  title: "challenges asked for",
  isExtra: true,
  localOnly: true,
  estimateS: (options) =>
    (2 * options.pairs * (options.durationMs + warmUpMs) + (longRuns(options) + 1) * runLength * options.durationMs) /
      1000 +
    8,
  run,
};

async function run(context: BenchContext): Promise<Omit<ScenarioResult, "name" | "title">> {
  const { bed, generator, options } = context;
  const disable = await bed.enableChallenge();
  const bare = await startBare({ verdict: "", ingest: "", challenge: await sampledChallenge(context) });
  try {
    const jobFor = (target: Target): LoadJob => challengeJob(context, target);
    for (const target of [bed.verdictd, bare]) {
      const [checked] = await generator.run({ ...jobFor(target), warmUpMs: 0, requestsMax: 256 });
      if (checked.errors > 0) throw new Error(`challenge-issue: ${target.name}: ${checked.firstError}`);
    }
    const measured = await measurePairs(generator, [bed.verdictd, bare], jobFor, options.pairs);
    return { measured, goals: {}, figures: await flooded(context), fill: [] };
  } finally {
    await bare.stop();
    await disable?.();
  }
}

function challengeJob({ bed, options }: BenchContext, target: Target): LoadJob {
  return {
    url: target.url,
    traffic: { kind: "challenge", siteKey: bed.keys.siteKey, tokens: bed.tokens("sessions", 20_000) },
    tool: "raw",
    // More at once are refused, and a refusal is no challenge. Who asks without a rule's challenge has half of the places, one network a quarter of
    // these, and those who were asking when the run before ended still have theirs.
    connections: Math.min(options.visitors, limits.challengesMadeAtOnceMax / 16),
    pipelining: 1,
    warmUpMs,
    durationMs: options.durationMs,
    rate: 0,
    statuses: [200],
    contains: '"keySignature":"',
  };
}

/** What verdictd answers, for the bare server to answer the same. */
async function sampledChallenge({ bed }: BenchContext): Promise<string> {
  const ids = new UniqueIds();
  const post = async (path: string, body: string): Promise<string> => {
    const answer = await fetch(bed.verdictd.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-site-key": bed.keys.siteKey },
      body,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return text;
  };
  const batch = batchText(10, 1, true).replaceAll(/"request_id":"0+"/g, () => `"request_id":"${ids.next()}"`);
  const { session_token } = JSON.parse(await post("/v1/events", batch)) as { session_token: string };
  return post("/v1/challenges", JSON.stringify({ session_token }));
}

/** At the fixed rate: what cannot be made is refused with 503, and counts apart. */
async function flooded(context: BenchContext): Promise<ScenarioResult["figures"]> {
  const { bed, generator, options, say } = context;
  const pid = bed.verdictd.pids[0]!;
  const flood: LoadJob = {
    ...challengeJob(context, bed.verdictd),
    durationMs: runLength * options.durationMs,
    // Waiting for a free connection must not hold requests back.
    connections: 4 * options.visitors,
    rate: askedPerSecond,
    statuses: [200, 503],
    contains: "",
  };
  const verdicts: LoadJob = {
    ...flood,
    traffic: { kind: "verdict", request: bed.requests.verdict, tokens: bed.tokens("sessions"), pages: 1 },
    connections: options.connections,
    rate: verdictsPerSecond,
    statuses: [200],
  };
  // One that is not counted: the heap grows to what it needs under load.
  await generator.run(flood, verdicts);
  const samples: Sample[] = [];
  const reads: Sample[] = [];
  const refused: number[] = [];
  const growth: number[] = [];
  for (let run = 0; run < longRuns(options); run++) {
    const before = privateBytes(pid) ?? Number.NaN;
    let most = before;
    const look = setInterval(() => {
      most = Math.max(most, privateBytes(pid) ?? Number.NaN);
    }, lookEveryMs);
    const cpu = cpuOf(bed.verdictd);
    const [asked, read] = await generator.run(flood, verdicts);
    clearInterval(look);
    if (asked.errors + read.errors > 0) throw new Error(`challenge-issue: ${asked.firstError}${read.firstError}`);
    samples.push(sampleOf(asked, cpu, cpuOf(bed.verdictd)));
    reads.push(sampleOf(read, null, null));
    refused.push(asked.shed / asked.requests);
    growth.push((most - before) / MIB);
    say(
      `  ${Math.round(asked.requests / asked.seconds)} answered a second, ${asked.shed} of ${asked.requests} refused`,
    );
  }
  const asked = summary("verdictd", samples, undefined);
  const read = summary("verdictd", reads, undefined);
  const p99 = (latencies: readonly number[]): number => latencies[curve.indexOf(99)]!;
  const of = `while ${askedPerSecond.toLocaleString("en")} challenges a second are asked for`;
  return [
    { what: `requests answered, ${of}`, value: asked.rate, unit: "/s" },
    { what: `share refused with 503, ${of}`, value: median(refused), unit: "" },
    { what: `server cores, ${of} and 1,000 verdicts`, value: asked.serverCores ?? Number.NaN, unit: "" },
    { what: `memory that verdictd takes besides, ${of}`, value: median(growth), unit: "MiB" },
    { what: `challenge p99, ${of}`, value: p99(asked.latencyMs), unit: "ms" },
    { what: `verdict p99, ${of}`, value: p99(read.latencyMs), unit: "ms" },
  ];
}
