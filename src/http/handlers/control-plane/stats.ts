/** Events, sessions and verdict answers of a project over time, by hour or day of UTC. */
import type { StatsAnswer } from "../../../contract/api-answers.js";
import type { ParameterDoc } from "../../../contract/route-doc.js";
import { type BucketSize, bucketCount, bucketHours, type Stats } from "../../../control-plane/stats.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";

export interface StatsServices {
  readonly stats: Stats;
  /** Stores what this thread has counted but not stored yet. */
  readonly flush: () => Promise<void>;
  readonly now: () => number;
}

const hourMs = 3_600_000;
/** What is shown when `from` is not given: a day of hours, a month of days. */
const defaultHours: Readonly<Record<BucketSize, number>> = { hour: 24, day: 30 * 24 };

const time = { type: "string", description: "ISO-8601: a date, or date and time; UTC where no zone is given" };
const parameters: readonly ParameterDoc[] = [
  {
    in: "query",
    name: "from",
    description: "Start; the bucket that holds it is the first. Default: a day before `to` for hours, 30 days for days",
    schema: time,
  },
  { in: "query", name: "to", description: "End, exclusive. Default: now", schema: time },
  {
    in: "query",
    name: "bucket",
    description: "Length of a bucket",
    schema: { type: "string", enum: ["hour", "day"], default: "hour" },
  },
];

export function statsRoute({ stats, flush, now }: StatsServices): ProjectRoute {
  return {
    method: "get",
    path: "/v1/projects/:project/stats",
    credential: "project",
    doc: {
      id: "getStats",
      tag: "logs",
      summary: "Counts of events, sessions and verdict answers over time",
      description: `At most ${limits.statsBucketsMax} buckets; those without traffic are there, with zeros. Days are days of UTC.`,
      parameters,
      answers: { 200: "StatsAnswer" },
      refusals: ["invalidPayload"],
    },
    handle: async ({ project, query }) => {
      const span = readSpan(query, now());
      if (span instanceof Refusal) return refusal(span);
      await flush();
      const buckets = await stats.read(project.id, span.fromMs, span.toMs, span.size);
      const data = buckets.map(({ startMs, ...counts }) => ({ at: new Date(startMs).toISOString(), ...counts }));
      return json(200, { data } satisfies StatsAnswer);
    },
  };
}

interface Span {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly size: BucketSize;
}

function readSpan(query: URLSearchParams, nowMs: number): Span | Refusal {
  const size = query.get("bucket") ?? "hour";
  if (!isBucketSize(size)) return refuse("invalidPayload", "bucket must be hour or day");
  const to = query.get("to");
  const toMs = to === null ? nowMs : timeOf(to);
  if (toMs === null) return refuse("invalidPayload", "to must be an ISO-8601 date, or date and time");
  const from = query.get("from");
  const fromMs = from === null ? toMs - defaultHours[size] * hourMs : timeOf(from);
  if (fromMs === null) return refuse("invalidPayload", "from must be an ISO-8601 date, or date and time");
  if (fromMs >= toMs) return refuse("invalidPayload", "from must be before to");
  if (bucketCount(fromMs, toMs, size) > limits.statsBucketsMax) {
    return refuse("invalidPayload", `from and to must be at most ${limits.statsBucketsMax} buckets apart`);
  }
  return { fromMs, toMs, size };
}

function isBucketSize(text: string): text is BucketSize {
  return Object.hasOwn(bucketHours, text);
}

const timeForm =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;

/** ms since the epoch; null for what is no time. Without a zone it is UTC, as everywhere in the API. */
function timeOf(text: string): number | null {
  const parts = timeForm.exec(text);
  if (parts === null) return null;
  const [, year, month, day, zone] = parts;
  // Date.parse lets 31 February pass for a day of March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const ms = Date.parse(text.includes("T") && zone === undefined ? `${text}Z` : text);
  return Number.isNaN(ms) ? null : ms;
}
