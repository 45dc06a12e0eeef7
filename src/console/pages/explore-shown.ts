/** What Explore shows of an answer, alike for sessions and for requests: counts that stand for the whole, never for a sample of it. Pure. */

import type { SessionQueryAnswer, SessionQueryRange } from "../../contract/sessions/session-query.js";
import type { BandCounts } from "../../contract/traffic/stats-answers.js";
import { type Band, bands } from "../../contract/verdicts/verdict.js";

/** One value of a panel. `count` and `verdicts` are scaled up where the group is an estimate. */
export interface ShownValue {
  readonly value: string;
  readonly count: number;
  readonly verdicts: BandCounts;
  /** Null: the language can't express it. */
  readonly condition: string | null;
  /** The count in the range that is compared with; absent without one, or where it is not among the most frequent. */
  readonly before?: number;
}

/** One panel. */
export interface ShownGroup {
  /** A dimension's name in the API. */
  readonly by: string;
  readonly values: readonly ShownValue[];
  /** How many values there are beside these; null: some, but not how many. */
  readonly further: number | null;
  readonly without: number;
  /** By how much a count may be wrong, as a share of all that matched; absent: they are as exact as the answer. */
  readonly error?: number;
}

/** An answer as it is shown. */
export interface Shown {
  readonly from: string;
  readonly to: string;
  readonly matched: number;
  /** Of how many; null: not known. */
  readonly total: number | null;
  /** Whether counts are scaled up from a sample. */
  readonly isEstimate: boolean;
  readonly barSeconds: number;
  readonly bars: readonly { readonly at: string; readonly verdicts: BandCounts }[];
  readonly groups: readonly ShownGroup[];
  readonly unavailableFields: readonly string[];
  /** The same of the range before; null: not asked for. */
  readonly before: { readonly matched: number; readonly total: number | null } | null;
}

/** Counts by band, each made by `of`. */
export function byBand(of: (band: Band) => number): BandCounts {
  return Object.fromEntries(bands.map((band) => [band, of(band)])) as unknown as BandCounts;
}

/** For how many sessions one of the sample stands. */
function scaleOf({ is_sample, total, scanned }: SessionQueryRange): number {
  return is_sample && total !== null && total !== undefined && scanned > 0 ? Math.max(1, total / scanned) : 1;
}

/** The answer of a query of sessions, scaled up if it is of a sample. */
export function shownSessions(answer: SessionQueryAnswer): Shown {
  const { from, to, compare, unavailable_fields } = answer;
  const whole = (range: SessionQueryRange) => {
    const scale = scaleOf(range);
    const scaled = (value: number) => Math.round(value * scale);
    return { scaled, matched: scaled(range.matched), total: range.is_sample ? (range.total ?? null) : range.scanned };
  };
  const { scaled, matched, total } = whole(answer);
  const other = compare === undefined ? null : { ...whole(compare), groups: compare.groups ?? [] };
  return {
    from,
    to,
    matched,
    total,
    isEstimate: answer.is_sample,
    barSeconds: answer.chart?.bar_seconds ?? 3600,
    bars: (answer.chart?.bars ?? []).map(({ at, verdicts }) => ({
      at,
      verdicts: byBand((band) => scaled(verdicts[band])),
    })),
    groups: (answer.groups ?? []).map(({ by, values, further_values, without }) => {
      const earlier = new Map(
        other?.groups.find((group) => group.by === by)?.values.map(({ value, sessions }) => [value, sessions]),
      );
      return {
        by,
        values: values.map(({ value, sessions, verdicts, condition }) => {
          const before = earlier.get(value);
          return {
            value,
            count: scaled(sessions),
            verdicts: byBand((band) => scaled(verdicts[band])),
            condition,
            ...(before !== undefined && other !== null && { before: other.scaled(before) }),
          };
        }),
        further: further_values,
        without: scaled(without),
      };
    }),
    unavailableFields: unavailable_fields,
    before: other,
  };
}
