/** Events, sessions and verdict answers of a project over time, by hour or day of UTC. */

import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import type { StoredChallengeCounts, StoredRuleHits } from "../../../contract/configuration/entities.js";
import type {
  ChallengeCounts as ChallengeCountsAnswer,
  RuleHits as RuleHitsAnswer,
  StatsAnswer,
  StatsRow,
} from "../../../contract/traffic/stats-answers.js";
import { hourMs } from "../../../contract/values/durations.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import {
  type BucketSize,
  bucketCount,
  bucketHours,
  type Stats,
  type StatsBucket,
} from "../../../control-plane/insight/stats.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { comparedSpan, compareParameters } from "./compared-range.js";

/** The counts, which are flushed before they are read. */
interface StatsServices {
  readonly stats: Stats;
  readonly work: LongWork;
  /** Stores what this thread has counted but not stored yet. */
  readonly flush: () => Promise<void>;
  readonly now: () => number;
}

/** What is shown when `from` is not given: a day of hours, a month of days. */
const defaultHours: Readonly<Record<BucketSize, number>> = { hour: 24, day: 30 * 24 };

const time = { type: "string", description: "ISO-8601: a date, or date and time; UTC where no zone is given" };
const parameters: readonly ParameterDoc[] = [
  {
    in: "query",
    name: "from",
    description:
      "Start; the bucket that contains it is the first. Default: a day before `to` for hours, 30 days for days",
    schema: time,
  },
  { in: "query", name: "to", description: "End, exclusive. Default: now", schema: time },
  {
    in: "query",
    name: "bucket",
    description: "Length of a bucket",
    schema: { type: "string", enum: ["hour", "day"], default: "hour" },
  },
  {
    in: "query",
    name: "by",
    description: "`rule`: also challenges by the rule that asked for them, and hits of each rule",
    schema: { type: "string", enum: ["rule"] },
  },
  ...compareParameters,
];

/** `GET …/stats`, `projects:read`. 422 for a span that is no time, ends before it begins or has too many buckets. */
export function statsRoute({ stats, work, flush, now }: StatsServices): ProjectRoute {
  return projectRoute("getStats", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Counts of events, sessions and verdict answers over time",
      description: `At most ${limits.statsBucketsMax} buckets; those without traffic are included, with zeros. Days are UTC days. \`requests\` has, of the verdict answers, those on requests without a scored session. Passed of issued challenges, by rule, measures false positives.`,
      parameters,
      refusals: ["invalidPayload"],
    },
    handle: async ({ project, query, isAborted }) => {
      const span = readSpan(query, now());
      if (span instanceof Refusal) return refusal(span);
      const compared = readCompared(query, span);
      if (compared instanceof Refusal) return refusal(compared);
      await flush();
      const slices = work.begin(isAborted);
      const read = async (each: Span): Promise<StatsRow[] | null> => {
        const buckets = await stats.read(project.id, each.fromMs, each.toMs, each.size, slices);
        return buckets?.map((bucket) => rowOf(bucket, each.byRule)) ?? null;
      };
      const data = await read(span);
      const others = data === null || compared === null ? null : await read(compared);
      if (data === null || (compared !== null && others === null)) return unread;
      return json(200, { data, ...(others !== null && { compare: { data: others } }) } satisfies StatsAnswer);
    },
  });
}

interface Span {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly size: BucketSize;
  /** Whether challenges are split by rule. */
  readonly byRule: boolean;
}

function rowOf({ startMs, challenges, rules, ...counts }: StatsBucket, isByRule: boolean): StatsRow {
  return {
    at: new Date(startMs).toISOString(),
    ...counts,
    challenges: total(Object.values(challenges)),
    ...(isByRule && { challenges_by_rule: byRule(challenges), hits_by_rule: hitsByRule(rules) }),
  };
}

/** The other range, in buckets of the same size; null where none is asked for. */
function readCompared(query: URLSearchParams, { size, byRule }: Span): Span | null | Refusal {
  const days = Math.floor((limits.statsBucketsMax * bucketHours[size]) / 24);
  const span = comparedSpan(query.get("compare_from"), query.get("compare_to"), days);
  if (span === null || span instanceof Refusal) return span;
  if (bucketCount(span.fromMs, span.untilMs, size) > limits.statsBucketsMax) {
    return refuse(
      "invalidPayload",
      `compare_from and compare_to must be at most ${limits.statsBucketsMax} buckets apart`,
    );
  }
  return { fromMs: span.fromMs, toMs: span.untilMs, size, byRule };
}

function readSpan(query: URLSearchParams, nowMs: number): Span | Refusal {
  const size = query.get("bucket") ?? "hour";
  if (!isBucketSize(size)) return refuse("invalidPayload", 'bucket must be "hour" or "day"');
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
  const by = query.get("by");
  if (by !== null && by !== "rule") return refuse("invalidPayload", 'by must be "rule"');
  return { fromMs, toMs, size, byRule: by === "rule" };
}

function total(list: readonly StoredChallengeCounts[]): ChallengeCountsAnswer {
  const sum = { issued: 0, passed: 0, failed: 0 };
  for (const { issued, passed, failed } of list) {
    sum.issued += issued;
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
}

function byRule(challenges: Readonly<Record<string, StoredChallengeCounts>>): Record<string, ChallengeCountsAnswer> {
  return Object.fromEntries(Object.entries(challenges).map(([rule, counts]) => [rule, total([counts])]));
}

function hitsByRule(rules: Readonly<Record<string, StoredRuleHits>>): Record<string, RuleHitsAnswer> {
  return Object.fromEntries(
    Object.entries(rules).map(([rule, { sessions, requests, lastMs }]) => [
      rule,
      { sessions, requests, last_at: new Date(lastMs).toISOString() },
    ]),
  );
}

function isBucketSize(text: string): text is BucketSize {
  return Object.hasOwn(bucketHours, text);
}

/** ms since the epoch; null for what is no time. */
function timeOf(text: string): number | null {
  const ms = isoDateOrTimeMs(text);
  return Number.isNaN(ms) ? null : ms;
}
