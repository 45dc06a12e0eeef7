/** Requests without a session for Explore: counters where every request is asked for, else samples that are scaled up by their weights. */

import type { TrafficDimension } from "../../contract/traffic/traffic.js";
import type { RequestSampleRow, RequestSamplesAnswer, TrafficAnswer } from "../../contract/traffic/traffic-answers.js";
import { type Band, bands } from "../../contract/verdicts/verdict.js";
import { operatorNetwork } from "../../net/network.js";
import { equalTo, familyConditionOf, familyOf } from "../expression.js";
import { byBand, type Shown, type ShownGroup, type ShownValue } from "./explore-shown.js";

/** Pages of 500 samples that are read at most. */
const pages = 4;
const hourMs = 3_600_000;
/** Values of a panel at first; all of them on demand. */
const shownValues = 10;

/** What was found: the view, the latest samples as rows, and where more are. */
export interface FoundRequests {
  readonly shown: Shown;
  readonly rows: readonly RequestSampleRow[];
  readonly cursor: string | null;
}

/** What is asked of the server; `query` is named as the API names it. */
interface TrafficApi {
  requests(
    project: number,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<RequestSamplesAnswer>;
  traffic(project: number, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<TrafficAnswer>;
}

/** A time, and one to compare it with. */
interface AskedRange {
  readonly from: string;
  readonly to?: string;
  /** Compared with the range before, as long. */
  readonly isCompared: boolean;
}

/**
 * Asks for samples and, where no expression selects, for counters, which are of whole hours. Shares are of the samples that were looked at, or of the
 * counters, never of both: a link to a fixed time shows the same whenever it is opened. A time within an hour is counted by its samples, if all were read.
 */
export async function askRequests(
  api: TrafficApi,
  project: number,
  expression: string,
  range: AskedRange,
  signal: AbortSignal,
): Promise<FoundRequests> {
  const to = range.to ?? new Date().toISOString();
  const asked = { from: range.from, to };
  const samples = await readSamples(api, project, expression, asked, signal);
  const isCutHour = range.to !== undefined && [range.from, range.to].some((time) => Date.parse(time) % hourMs !== 0);
  const isWhole = expression.trim() === "" && !(isCutHour && samples.cursor === null && samples.rows.length > 0);
  const earlier = range.isCompared ? rangeBefore(asked) : null;
  const before = earlier === null ? null : await readSamples(api, project, expression, earlier, signal);
  const count = (by: TrafficDimension, of: { from: string; to: string }) =>
    api.traffic(project, { ...of, group_by: by, subject: "request", limit: String(shownValues) }, signal);
  const all = await count("path", asked);
  const allBefore = earlier === null ? null : await count("path", earlier);
  const weighted = sum(samples.rows.map(({ weight }) => weight));
  const matched = isWhole ? all.meta.total : Math.round(weighted);
  // Where no sample was kept, nothing is known of the share.
  const lookedAt = (of: typeof samples) => (of.evaluatedWeight > 0 ? Math.round(of.evaluatedWeight) : null);
  const counters = isWhole
    ? await Promise.all(counted.map(async (by) => ({ by, answer: by === "path" ? all : await count(by, asked) })))
    : null;
  const shown: Shown = {
    from: samples.from,
    to: samples.to,
    matched,
    total: isWhole ? all.meta.total : lookedAt(samples),
    isEstimate: !isWhole && samples.rows.some(({ weight }) => weight > 1),
    ...barsOf(samples.rows, asked, isWhole && weighted > 0 ? all.meta.total / weighted : 1),
    groups:
      counters === null
        ? groupsOfSamples(samples.rows, before?.rows ?? null)
        : [
            ...counters.map(({ by, answer }) => groupOfCounters(by, answer)),
            ...groupsOfSamples(samples.rows, null, ["band", "action"]),
          ],
    unavailableFields: samples.unavailable_fields,
    before:
      before === null || allBefore === null
        ? null
        : {
            matched: isWhole ? allBefore.meta.total : Math.round(sum(before.rows.map(({ weight }) => weight))),
            total: isWhole ? allBefore.meta.total : lookedAt(before),
          },
  };
  return { shown, rows: samples.rows, cursor: samples.cursor };
}

/** Names of autonomous systems by number, as samples have them. */
export function systemNames(rows: readonly RequestSampleRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(({ asn, as_name }) => (asn === null || as_name === null ? [] : [[String(asn), as_name]])),
  );
}

/** The range that ends where this begins, and is as long. */
export function rangeBefore({ from, to }: { readonly from: string; readonly to: string }): {
  from: string;
  to: string;
} {
  return { from: new Date(2 * Date.parse(from) - Date.parse(to)).toISOString(), to: from };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

async function readSamples(
  api: TrafficApi,
  project: number,
  expression: string,
  range: { readonly from: string; readonly to: string },
  signal: AbortSignal,
) {
  const rows: RequestSampleRow[] = [];
  let evaluatedWeight = 0;
  let cursor: string | null = null;
  let answer: RequestSamplesAnswer;
  let page = 0;
  do {
    answer = await api.requests(project, { expression, ...range, ...(cursor !== null && { cursor }) }, signal);
    rows.push(...answer.data);
    evaluatedWeight += answer.evaluated_weight;
    cursor = answer.meta.next_cursor;
  } while (cursor !== null && ++page < pages);
  const { from, to, unavailable_fields } = answer;
  return { rows, evaluatedWeight, cursor, from, to, unavailable_fields };
}

/** Dimensions that are counted, in the order of their panels. */
const counted: readonly TrafficDimension[] = [
  "path",
  "network",
  "ip",
  "asn",
  "country",
  "user_agent_family",
  "agent",
  "declared_bot",
  "host",
  "rule",
  "detection",
];

/** The panel of all values that were counted. */
export function groupOfCounters(by: TrafficDimension, { data, meta }: TrafficAnswer): ShownGroup {
  const values = data.map(({ value, count, bands: verdicts }) => ({
    value,
    count,
    verdicts,
    condition: conditionOf(by, value),
  }));
  const further = meta.other > meta.without && by !== "detection" ? null : 0;
  return { by, values, further, without: meta.without, ...(meta.error > 0 && { error: meta.error }) };
}

/** What selects the requests of a counted value. */
function conditionOf(by: TrafficDimension | "band" | "action", value: string): string | null {
  switch (by) {
    case "path":
      return value.includes("*") ? null : equalTo("path", value);
    case "network":
    case "ip":
      return equalTo("ip", value);
    case "asn":
      return equalTo("asn", Number(value));
    case "user_agent_family":
      return familyConditionOf(value);
    case "rule":
      return equalTo("rule_id", Number(value));
    case "detection":
      return `detection_ids contains ${value}`;
    case "verified_bot":
      return null;
    default:
      return by === "band" && value === "not_computed" ? null : equalTo(by, value);
  }
}

type SampledDimension = Exclude<TrafficDimension, "verified_bot"> | "band" | "action";

/** The values of a sample by dimension. */
const sampled: Readonly<Record<SampledDimension, (row: RequestSampleRow) => readonly (string | null)[]>> = {
  band: ({ band }) => [band],
  action: ({ action }) => [action],
  path: ({ path }) => [path],
  network: ({ ip }) => [ip === null ? null : operatorNetwork(ip)],
  ip: ({ ip }) => [ip],
  asn: ({ asn }) => [asn === null ? null : String(asn)],
  country: ({ country }) => [country],
  user_agent_family: ({ user_agent }) => [user_agent === null ? null : familyOf(user_agent)],
  agent: ({ agent }) => [agent],
  declared_bot: ({ declared_bot }) => [declared_bot],
  host: ({ host }) => [host],
  rule: ({ rule_id }) => [rule_id === null ? null : String(rule_id)],
  detection: ({ detection_ids }) => detection_ids.map(String),
};

function groupsOfSamples(
  rows: readonly RequestSampleRow[],
  before: readonly RequestSampleRow[] | null,
  dimensions: readonly SampledDimension[] = Object.keys(sampled) as SampledDimension[],
): ShownGroup[] {
  return dimensions.map((by): ShownGroup => {
    const { values, without } = weights(rows, by);
    const earlier = before === null ? null : weights(before, by).values;
    const shown = [...values].map(([value, verdicts]): ShownValue => {
      const was = earlier?.get(value);
      return {
        value,
        count: Math.round(sum(Object.values(verdicts))),
        verdicts: byBand((band) => Math.round(verdicts[band])),
        condition: conditionOf(by, value),
        ...(earlier !== null && { before: was === undefined ? 0 : Math.round(sum(Object.values(was))) }),
      };
    });
    shown.sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
    return { by, values: shown, further: 0, without: Math.round(without) };
  });
}

/** Weights by value and band, and of rows without a value. */
function weights(rows: readonly RequestSampleRow[], by: SampledDimension) {
  const values = new Map<string, Record<Band, number>>();
  let without = 0;
  for (const row of rows) {
    const own = sampled[by](row).filter((value) => value !== null && value !== "") as string[];
    if (own.length === 0) without += row.weight;
    for (const value of own) {
      const counts = values.get(value) ?? (Object.fromEntries(bands.map((band) => [band, 0])) as Record<Band, number>);
      counts[row.band] += row.weight;
      values.set(value, counts);
    }
  }
  return { values, without };
}

const barSecondsChoices = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 10_080].map((minutes) => minutes * 60);
const barsMax = 60;

/** At most 60 bars; each sample counts as often as its weight and `scale` say. */
function barsOf(
  rows: readonly RequestSampleRow[],
  { from, to }: { readonly from: string; readonly to: string },
  scale: number,
): Pick<Shown, "bars" | "barSeconds"> {
  const [start, end] = [Date.parse(from) / 1000, Date.parse(to) / 1000];
  const barSeconds = barSecondsChoices.find((each) => (end - start) / each <= barsMax) ?? barSecondsChoices.at(-1)!;
  const first = Math.floor(start / barSeconds);
  const counts = Array.from({ length: Math.max(1, Math.ceil(end / barSeconds) - first) }, () => byBand(() => 0));
  for (const { at, band, weight } of rows) {
    const bar = counts[Math.floor(Date.parse(at) / 1000 / barSeconds) - first];
    if (bar !== undefined) bar[band] += weight * scale;
  }
  return {
    barSeconds,
    bars: counts.map((verdicts, index) => ({
      at: new Date((first + index) * barSeconds * 1000).toISOString(),
      verdicts: byBand((band) => Math.round(verdicts[band])),
    })),
  };
}
