/** One run of one server, and interleaved pairs of runs: A B A B, so that a noisy minute hits both alike. */
import type { Generator } from "./load/generator.js";
import type { LoadJob, LoadResult } from "./load/job.js";
import { curve } from "./load/latencies.js";
import type { BenchOptions } from "./options.js";
import { cpuSeconds } from "./servers/process-usage.js";
import type { Target } from "./servers/servers.js";

/** Figures of one run, or medians of several. */
export interface Sample {
  /** Requests a second. */
  readonly rate: number;
  readonly errors: number;
  readonly firstError: string;
  /** At the percentiles of `curve`. */
  readonly latencyMs: readonly number[];
  /** Server CPU a request, all threads, user and system; null where it can't be known. */
  readonly cpuMicros: number | null;
  /** Share of a core the server used. */
  readonly serverCores: number | null;
  readonly generatorMicros: number;
}

/** A server's medians in a scenario, and its ratios to the baseline: the median of the pairs' ratios, not the ratio of medians. */
export interface Measured extends Sample {
  readonly target: string;
  readonly runs: number;
  readonly rateRatio: number | null;
  readonly cpuRatio: number | null;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The job without its address: the same traffic goes to each server. */
type JobFor = (target: Target) => LoadJob;

/** Warms up, then measures: CPU and requests of the very same time. */
async function runOnce(generator: Generator, target: Target, job: LoadJob): Promise<Sample> {
  await generator.run({ ...job, durationMs: job.warmUpMs, warmUpMs: 0 });
  const before = cpuOf(target);
  const [result] = await generator.run({ ...job, warmUpMs: 0 });
  return sampleOf(result, before, cpuOf(target));
}

export function cpuOf(target: Target): number | null {
  return target.pids.length === 0 ? null : cpuSeconds(target.pids);
}

export function sampleOf(result: LoadResult, cpuBefore: number | null, cpuAfter: number | null): Sample {
  const { requests, seconds, errors, firstError, latencyMs, generatorCpuSeconds } = result;
  const used = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore;
  return {
    rate: requests / seconds,
    errors,
    firstError,
    latencyMs,
    cpuMicros: used === null ? null : (used * 1e6) / requests,
    serverCores: used === null ? null : used / seconds,
    generatorMicros: (generatorCpuSeconds * 1e6) / requests,
  };
}

/** How often what takes longer than a pair is run. */
export function longRuns({ pairs }: BenchOptions): number {
  return Math.ceil(pairs / 2);
}

/** A first run of each target that is not counted: compilers and caches come to rest. */
export const settleMs = 1500;

/** Measures the targets in turn, `pairs` times. The ratios are to the target named `bare`. */
export async function measurePairs(
  generator: Generator,
  targets: readonly Target[],
  jobFor: JobFor,
  pairs: number,
): Promise<Measured[]> {
  const samples = new Map<string, Sample[]>(targets.map(({ name }) => [name, []]));
  for (const target of targets) await generator.run({ ...jobFor(target), durationMs: settleMs, warmUpMs: 0 });
  for (let pair = 0; pair < pairs; pair++) {
    // The order turns round each time: what one run leaves behind (dirty pages, heat) must not always hit the same one.
    for (const target of pair % 2 === 0 ? targets : [...targets].reverse()) {
      samples.get(target.name)!.push(await runOnce(generator, target, jobFor(target)));
    }
  }
  return targets.map(({ name }) => summary(name, samples.get(name)!, samples.get("bare")));
}

/** Medians of a target's samples, and of their ratios to those of a baseline, run by run; without one there are none. */
export function summary(target: string, samples: readonly Sample[], baseline: readonly Sample[] | undefined): Measured {
  const isBaseline = baseline === undefined || baseline === samples;
  const ratios = (value: (sample: Sample) => number | null): number | null => {
    if (isBaseline) return null;
    const each = samples.map((sample, index) => {
      const [own, other] = [value(sample), value(baseline[index]!)];
      return own === null || other === null || other === 0 ? null : own / other;
    });
    return medianOf(each);
  };
  return {
    target,
    runs: samples.length,
    rate: median(samples.map(({ rate }) => rate)),
    errors: samples.reduce((sum, { errors }) => sum + errors, 0),
    firstError: samples.find(({ firstError }) => firstError !== "")?.firstError ?? "",
    latencyMs: curve.map((_, index) => median(samples.map(({ latencyMs }) => latencyMs[index]!))),
    cpuMicros: medianOf(samples.map(({ cpuMicros }) => cpuMicros)),
    serverCores: medianOf(samples.map(({ serverCores }) => serverCores)),
    generatorMicros: median(samples.map(({ generatorMicros }) => generatorMicros)),
    rateRatio: ratios(({ rate }) => rate),
    cpuRatio: ratios(({ cpuMicros }) => cpuMicros),
  };
}

function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}
