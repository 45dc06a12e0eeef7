/**
 * Prints how well the engines tell people from programs: per human source and per generator, never pooled, with Wilson 95 %
 * intervals. Recorded traces run through the real path (shingles, fold, engines, combine) as sessions of a plain Chrome, people
 * first, so that replays meet their originals. Usage: quality [train|dev|all] [sdk|system|moves].
 */
import { fileURLToPath } from "node:url";
import type { RequestFacts } from "../src/contract/evidence/header-facts.js";
import { foldBatch } from "../src/engines/fold-batch.js";
import { cornerHashes, foldCornerOwners } from "../src/engines/path-corners.js";
import { shingleHashes } from "../src/engines/path-shingles.js";
import { turnHashes } from "../src/engines/path-turns.js";
import { combine, runEngines } from "../src/engines/score.js";
import {
  newFeatures,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  unpackFeatures,
} from "../src/engines/session-features.js";
import { chromeEnvironment, chromeFacts } from "../test/engines/sessions.js";
import { leftOutCells, leftOutHead, leftOutRows } from "./left-out.js";
import { ownDrivers } from "./own-drivers.js";
import { botScoreMax, confidentScoreMax, type Outcome } from "./trace-outcome.js";
import { batchesOf, dataFolder, readTraces, type Trace, type TraceForm } from "./trace-sessions.js";
import { wilsonInterval } from "./wilson.js";

/** The data holds these recordings twice, under two names: a replay by all rights, so they are left out. */
const storedTwice = ["barkworth/human-2021-07-23_17-22-10#0", "barkworth/human-2021-07-23_17-22-10#1"];

/** Paths of a project's sessions: which session showed each hash first. Unbounded here; the store's memory is not. */
export class ShingleIndex {
  private readonly sessions = new Map<number, number>();
  private readonly names = new Map<string, number>();

  /** The other sessions that showed those of the hashes that are known; the rest are recorded as this one's when `keep` is set. */
  owners(hashes: readonly number[], session: string, keep: boolean): number[] {
    const name = this.names.get(session) ?? this.names.size + 1;
    this.names.set(session, name);
    const owners: number[] = [];
    for (const hash of hashes) {
      const owner = this.sessions.get(hash);
      if (owner !== undefined && owner !== name) owners.push(owner);
      else if (keep) this.sessions.set(hash, name);
    }
    return owners;
  }
}

const record = Buffer.alloc(packedBytesMax);

/** Folds one trace as a session, its features packed and unpacked between batches as in the store. */
function foldTrace(trace: Trace, form: TraceForm, index: ShingleIndex): SessionFeatures {
  let features = newFeatures();
  const opening: Parameters<typeof batchesOf>[2] = [
    ["page", { path: "/", host: "shop.example" }],
    ["env", chromeEnvironment],
  ];
  for (const batch of batchesOf(trace, form, opening)) {
    const facts: RequestFacts = { ...chromeFacts, nowMs: Date.parse(batch[batch.length - 1]!.received_at) };
    const keep = trace.label === "human";
    const replayedShingles = index.owners(shingleHashes(features, batch), trace.id, keep).length;
    const replayedTurns = index.owners(turnHashes(features, batch), trace.id, keep).length;
    foldCornerOwners(features, index.owners(cornerHashes(features, batch), trace.id, keep));
    foldBatch(features, batch, facts, {
      sessionsFromIp: 1,
      sessionsWithShape: 1,
      sessionsWithEnvironment: 1,
      startTicket: null,
      replayedShingles,
      replayedTurns,
    });
    features = unpackFeatures(record, 0, packFeatures(features, record, 0))!;
  }
  return features;
}

const last = { ip: chromeFacts.ip, userAgent: chromeFacts.userAgent, path: "/", host: "shop.example" };

/** Scores one trace as a session at its end. */
export function scoreTrace(trace: Trace, form: TraceForm, index: ShingleIndex): Outcome {
  const features = foldTrace(trace, form, index);
  const { score, detectionIds } = combine(runEngines(features, last));
  const scoreWithout = (id: number) =>
    detectionIds.includes(id) ? combine(runEngines(features, last, id)).score : score;
  return { trace, score, detectionIds, scoreWithout };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`.padStart(8);
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const total = outcomes.length;
  const bots = outcomes.filter((each) => each.score <= botScoreMax).length;
  const confident = outcomes.filter((each) => each.score <= confidentScoreMax).length;
  const [botLow, botHigh] = wilsonInterval(bots, total);
  const [low, high] = wilsonInterval(confident, total);
  const counts = new Map<number, number>();
  for (const { detectionIds } of outcomes) for (const id of detectionIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  const common = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 3);
  const named = common.map(([id, count]) => `${id} (${Math.round((100 * count) / total)} %)`).join(", ");
  return (
    `${name.padEnd(44)} ${String(total).padStart(5)} ${percent(bots / total)} [${percent(botLow)},${percent(botHigh)}]` +
    ` ${percent(confident / total)} [${percent(low)},${percent(high)}]  ${named}`
  );
}

function groups(outcomes: readonly Outcome[], keyOf: (trace: Trace) => string): [string, Outcome[]][] {
  const grouped = new Map<string, Outcome[]>();
  for (const each of outcomes) {
    const key = keyOf(each.trace);
    grouped.set(key, [...(grouped.get(key) ?? []), each]);
  }
  return [...grouped].sort(([one], [other]) => one.localeCompare(other));
}

const heading = `${"".padEnd(44)} ${"n".padStart(5)} ${"bot band".padStart(8)} ${"95 % interval".padEnd(19)} ${"confident".padStart(9)} ${"95 % interval".padEnd(18)}  most frequent detections`;

function print(title: string, rows: readonly [string, Outcome[]][]): void {
  console.log(`\n${title}\n${heading}`);
  for (const [name, outcomes] of rows) console.log(row(name, outcomes));
}

/** People of the recorded data, without what it holds twice. */
export function people(traces: readonly Trace[]): Trace[] {
  return traces.filter((each) => each.label === "human" && !storedTwice.includes(each.id));
}

/** Scores every trace of a split (`train`, `dev`, or `all`), people first; replays meet their originals in whichever split. */
export function measure(folder: string, split: string, form: TraceForm): Outcome[] {
  const files = split === "all" ? ["train", "dev", "keys_nc_train", "keys_nc_dev"] : [split, `keys_nc_${split}`];
  const traces = files.flatMap((file) => readTraces(folder, file));
  const measured = people(traces);
  const ids = new Set(measured.map((trace) => trace.id));
  const index = new ShingleIndex();
  for (const trace of people(["train", "dev"].flatMap((file) => readTraces(folder, file)))) {
    if (!ids.has(trace.id)) scoreTrace(trace, form, index);
  }
  const programs = traces.filter((each) => each.label === "bot");
  return [...measured, ...programs].map((trace) => scoreTrace(trace, form, index));
}

const formLabels: Record<TraceForm, string> = {
  sdk: "as the SDK sends it",
  system: "as the SDK sends what the operating system delivers",
  moves: "one event a move",
};

function main(): void {
  const folder = dataFolder();
  if (folder === null) {
    console.log("quality: skipped, there is no ../shared/data (or VERDICTD_TRACES) with recorded traces");
    return;
  }
  const [split = "dev", form = "both"] = process.argv.slice(2);
  for (const each of ["sdk", "system", "moves"] as const) {
    if (form !== "both" && form !== each) continue;
    const outcomes = measure(folder, split, each);
    const label = formLabels[each];
    print(
      `People called programs (${split}, ${label}); goal: at most 1 % and 0.1 %`,
      groups(
        outcomes.filter(({ trace }) => trace.label === "human"),
        (trace) => trace.source,
      ),
    );
    print(
      `Programs recognised (${split}, ${label}), behaviour alone: headers and environment are a person's`,
      groups(
        outcomes.filter(({ trace }) => trace.label === "bot"),
        (trace) => `${trace.source} ${trace.generator}`,
      ),
    );
  }
  const seeds = Array.from({ length: 40 }, (_, index) => 70_000 + index);
  print(
    "Programs with paths of their own recognised after a minute (written for this measurement, as the operating system delivers them)",
    ownDrivers.map(({ name, trace }) => [
      name,
      seeds.map((seed) => scoreTrace(trace(seed), "system", new ShingleIndex())),
    ]),
  );
  console.log(
    "\nEach scoring detection of behaviour, the worst source of people left out, and what it adds (all, as the SDK sends it)",
  );
  console.log(`| ${leftOutHead.join(" | ")} |`);
  for (const row of leftOutRows(measure(folder, "all", "sdk"))) console.log(`| ${leftOutCells(row).join(" | ")} |`);
  console.log(`\nLeft out as stored twice: ${storedTwice.join(", ")}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
