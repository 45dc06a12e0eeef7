/**
 * For each detection that scores and looks at behaviour: the human source that would have surprised whoever had chosen it on all others, and
 * what people and programs come to without it and with it. A detection is promoted by this table only.
 */
import { detections } from "../src/detections/catalogue.js";
import type { Detection } from "../src/detections/detection.js";
import { botScoreMax, type Outcome } from "./trace-outcome.js";

/** Windows of a source or a generator, and in how many of them something is so. */
interface Share {
  readonly name: string;
  readonly hits: number;
  readonly total: number;
}

/** What leaving a detection or a source out shows. */
interface LeftOutRow {
  readonly slug: string;
  readonly strength: string;
  /** The source of people on which it fires most often, and all other sources together. */
  readonly worst: Share;
  readonly others: Share;
  /** People of that source in a bot band without it, and with it. */
  readonly peopleBefore: number;
  readonly peopleAfter: number;
  /** The generator that it adds most to: its windows in a bot band without it, and with it. null when it adds nothing. */
  readonly most: {
    readonly name: string;
    readonly total: number;
    readonly before: number;
    readonly after: number;
  } | null;
}

const isBot = (score: number) => score <= botScoreMax;

function byName(outcomes: readonly Outcome[], nameOf: (outcome: Outcome) => string): Map<string, Outcome[]> {
  const groups = new Map<string, Outcome[]>();
  for (const each of outcomes) {
    const name = nameOf(each);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  return groups;
}

const rate = ({ hits, total }: Share) => (total === 0 ? 0 : hits / total);

const sumOf = (shares: readonly Share[], field: "hits" | "total") => shares.reduce((sum, each) => sum + each[field], 0);

function rowOf(
  { id, slug, strength }: Detection,
  sources: ReadonlyMap<string, readonly Outcome[]>,
  generators: ReadonlyMap<string, readonly Outcome[]>,
): LeftOutRow {
  const fires = (outcomes: readonly Outcome[]) =>
    outcomes.filter(({ detectionIds }) => detectionIds.includes(id)).length;
  const shares = [...sources].map(([name, all]): Share => ({ name, hits: fires(all), total: all.length }));
  const [worst, ...rest] = shares.sort((one, other) => rate(other) - rate(one) || one.name.localeCompare(other.name));
  const others = { name: "all others", hits: sumOf(rest, "hits"), total: sumOf(rest, "total") };
  const bots = (outcomes: readonly Outcome[]) => outcomes.filter(({ score }) => isBot(score)).length;
  const without = (outcomes: readonly Outcome[]) =>
    outcomes.filter(({ scoreWithout }) => isBot(scoreWithout(id))).length;
  const people = sources.get(worst!.name)!;
  const added = [...generators]
    .filter(([, all]) => fires(all) > 0)
    .map(([name, all]) => ({ name, total: all.length, before: without(all), after: bots(all) }))
    .sort((one, other) => (other.after - other.before) / other.total - (one.after - one.before) / one.total);
  const most = added[0];
  return {
    slug,
    strength,
    worst: worst!,
    others,
    peopleBefore: without(people),
    peopleAfter: bots(people),
    most: most !== undefined && most.after > most.before ? most : null,
  };
}

/** A row for each scoring detection of behaviour that fired on anybody or anything, by id. */
export function leftOutRows(outcomes: readonly Outcome[]): LeftOutRow[] {
  const sources = byName(
    outcomes.filter(({ trace }) => trace.label === "human"),
    ({ trace }) => trace.source,
  );
  const generators = byName(
    outcomes.filter(({ trace }) => trace.label === "bot"),
    ({ trace }) => trace.generator ?? trace.source,
  );
  const fired = new Set(outcomes.flatMap(({ detectionIds }) => detectionIds));
  return detections
    .filter(({ id, engine, state }) => engine === "behavioral" && state === "scoring" && fired.has(id))
    .sort((one, other) => one.id - other.id)
    .map((each) => rowOf(each, sources, generators));
}

/** Its cells as the documentation and the terminal show them. */
export function leftOutCells({ slug, strength, worst, others, peopleBefore, peopleAfter, most }: LeftOutRow): string[] {
  const share = (hits: number, total: number) => `${((100 * hits) / Math.max(1, total)).toFixed(1)} %`;
  return [
    `\`${slug}\``,
    strength,
    worst.hits === 0 ? "nobody" : `${worst.name} ${share(worst.hits, worst.total)}`,
    share(others.hits, others.total),
    worst.hits === 0 ? "-" : `${peopleBefore} → ${peopleAfter} of ${worst.total}`,
    most === null ? "-" : `${most.name} ${share(most.before, most.total)} → ${share(most.after, most.total)}`,
  ];
}

export const leftOutHead = [
  "detection",
  "strength",
  "fires on people, worst source",
  "all others",
  "people of that source in a bot band, without → with",
  "programs in a bot band where it adds most, without → with",
] as const;
