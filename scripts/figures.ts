/**
 * Makes the tables of `src/docs/figures.md` from the recorded traces: people per source, programs per generator, train and dev apart,
 * nothing pooled. Usage: figures (prints them), figures --write (puts them into the page).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { alterations, longVisits } from "./altered-traces.js";
import { leftOutCells, leftOutHead, leftOutRows } from "./left-out.js";
import { firstOf, ownDrivers } from "./own-drivers.js";
import { measure, people, ShingleIndex, scoreTrace } from "./quality.js";
import { isWorthPlaying, replays } from "./replayed-traces.js";
import { botScoreMax, confidentScoreMax, type Outcome } from "./trace-outcome.js";
import { dataFolder, readTraces, type Trace } from "./trace-sessions.js";
import { wilsonInterval } from "./wilson.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
/** The page that holds the tables, between these two lines. */
export const figuresPage = join(root, "src/docs/figures.md");
const opening = "<!-- figures -->";
const closing = "<!-- end of figures -->";

const isBot = ({ score }: Outcome) => score <= botScoreMax;
const isConfident = ({ score }: Outcome) => score <= confidentScoreMax;

function groups(outcomes: readonly Outcome[], keyOf: (trace: Trace) => string): Map<string, Outcome[]> {
  const grouped = new Map<string, Outcome[]>();
  for (const each of outcomes) {
    const key = keyOf(each.trace);
    grouped.set(key, [...(grouped.get(key) ?? []), each]);
  }
  return grouped;
}

/** `3.1 % (1.2 to 5.0)`, the interval at 95 %; a dash for nothing. */
function share(outcomes: readonly Outcome[], counts: (outcome: Outcome) => boolean): string {
  if (outcomes.length === 0) return "-";
  const hits = outcomes.filter(counts).length;
  const [low, high] = wilsonInterval(hits, outcomes.length).map((end) => (100 * end).toFixed(1));
  return `${((100 * hits) / outcomes.length).toFixed(1)} % (${low} to ${high})`;
}

/** A Markdown table with its columns aligned, as the formatter wants it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

interface Measured {
  readonly train: readonly Outcome[];
  readonly dev: readonly Outcome[];
  /** Both splits, one event a move. */
  readonly moves: readonly Outcome[];
  /** Both splits, as the operating system delivers moves. */
  readonly system: readonly Outcome[];
  readonly all: readonly Outcome[];
}

function byGroup(measured: Measured, label: Trace["label"], keyOf: (trace: Trace) => string) {
  const of = (outcomes: readonly Outcome[]) =>
    groups(
      outcomes.filter(({ trace }) => trace.label === label),
      keyOf,
    );
  const [train, dev, moves] = [of(measured.train), of(measured.dev), of(measured.moves)];
  const system = of(measured.system);
  return [...new Set([...train.keys(), ...dev.keys()])].sort().map((key) => ({
    key,
    train: train.get(key) ?? [],
    dev: dev.get(key) ?? [],
    moves: moves.get(key) ?? [],
    system: system.get(key) ?? [],
  }));
}

function peopleTable(measured: Measured): string {
  const rows = byGroup(measured, "human", ({ source }) => source).map(({ key, train, dev, moves, system }) => [
    key,
    `${train.length} + ${dev.length}`,
    share(train, isBot),
    share(dev, isBot),
    share([...train, ...dev], isConfident),
    share(system, isBot),
    share(moves, isBot),
  ]);
  const forms = ["by the operating system, both", "one event a move, both"];
  return table(["source", "windows", "train", "dev", "confident or definite, both", ...forms], rows);
}

function programsTable(measured: Measured): string {
  const rows = byGroup(measured, "bot", ({ generator, source }) => `${generator ?? source}`).map(
    ({ key, train, dev, moves, system }) => [
      `\`${key}\``,
      `${train.length} + ${dev.length}`,
      share(train, isBot),
      share(dev, isBot),
      share(system, isBot),
      share(moves, isBot),
    ],
  );
  return table(
    ["generator", "windows", "train", "dev", "by the operating system, both", "one event a move, both"],
    rows,
  );
}

/** Each alteration with every source in which somebody was called a program. */
function alteredTable(folder: string): string {
  const traces = people(["train", "dev", "keys_nc_train", "keys_nc_dev"].flatMap((file) => readTraces(folder, file)));
  const rows = alterations.map(({ name, alter }) => {
    const outcomes = traces.map((trace) => scoreTrace(alter(trace), "sdk", new ShingleIndex()));
    const touched = [...groups(outcomes, ({ source }) => source)].filter(([, each]) => each.some(isBot)).sort();
    const said = touched.map(([source, each]) => {
      const confident = each.filter(isConfident).length;
      return `${source} ${each.filter(isBot).length} of ${each.length}${confident > 0 ? `, ${confident} confident` : ""}`;
    });
    return [name, said.length > 0 ? said.join("; ") : "nobody"];
  });
  return table(["seen through", "people in a bot band, by source"], rows);
}

const windowsOfVisits = [5, 10, 20];

/** People's windows joined, as in visits of some minutes: what adds up may not add up to a program. */
function longVisitsTable(folder: string): string {
  const traces = people(["train", "dev"].flatMap((file) => readTraces(folder, file)));
  const visits = windowsOfVisits.map((count) =>
    groups(
      longVisits(traces, count).map((each) => scoreTrace(each, "system", new ShingleIndex())),
      ({ source }) => source,
    ),
  );
  const rows = [...visits[0]!.keys()].sort().map((source) => [
    source,
    ...visits.map((bySource) => {
      const outcomes = bySource.get(source) ?? [];
      const confident = outcomes.filter(isConfident).length;
      const said = `${outcomes.filter(isBot).length} of ${outcomes.length}`;
      return confident > 0 ? `${said}, ${confident} confident` : said;
    }),
  ]);
  return table(["source", ...windowsOfVisits.map((count) => `visits of ${count} windows`)], rows);
}

const ownTraces = 100;
/** The seeds of the traces that are measured; those up to 10,000 were looked at when the detection was made. */
const ownSeed = 50_000;
const ownSeconds = [20, 40, 60];

/** Of each driver, after so many seconds of use each, 100 traces. */
function ownOutcomes(): Outcome[][][] {
  return ownDrivers.map(({ trace }, row) => {
    const traces = Array.from({ length: ownTraces }, (_, index) => trace(ownSeed + row * ownTraces + index));
    return ownSeconds.map((seconds) =>
      traces.map((each) => scoreTrace(firstOf(each, 1000 * seconds), "system", new ShingleIndex())),
    );
  });
}

function ownDriversTable(own: readonly Outcome[][][]): string {
  const rows = ownDrivers.map(({ name }, row) => {
    const after = own[row]!;
    return [name, ...after.map((outcomes) => share(outcomes, isBot)), share(after.at(-1)!, isConfident)];
  });
  const heads = ownSeconds.map((seconds) => `after ${seconds} s`);
  return table(["paths", ...heads, "confident or definite"], rows);
}

/** Sources in columns, manners of playing a recording again in rows. */
function replayTable(folder: string): string {
  const recordings = people(readTraces(folder, "dev")).filter(isWorthPlaying);
  const sources = [...new Set(recordings.map(({ source }) => source))].sort();
  const rows = replays.map(({ name, play }) => {
    const index = new ShingleIndex();
    for (const each of recordings) scoreTrace(each, "sdk", index);
    const outcomes = groups(
      recordings.map((each) => scoreTrace(play(each), "system", index)),
      ({ source }) => source,
    );
    return [name, ...sources.map((source) => share(outcomes.get(source)!, isBot))];
  });
  const counts = sources.map((source) => recordings.filter((each) => each.source === source).length);
  return table(["played", ...sources.map((source, at) => `${source}, ${counts[at]}`)], rows);
}

/** The generated part of the page. Takes half a minute. */
export function figures(folder: string): string {
  const measured: Measured = {
    train: measure(folder, "train", "sdk"),
    dev: measure(folder, "dev", "sdk"),
    moves: measure(folder, "all", "moves"),
    system: measure(folder, "all", "system"),
    all: measure(folder, "all", "sdk"),
  };
  const own = ownOutcomes();
  return [
    "## People",
    "Share of windows in a bot band at the default threshold; the goal is at most 1 % in each source, and 0.1 % confident or definite.",
    peopleTable(measured),
    "## People through other browsers, displays and links",
    "The same recordings, changed as if they came through browsers, screens or connections that the recorders did not have.",
    alteredTable(folder),
    "## Programs",
    "Share of windows in a bot band by behaviour only: headers and environment are those of a person's Chrome.",
    programsTable(measured),
    "## Programs with paths of their own",
    `Programs written for this measurement after the literature on aiming (\`scripts/own-drivers.ts\`), ${ownTraces} of each, by the operating system's input, each with a hand's clicks and pauses: share in a bot band by behaviour alone.`,
    ownDriversTable(own),
    "## Long visits of people",
    "Windows of one person, joined into one visit with the operating system's input, so that evidence adds up: visits in a bot band.",
    longVisitsTable(folder),
    "## Recordings played again",
    "People's recordings (dev, only those with movement), replayed by an attacker after the project has seen the person: share in a bot band, by source.",
    replayTable(folder),
    "## Each detection with a source left out",
    "Detections of behaviour that affect the score: how often each fires on the source of people on which it fires most (treated as left out when it was chosen) and on all others; then what changes without it. Two detections with the same cause stand in for each other, so leaving out one of them may change nothing.",
    table(leftOutHead, leftOutRows([...measured.all, ...own.flatMap((after) => after.at(-1)!)]).map(leftOutCells)),
  ].join("\n\n");
}

/** The generated part as the page has it. Throws when its marks are missing. */
export function figuresOfPage(): string {
  const text = readFileSync(figuresPage, "utf8");
  const from = text.indexOf(opening);
  const to = text.indexOf(closing);
  if (from < 0 || to < 0) throw new Error(`${figuresPage} lacks its marks`);
  return text.slice(from + opening.length, to).trim();
}

function main(): void {
  const folder = dataFolder();
  if (folder === null) {
    console.log("figures: skipped, there is no ../shared/data (or VERDICTD_TRACES) with recorded traces");
    return;
  }
  const made = figures(folder);
  if (!process.argv.includes("--write")) console.log(made);
  else
    writeFileSync(
      figuresPage,
      readFileSync(figuresPage, "utf8").replace(figuresOfPage(), () => made),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
