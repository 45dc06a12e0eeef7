/**
 * The counts of one dimension, project and hour as a row of the store: totals by stratum (subject, band and action together) and the heaviest values.
 * Strata are counted apart, so that every selection of subject, band and action is as exact as the whole.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Action, actions, type Band, bands, type VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { errorOfCount } from "./counted-share.js";
import type { ValueSketch } from "./value-sketch.js";

/** Verdicts of one subject, band and action. */
export interface Stratum {
  readonly subject: VerdictSubject;
  readonly band: Band;
  readonly action: Action;
}

/** Counts of a stratum. */
interface StratumTotals {
  /** Verdicts. */
  total: number;
  /** Verdicts without a value of the dimension. */
  without: number;
  /** Values counted: of `detection` a verdict may have several. */
  counted: number;
  /** The most that the count of a value may miss. */
  missed: number;
}

/** A decoded row. */
interface TrafficRow {
  readonly strata: readonly (Stratum & StratumTotals)[];
  /** Of each value, by the place of the stratum in `strata`, its counts. */
  readonly values: readonly (readonly [value: string, ...counts: (readonly [stratum: number, count: number])[]])[];
}

/** A stratum of one dimension while it is counted. */
interface SketchedStratum extends Stratum, Omit<StratumTotals, "missed"> {
  /** As in `errorOfCount`. */
  readonly spread: number;
  readonly sketch: ValueSketch;
}

/** Keeps the heaviest values of all strata together, and in addition those that are heavy in one stratum. */
export function trafficRowOf(strata: readonly SketchedStratum[]): TrafficRow {
  const sums = new Map<string, number>();
  for (const { sketch } of strata) {
    for (const [value, { count, missed }] of sketch.values()) sums.set(value, (sums.get(value) ?? 0) + count + missed);
  }
  const kept = new Set(heaviest(sums, limits.trafficValuesStored));
  if (kept.size < sums.size) {
    for (const { sketch } of strata) {
      const own = new Map<string, number>();
      for (const [value, { count, missed }] of sketch.values()) own.set(value, count + missed);
      for (const value of heaviest(own, limits.trafficStratumValues)) kept.add(value);
    }
  }
  const values = new Map<string, [string, ...[number, number][]]>([...kept].map((value) => [value, [value]]));
  const rows = strata.map(({ subject, band, action, total, without, counted, spread, sketch }, index) => {
    // A value that is left out misses all of its count.
    let left = 0;
    for (const [value, { count, missed }] of sketch.values()) {
      const row = values.get(value);
      if (row === undefined) left = Math.max(left, count + missed);
      else row.push([index, count]);
    }
    const missed = Math.max(
      sketch.missed + errorOfCount(spread),
      left + errorOfCount(spread, Math.min(0.5, left / total)),
    );
    return { subject, band, action, total, without, counted, missed: Math.ceil(missed) };
  });
  return { strata: rows, values: [...values.values()] };
}

/** Of equals those that came first. Sorts numbers alone: where most values came once, to order the values themselves takes milliseconds. */
function heaviest(sums: ReadonlyMap<string, number>, count: number): Iterable<string> {
  if (sums.size <= count) return sums.keys();
  const weights = Float64Array.from(sums.values()).sort();
  const bound = weights[weights.length - count]!;
  let equals = count;
  for (let index = weights.length - 1; weights[index]! > bound; index--) equals--;
  const kept: string[] = [];
  for (const [value, weight] of sums) if (weight > bound || (weight === bound && equals-- > 0)) kept.push(value);
  return kept;
}

/** What is stored of a stratum, in this order. */
const stratumColumns = ["subject", "band", "action", "total", "without", "counted", "missed"] as const;

/** A row as it is stored: compressed JSON, 1 to 10 KB. */
export function encodeTrafficRow({ strata, values }: TrafficRow): Buffer {
  return packed([strata.map((stratum) => stratumColumns.map((name) => stratum[name])), values]);
}

/** Null for a damaged row. */
export function decodeTrafficRow(bytes: Buffer): TrafficRow | null {
  const row = unpacked(bytes) as [unknown[][], TrafficRow["values"]] | null;
  if (!Array.isArray(row?.[0]) || !Array.isArray(row[1])) return null;
  const strata = row[0].map((values) =>
    Object.fromEntries(stratumColumns.map((name, index) => [name, values[index]])),
  ) as unknown as TrafficRow["strata"];
  const isWhole = strata.every(
    ({ subject, band, action, total }) =>
      (subject === "session" || subject === "request") &&
      bands.includes(band) &&
      actions.includes(action) &&
      Number.isSafeInteger(total),
  );
  return isWhole ? { strata, values: row[1] } : null;
}

/**
 * JSON, compressed: values of one dimension are much alike. With a small window a row is as small, and zlib takes 24 KB instead of 260 KB, which the system
 * would give it anew each time.
 */
export function packed(value: unknown): Buffer {
  return deflateRawSync(JSON.stringify(value), { level: 1, windowBits: 12, memLevel: 5 });
}

/** Null for what `packed` did not make. */
export function unpacked(bytes: Buffer): unknown {
  try {
    return JSON.parse(inflateRawSync(bytes, { maxOutputLength: limits.judgedRowBytesMax }).toString("utf8"));
  } catch {
    return null;
  }
}
