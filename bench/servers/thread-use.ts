/**
 * What the threads of a verdictd are busy with under a load: processor time a thread as the system counts it, told apart by part of the program
 * with V8's sampling profiler. What a thread uses beyond its JavaScript is uWebSockets.js and the kernel.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface ThreadUse {
  readonly thread: string;
  /** Of a core. */
  readonly cores: number;
  /** Shares of the thread's processor time by part, largest first; together 1. */
  readonly parts: readonly (readonly [part: string, share: number])[];
}

/** What is read of a `.cpuprofile`. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  /** Microseconds of the system's monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Processor time of each thread of a process so far, nanoseconds by thread id. */
function threadTimes(pid: number): Map<number, number> {
  const folder = `/proc/${pid}/task`;
  const times = new Map<number, number>();
  for (const name of readdirSync(folder)) {
    try {
      times.set(Number(name), Number(readFileSync(join(folder, name, "schedstat"), "latin1").split(" ")[0]));
    } catch {
      // A thread that has just ended.
    }
  }
  return times;
}

/** The part of the program that a function is of, by its file. */
export function partOf(functionName: string, url: string): string | null {
  if (functionName === "(idle)" || functionName === "(root)") return null;
  if (functionName === "(garbage collector)") return "garbage collection";
  const own = /\/dist\/((?:src\/[\w-]+)|workers)/.exec(url)?.[1];
  if (own !== undefined) return own;
  const named = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return named ?? "Node.js and native calls";
}

/** Microseconds of JavaScript by part, of the samples from one time to another (microseconds of the monotonic clock). */
export function partTimes(profile: Profile, from: number, to: number): Map<string, number> {
  const parts = new Map(profile.nodes.map(({ id, callFrame }) => [id, partOf(callFrame.functionName, callFrame.url)]));
  const times = new Map<string, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index]!;
    at += delta;
    const part = parts.get(id) ?? null;
    if (part !== null && at >= from && at <= to) times.set(part, (times.get(part) ?? 0) + delta);
  }
  return times;
}

interface Span {
  readonly from: { readonly micros: number; readonly times: ReadonlyMap<number, number> };
  readonly to: { readonly micros: number; readonly times: ReadonlyMap<number, number> };
}

/** Now, for the begin or the end of a span. */
export function moment(pid: number): Span["from"] {
  return { micros: Number(process.hrtime.bigint() / 1000n), times: threadTimes(pid) };
}

/**
 * The threads of the process `pid` in a span, busiest first, from the profiles that it left in `folder` at its end. Threads without a profile
 * (of V8, of libuv, of LMDB) are one.
 */
export function threadUses(folder: string, pid: number, { from, to }: Span): ThreadUse[] {
  const seconds = (to.micros - from.micros) / 1e6;
  const used = [...to.times]
    .map(([id, time]) => ({ id, seconds: (time - (from.times.get(id) ?? 0)) / 1e9 }))
    .sort((a, b) => b.seconds - a.seconds);
  const main = used.find(({ id }) => id === pid)?.seconds ?? 0;
  const others = used.filter(({ id }) => id !== pid).map((each) => each.seconds);
  const profiles = readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile)
    .map((profile) => ({ isScoring: isOfWorker(profile), times: partTimes(profile, from.micros, to.micros) }))
    .sort((a, b) => sum(b.times) - sum(a.times));
  const scoring = profiles.filter(({ isScoring }) => isScoring);
  const http = profiles.find(({ isScoring }) => !isScoring);
  return [
    threadUse("HTTP thread", main, http?.times ?? new Map(), "sockets: uWebSockets.js and kernel", seconds),
    ...scoring.map(({ times }, index) =>
      threadUse(
        scoring.length === 1 ? "scoring thread" : `scoring thread ${index + 1}`,
        others[index] ?? 0,
        times,
        "native code outside of calls",
        seconds,
      ),
    ),
    threadUse(
      "other threads",
      others.slice(scoring.length).reduce((all, each) => all + each, 0),
      new Map(),
      "garbage collection, disk",
      seconds,
    ),
  ].sort((a, b) => b.cores - a.cores);
}

function isOfWorker({ nodes }: Profile): boolean {
  return nodes.some(({ callFrame }) => callFrame.url.endsWith("/workers/scoring.js"));
}

function threadUse(
  thread: string,
  used: number,
  times: ReadonlyMap<string, number>,
  rest: string,
  seconds: number,
): ThreadUse {
  const known = sum(times) / 1e6;
  const all = Math.max(used, known);
  const parts: [string, number][] = [...times].map(([part, micros]) => [part, micros / 1e6 / all]);
  if (all > known) parts.push([rest, (all - known) / all]);
  return { thread, cores: used / seconds, parts: parts.sort((a, b) => b[1] - a[1]) };
}

function sum(times: ReadonlyMap<string, number>): number {
  return [...times.values()].reduce((all, each) => all + each, 0);
}
