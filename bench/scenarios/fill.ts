/** Fills the store with first contacts and measures on the way: does anything cost more once it is full? */
import { execFileSync } from "node:child_process";
import type { LoadJob } from "../load/job.js";
import type { TokensSpec } from "../load/tokens.js";
import type { TrafficSpec } from "../load/traffic-spec.js";
import { median, settleMs } from "../measure.js";
import type { BenchOptions } from "../options.js";
import { Progress } from "../report/progress.js";
import { privateBytes } from "../servers/process-usage.js";
import { runCommand, startVerdictd, type Target } from "../servers/servers.js";
import { diskBytesOfNew, privateBytesMax } from "./footprint.js";
import { atLeast, atMost, type BenchContext, type Figure, type FillPoint, type Scenario } from "./scenario.js";

/** Events of a stored session, all in one batch: what the figure for disk is stated for. */
const eventsPerSession = 20;
const firstPoint = 10_000;
/** More connections make larger transactions. */
const fillConnections = 256;
/** Sessions between two steps of the progress bar. */
const fillStep = 10_000;
/** Short runs of each rate at a point. */
const rounds = 6;
/** Starts of a server on the full store, of which the median counts. */
const starts = 3;
/** Sessions from one batch to the next: four are on a page, and a task has some 100 batches. */
const stride = 100;
/** For the estimate alone: first contacts a second on two cores. */
const usualFillRate = 4500;

export const fillScenario: Scenario = {
  name: "fill",
  title: "fill-up with sessions of 20 events",
  localOnly: true,
  estimateS: (options) => {
    const { sessions, durationMs, pairs } = options;
    const points = steps(options).length;
    return sessions / usualFillRate + (points * rounds + 2 * pairs) * (2 * durationMs) * 0.001 + points * 3 + 10;
  },
  run: async (context) => {
    const fill: FillPoint[] = [];
    const beforeBytes = privateBytes(context.bed.verdictd.pids[0]!);
    const firstFolder = context.bed.file("first-point");
    let held = 0;
    for (const sessions of steps(context.options)) {
      const before = held === 0 ? 0 : diskOf(context.bed.dataDir);
      const fillRate = await fillTo(context, held, sessions);
      const newSessionBytes = (diskOf(context.bed.dataDir) - before) / (sessions - held);
      if (held === 0) runCommand(context.bed.dataDir, "backup", firstFolder);
      held = sessions;
      fill.push(await measurePoint(context, sessions, fillRate, newSessionBytes));
      context.say(`  ${sessions.toLocaleString("en")} sessions: ${line(fill.at(-1)!)}`);
    }
    const ratios = await fullAgainstFirst(context, firstFolder);
    return { measured: [], goals: {}, figures: await figuresOf(context, fill, beforeBytes, ratios), fill };
  },
};

/** 10 000, 20 000, 50 000, 100 000 and so on, or the powers of ten alone where it is to be quick; and the last. */
function steps({ sessions, full }: BenchOptions): number[] {
  const points: number[] = [];
  for (let decade = firstPoint; decade < sessions; decade *= 10) {
    points.push(...(full ? [decade, 2 * decade, 5 * decade] : [decade]).filter((point) => point < sessions));
  }
  return [...points, sessions];
}

function line({
  fillRate,
  ingestRate,
  verdictRate,
  diskBytes,
  newSessionBytes,
  sessions,
  privateBytes: own,
}: FillPoint): string {
  const memory = own === null ? "" : `, ${mib(own).toFixed(0)} MiB private`;
  return `filled at ${Math.round(fillRate)}/s, ingest ${Math.round(ingestRate)}/s, verdict ${Math.round(verdictRate)}/s, ${Math.round(diskBytes / sessions)} B/session on disk, ${Math.round(newSessionBytes)} B a new one${memory}`;
}

/** Stores first contacts until there are `to`; returns how many a second. */
async function fillTo({ bed, generator }: BenchContext, from: number, to: number): Promise<number> {
  const progress = new Progress("sessions", to);
  let seconds = 0;
  let held = from;
  while (held < to) {
    const [result] = await generator.run({
      ...baseJob,
      url: bed.verdictd.url,
      connections: fillConnections,
      traffic: { kind: "ingest", siteKey: bed.keys.siteKey, tokens: null, sizes: [eventsPerSession] },
      statuses: [202],
      contains: `"accepted":${eventsPerSession}`,
      requestsMax: Math.min(fillStep, to - held),
      tokensTo: bed.file("sessions"),
    });
    if (result.errors > 0) throw new Error(`fill: ${result.firstError}`);
    seconds += result.seconds;
    held += result.requests;
    progress.show(held);
  }
  return (to - from) / seconds;
}

const baseJob = { tool: "raw", pipelining: 1, warmUpMs: 0, durationMs: 0, rate: 0 } as const;

/** Rates over all that is stored, in the stored order: a few short runs of each in turn. */
async function measurePoint(
  context: BenchContext,
  sessions: number,
  fillRate: number,
  newSessionBytes: number,
): Promise<FillPoint> {
  const { bed } = context;
  const measured: Rates[] = [];
  const diskBytes = diskOf(bed.dataDir);
  const server = await startVerdictd(bed.dataDir, uncached);
  try {
    const count = Math.floor(sessions / rounds);
    for (let round = 0; round < rounds; round++) {
      const tokens = { ...bed.tokens("sessions"), from: round * count, count };
      if (round === 0) await measureRates(context, server, tokens, 300);
      measured.push(await measureRates(context, server, tokens, context.options.durationMs));
    }
  } finally {
    await server.stop();
  }
  return {
    sessions,
    fillRate,
    verdictRate: median(measured.map(({ verdict }) => verdict)),
    ingestRate: median(measured.map(({ ingest }) => ingest)),
    diskBytes,
    newSessionBytes,
    privateBytes: privateBytes(bed.verdictd.pids[0]!),
  };
}

const uncached = ["--verdict-ttl", "0"] as const;

interface Rates {
  readonly verdict: number;
  readonly ingest: number;
}

async function measureRates(
  { bed, generator, options }: BenchContext,
  { url }: Target,
  tokens: TokensSpec,
  durationMs: number,
): Promise<Rates> {
  const { siteKey } = bed.keys;
  const common = { ...baseJob, url, durationMs };
  const rate = async (job: LoadJob): Promise<number> => {
    const [{ requests, seconds, errors, firstError }] = await generator.run(job);
    if (errors > 0) throw new Error(`fill: ${firstError}`);
    return requests / seconds;
  };
  const verdict: TrafficSpec = { kind: "verdict", request: bed.requests.verdict, tokens, pages: 1 };
  const ingest: TrafficSpec = { kind: "ingest", siteKey, tokens, sizes: [10] };
  return {
    verdict: await rate({
      ...common,
      connections: options.connections,
      traffic: verdict,
      statuses: [200],
      contains: '"verdict":"',
    }),
    ingest: await rate({ ...common, connections: options.visitors, traffic: ingest, statuses: [202], contains: "" }),
  };
}

/**
 * The full store against a copy that was made of it at the first point, in turn: what minutes of other work on the machine do to rates must
 * not pass for what a full store does. Both are asked about as many sessions, in the same strides: those of the full one are spread over
 * all of it, and in neither does a page serve two that follow each other.
 */
async function fullAgainstFirst(context: BenchContext, firstFolder: string): Promise<Rates> {
  const { bed, options } = context;
  const full = await startVerdictd(bed.dataDir, uncached);
  const first = await startVerdictd(firstFolder, uncached);
  const held = bed.tokens("sessions").count;
  const count = Math.min(held, firstPoint);
  const strided = (among: number): TokensSpec => bed.stridedTokens("sessions", among, count, stride);
  const [many, few] = [strided(held), strided(count)];
  const ofFull = (ms: number): Promise<Rates> => measureRates(context, full, many, ms);
  const ofFirst = (ms: number): Promise<Rates> => measureRates(context, first, few, ms);
  try {
    await ofFull(settleMs);
    await ofFirst(settleMs);
    const ratios: Rates[] = [];
    for (let pair = 0; pair < options.pairs; pair++) {
      const one = pair % 2 === 0 ? await ofFull(options.durationMs) : null;
      const other = await ofFirst(options.durationMs);
      const own = one ?? (await ofFull(options.durationMs));
      ratios.push({ verdict: own.verdict / other.verdict, ingest: own.ingest / other.ingest });
    }
    return {
      verdict: median(ratios.map(({ verdict }) => verdict)),
      ingest: median(ratios.map(({ ingest }) => ingest)),
    };
  } finally {
    await full.stop();
    await first.stop();
  }
}

/** Bytes the store takes on the disk; holes do not count. */
function diskOf(folder: string): number {
  return Number.parseInt(execFileSync("du", ["-s", "-B1", folder], { encoding: "utf8" }), 10);
}

async function figuresOf(
  { bed }: BenchContext,
  fill: readonly FillPoint[],
  beforeBytes: number | null,
  { ingest, verdict }: Rates,
): Promise<Figure[]> {
  const [first, last] = [fill[0]!, fill.at(-1)!];
  const startsMs: number[] = [];
  for (let round = 0; round < starts; round++) {
    const started = await startVerdictd(bed.dataDir, []);
    startsMs.push(started.readyMs);
    await started.stop();
  }
  const [few, many] = [first.sessions.toLocaleString("en"), last.sessions.toLocaleString("en")];
  const sessionBytes = bytesOfNew(fill);
  const figures = [
    atLeast(`ingest rate with ${many} stored sessions, to that with ${few}`, ingest, "×", 0.9),
    atLeast(`verdict rate with ${many} stored sessions, to that with ${few}`, verdict, "×", 0.95),
    atMost("disk per session of 20 events", sessionBytes, "B", 1200),
    atMost("disk per session of 20 events, to the formula's", sessionBytes / diskBytesOfNew, "×", 1),
    atMost(`start-up with ${many} sessions`, median(startsMs), "ms", 500),
  ];
  return [...figures, ...memoryFigures(first, last, beforeBytes)];
}

/**
 * By which first contacts alone made the disk grow, a session, from the first point on: that has what a store holds however many sessions
 * there are. What the rates between two points add are later batches of sessions, which are then of more than 20 events.
 */
function bytesOfNew(fill: readonly FillPoint[]): number {
  const [first, ...later] = fill;
  if (later.length === 0) return first!.newSessionBytes;
  const added = later.map(
    ({ sessions, newSessionBytes }, index) => (sessions - fill[index]!.sessions) * newSessionBytes,
  );
  return added.reduce((sum, bytes) => sum + bytes, 0) / (later.at(-1)!.sessions - first!.sessions);
}

/**
 * From the first point on, when heaps and compiled code have taken their place, memory should not grow with the sessions. Less than before
 * is possible: what was garbage at the first point is not there at the last.
 */
function memoryFigures(first: FillPoint, last: FillPoint, beforeBytes: number | null): Figure[] {
  if (first.privateBytes === null || last.privateBytes === null || beforeBytes === null) return [];
  const [few, many] = [first.sessions.toLocaleString("en"), last.sessions.toLocaleString("en")];
  const figures: Figure[] = [
    { what: "private memory before the first session", value: mib(beforeBytes), unit: "MiB" },
    { what: `private memory with ${few} stored sessions`, value: mib(first.privateBytes), unit: "MiB" },
    { what: `private memory with ${many} stored sessions`, value: mib(last.privateBytes), unit: "MiB" },
    atMost(`private memory with ${many} sessions, to the formula's`, last.privateBytes / privateBytesMax(), "×", 1),
  ];
  if (last.sessions === first.sessions) return figures;
  const grown = (last.privateBytes - first.privateBytes) / (last.sessions - first.sessions);
  return [...figures, atMost(`private memory per stored session, from ${few} to ${many}`, grown, "B", 300)];
}

function mib(bytes: number): number {
  return bytes / 1024 ** 2;
}
