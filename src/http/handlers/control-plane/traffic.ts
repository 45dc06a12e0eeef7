/** All that was judged: `GET …/traffic` (counts by value), `GET …/requests` (samples), `GET …/crawlers` (visits by operator), `GET …/rules/hits` (by minute). */

import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import type { Project } from "../../../contract/configuration/entities.js";
import type { AddressLookup } from "../../../contract/evidence/network-fact.js";
import type { WeightedSample } from "../../../contract/traffic/request-sample.js";
import type { RuleMinutesAnswer } from "../../../contract/traffic/stats-answers.js";
import { type TrafficDimension, trafficDimensions } from "../../../contract/traffic/traffic.js";
import type {
  CrawlersAnswer,
  RequestSampleRow,
  RequestSamplesAnswer,
  TrafficAnswer,
} from "../../../contract/traffic/traffic-answers.js";
import { dayMs, hourMs } from "../../../contract/values/durations.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import { nearestWord } from "../../../contract/values/nearest-word.js";
import { actions, bands, type VerdictSubject } from "../../../contract/verdicts/verdict.js";
import { sampleInput } from "../../../control-plane/insight/sample-search.js";
import { decodeCursor, encodeCursor } from "../../../control-plane/logs/cursor.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { HourSpan, TrafficCounts, TrafficReader, TrafficSelection } from "../../../recording/traffic-reader.js";
import { compileRule } from "../../../rules/compile-rule.js";
import { isRuleFault } from "../../../rules/fault.js";
import { unsampledFields } from "../../../rules/fields.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import type { Slices } from "../../../runtime/long-work.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { comparedSpan, compareParameters } from "./compared-range.js";

/** What these routes read; what this thread has not stored yet is stored first. */
interface TrafficServices {
  readonly traffic: TrafficReader;
  readonly addresses: Pick<AddressLookup, "listsOf">;
  readonly reads: AccountReads;
  readonly flush: () => Promise<void>;
  readonly now: () => number;
}

const subjects: readonly VerdictSubject[] = ["session", "request"];

const time = { type: "string", description: "ISO-8601: a date, or date and time; UTC where no zone is given" };

function spanParameters(days: string): ParameterDoc[] {
  return [
    { in: "query", name: "from", description: `Start. Default: ${days} before \`to\``, schema: time },
    { in: "query", name: "to", description: "End, exclusive. Default: now", schema: time },
  ];
}

/** All by `projects:read`; 422 for a time, dimension, expression or cursor that is none. */
export function trafficRoutes(services: TrafficServices): ProjectRoute[] {
  return [trafficRoute(services), requestSamplesRoute(services), crawlersRoute(services), ruleMinutesRoute(services)];
}

function trafficRoute(services: TrafficServices): ProjectRoute {
  return projectRoute("getTraffic", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Count judged requests by a dimension",
      description:
        "Every judged request and computed verdict, with and without a session, counted by value and hour of UTC; `from` and `to` are widened to whole " +
        `hours. The ${limits.trafficValuesMax} most frequent values are kept; \`other\` counts the rest. Of many allowed verdicts in an hour, one counts for several; \`error\` says how far a count may be wrong. \`path\` has at most four segments, with \`*\` for ids and tokens.`,
      parameters: [
        ...spanParameters("24 hours"),
        {
          in: "query",
          name: "group_by",
          description: "What to count by",
          schema: { type: "string", enum: [...trafficDimensions] },
        },
        {
          in: "query",
          name: "limit",
          description: "Values of the answer",
          schema: {
            type: "integer",
            minimum: 1,
            maximum: limits.trafficValuesMax,
            default: limits.trafficValuesDefault,
          },
        },
        {
          in: "query",
          name: "subject",
          description: "Only verdicts on scored sessions, or only those on requests without one",
          schema: { type: "string", enum: [...subjects] },
        },
        { in: "query", name: "band", description: "Only this band", schema: { type: "string", enum: [...bands] } },
        {
          in: "query",
          name: "action",
          description: "Only this action",
          schema: { type: "string", enum: [...actions] },
        },
        ...compareParameters,
      ],
      refusals: ["invalidPayload"],
    },
    handle: (call) => countTraffic(services, call),
  });
}

async function countTraffic(
  services: TrafficServices,
  { project, query, isAborted }: Asked<"getTraffic">,
): Promise<Answered<"getTraffic">> {
  const asked = readTrafficQuery(query, services.now());
  if (asked instanceof Refusal) return refusal(asked);
  const { dimension, limit, selection, span, compared } = asked;
  await services.flush();
  const found = await services.reads.run(project.accountId, isAborted, async (slices) => {
    const read = (each: HourSpan): Promise<TrafficCounts | null> =>
      services.traffic.counts(project.id, dimension, each, selection, limit, slices);
    const counts = await read(span);
    const others = compared === null || counts === null ? null : await read(compared);
    return counts === null || (compared !== null && others === null) ? null : { counts, others };
  });
  if (found === null) return unread;
  const { counts, others } = found;
  const answer: TrafficAnswer = {
    ...trafficOf(counts, span),
    ...(compared !== null && others !== null && { compare: trafficOf(others, compared) }),
  };
  return json(200, answer);
}

function trafficOf(counts: TrafficCounts, span: HourSpan): Pick<TrafficAnswer, "data" | "meta"> {
  const { values, total, other, without, error } = counts;
  const from = isoTime(span.fromHour * hourMs);
  const to = isoTime(span.toHour * hourMs);
  return { data: [...values], meta: { total, other, without, from, to, error } };
}

interface TrafficQuery {
  readonly dimension: TrafficDimension;
  readonly limit: number;
  readonly selection: TrafficSelection;
  readonly span: HourSpan;
  readonly compared: HourSpan | null;
}

function readTrafficQuery(query: URLSearchParams, nowMs: number): TrafficQuery | Refusal {
  const span = readSpan(query, nowMs, 1);
  if (span instanceof Refusal) return span;
  const compared = comparedSpan(query.get("compare_from"), query.get("compare_to"), limits.trafficDaysMax);
  if (compared instanceof Refusal) return compared;
  const dimension = oneOf("group_by", query.get("group_by") ?? "", trafficDimensions);
  if (dimension instanceof Refusal) return dimension;
  const limit = limitOf(query, limits.trafficValuesDefault, limits.trafficValuesMax);
  if (limit instanceof Refusal) return limit;
  const subject = choiceOf(query, "subject", subjects);
  if (subject instanceof Refusal) return subject;
  const band = choiceOf(query, "band", bands);
  if (band instanceof Refusal) return band;
  const action = choiceOf(query, "action", actions);
  if (action instanceof Refusal) return action;
  return {
    dimension,
    limit,
    selection: { subject, band, action },
    span: hoursOf(span),
    compared: compared === null ? null : hoursOf(compared),
  };
}

function requestSamplesRoute(services: TrafficServices): ProjectRoute {
  return projectRoute("listRequests", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Samples of judged requests without a session",
      description:
        "The latest first. Of an hour, `--request-samples` are kept at random, for seven days; `weight` says for how many requests one stands. A sample has no " +
        "query and no header but the user agent; what looks like a token or an e-mail address in its path is `*`.",
      parameters: [
        {
          in: "query",
          name: "expression",
          description: "Rules language with the fields of searches (`action`, `rule_id`); empty: every sample",
          schema: { type: "string" },
        },
        ...spanParameters("24 hours"),
        {
          in: "query",
          name: "limit",
          description: "Rows of the page",
          schema: {
            type: "integer",
            minimum: 1,
            maximum: limits.requestSamplesPageMax,
            default: limits.pageDefault,
          },
        },
        { in: "query", name: "cursor", description: "`next_cursor` of the page before", schema: { type: "string" } },
      ],
      refusals: ["invalidPayload"],
    },
    handle: (call) => listSamples(services, call),
  });
}

async function listSamples(
  services: TrafficServices,
  { project, query, isAborted }: Asked<"listRequests">,
): Promise<Answered<"listRequests">> {
  const span = readSpan(query, services.now(), 1);
  if (span instanceof Refusal) return refusal(span);
  const limit = limitOf(query, limits.pageDefault, limits.requestSamplesPageMax);
  if (limit instanceof Refusal) return refusal(limit);
  const given = query.get("cursor");
  const after = given === null ? null : decodeCursor("r", given, positionBytes);
  if (given !== null && after === null) return refusal(refuse("invalidPayload", "cursor is not valid for this list"));
  const source = query.get("expression") ?? "";
  const compiled = source.trim() === "" ? null : compileRule(source, "search");
  if (compiled !== null && isRuleFault(compiled)) {
    return refusal(refuse("invalidPayload", `expression: ${compiled.message}`));
  }
  await services.flush();
  const matches = (sample: WeightedSample): boolean =>
    compiled === null || compiled.matches(inputOf(services, project, sample));
  const found = await services.reads.run(project.accountId, isAborted, (slices) =>
    pageOfSamples(services, project, { ...span, after, limit }, matches, slices),
  );
  if (found === null) return unread;
  const answer: RequestSamplesAnswer = {
    data: found.rows.map(sampleRow),
    meta: { next_cursor: found.nextCursor },
    from: isoTime(span.fromMs),
    to: isoTime(span.untilMs),
    evaluated_weight: Math.round(found.evaluatedWeight * 100) / 100,
    unavailable_fields: compiled === null ? [] : unsampledFields(compiled.ast),
  };
  return json(200, answer);
}

function inputOf({ addresses }: TrafficServices, project: Project, sample: WeightedSample) {
  return sampleInput(sample, project, addresses.listsOf);
}

/** Time of a sample, u48, and its draw, f64. */
const positionBytes = 14;

function positionOf({ atMs, draw }: WeightedSample): Buffer {
  const position = Buffer.alloc(positionBytes);
  position.writeUIntBE(atMs, 0, 6);
  position.writeDoubleBE(draw, 6);
  return position;
}

async function pageOfSamples(
  { traffic }: TrafficServices,
  project: Project,
  { fromMs, untilMs, after, limit }: TimeSpan & { readonly after: Buffer | null; readonly limit: number },
  matches: (sample: WeightedSample) => boolean,
  slices: Slices,
): Promise<{ rows: WeightedSample[]; evaluatedWeight: number; nextCursor: string | null } | null> {
  const rows: WeightedSample[] = [];
  /** Of all samples so far, and until the last row: what lies behind it is of the next page. */
  let [weight, weightOfRows] = [0, 0];
  let hasMore = false;
  const lastMs = after?.readUIntBE(0, 6) ?? 0;
  const lastDraw = after?.readDoubleBE(6) ?? 0;
  const end = after === null ? untilMs : Math.min(untilMs, lastMs + 1);
  const isWhole = await traffic.visitSamples(project.id, fromMs, end, slices, (sample) => {
    const isShown = after !== null && sample.atMs === lastMs && sample.draw <= lastDraw;
    if (isShown) return true;
    weight += sample.weight;
    if (!matches(sample)) return true;
    if (rows.length === limit) {
      hasMore = true;
      return false;
    }
    rows.push(sample);
    weightOfRows = weight;
    return true;
  });
  if (!isWhole) return null;
  const evaluatedWeight = hasMore ? weightOfRows : weight;
  return { rows, evaluatedWeight, nextCursor: hasMore ? encodeCursor("r", positionOf(rows.at(-1)!)) : null };
}

function sampleRow(sample: WeightedSample): RequestSampleRow {
  return {
    at: isoTime(sample.atMs),
    method: sample.method || null,
    path: sample.path || null,
    host: sample.host || null,
    ip: sample.ip || null,
    country: sample.country || null,
    asn: sample.asn,
    as_name: sample.asName || null,
    user_agent: sample.userAgent || null,
    declared_bot: sample.declaredBot || null,
    verified_bot: sample.verifiedBot || null,
    agent: sample.agent || null,
    band: sample.band,
    score: sample.score,
    action: sample.action,
    rule_id: sample.ruleId,
    detection_ids: [...sample.detectionIds],
    weight: Math.round(sample.weight * 100) / 100,
  };
}

const ruleMinutesShown = 60;

function ruleMinutesRoute({ traffic, flush, now }: TrafficServices): ProjectRoute {
  return projectRoute("getRuleHits", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Hits of rules by minute, in the last hour",
      description:
        "Computed verdicts that each rule decided or logged, by minute, the present one included; minutes without any are included. `GET …/stats?by=rule` has " +
        "them by hour, for as long as counts are kept. Answers from the cache of verdicts are not counted.",
    },
    handle: async ({ project }) => {
      await flush();
      const minutes = await traffic.ruleMinutes(project.id, now(), ruleMinutesShown);
      const data = minutes.map(({ startMs, hits }) => ({
        at: isoTime(startMs),
        hits_by_rule: Object.fromEntries(hits),
      }));
      return json(200, { data } satisfies RuleMinutesAnswer);
    },
  });
}

function crawlersRoute(services: TrafficServices): ProjectRoute {
  return projectRoute("listCrawlers", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Visits of crawlers by operator",
      description:
        "Verified crawlers and signed agents, and impostors: visitors with a crawler's user agent at an address that is not its operator's. By whole hours " +
        "of UTC; `paths` and `trend` are of verified visits.",
      parameters: spanParameters("7 days"),
      refusals: ["invalidPayload"],
    },
    handle: (call) => listCrawlers(services, call),
  });
}

async function listCrawlers(
  services: TrafficServices,
  { project, query, isAborted }: Asked<"listCrawlers">,
): Promise<Answered<"listCrawlers">> {
  const asked = readSpan(query, services.now(), 7);
  if (asked instanceof Refusal) return refusal(asked);
  const span = hoursOf(asked);
  await services.flush();
  const visits = await services.reads.run(project.accountId, isAborted, (slices) =>
    services.traffic.crawlers(project.id, span, slices),
  );
  if (visits === null) return unread;
  const firstDay = Math.floor(span.fromHour / 24);
  const days = Math.floor((span.toHour - 1) / 24) - firstDay + 1;
  const answer: CrawlersAnswer = {
    data: visits.map(({ operator, category, verified, impostors, lastMs, paths, days: byDay }) => ({
      operator,
      category: category || null,
      verified,
      impostors,
      last_at: isoTime(lastMs),
      paths: [...paths]
        .map(([value, count]) => ({ value, count }))
        .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
        .slice(0, limits.crawlerPathsShown),
      trend: Array.from({ length: days }, (_, index) => byDay.get(firstDay + index) ?? 0),
    })),
    from: isoTime(span.fromHour * hourMs),
    to: isoTime(span.toHour * hourMs),
  };
  return json(200, answer);
}

/** ms; `untilMs` is exclusive. */
interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

function readSpan(query: URLSearchParams, nowMs: number, defaultDays: number): TimeSpan | Refusal {
  const to = query.get("to");
  const untilMs = to === null ? nowMs : isoDateOrTimeMs(to);
  if (Number.isNaN(untilMs)) return refuse("invalidPayload", "to must be an ISO-8601 date, or date and time");
  const from = query.get("from");
  const fromMs = from === null ? defaultFrom(untilMs, defaultDays) : isoDateOrTimeMs(from);
  if (Number.isNaN(fromMs)) return refuse("invalidPayload", "from must be an ISO-8601 date, or date and time");
  if (fromMs >= untilMs) return refuse("invalidPayload", "from must be before to");
  if (fromMs < 0 || untilMs - fromMs > limits.trafficDaysMax * dayMs) {
    return refuse("invalidPayload", `from and to must be at most ${limits.trafficDaysMax} days apart, after 1970`);
  }
  return { fromMs, untilMs };
}

/** So that with the hour of `untilMs` it is a number of whole days. */
function defaultFrom(untilMs: number, days: number): number {
  return Math.max(0, Math.ceil(untilMs / hourMs) * hourMs - days * dayMs);
}

function hoursOf({ fromMs, untilMs }: TimeSpan): HourSpan {
  return { fromHour: Math.floor(fromMs / hourMs), toHour: Math.ceil(untilMs / hourMs) };
}

function limitOf(query: URLSearchParams, fallback: number, max: number): number | Refusal {
  const given = query.get("limit");
  const limit = given === null ? fallback : /^[0-9]{1,4}$/.test(given) ? Number(given) : 0;
  return limit >= 1 && limit <= max ? limit : refuse("invalidPayload", `limit must be a whole number from 1 to ${max}`);
}

function choiceOf<T extends string>(query: URLSearchParams, name: string, choices: readonly T[]): T | null | Refusal {
  const given = query.get(name);
  return given === null ? null : oneOf(name, given, choices);
}

function oneOf<T extends string>(name: string, given: string, choices: readonly T[]): T | Refusal {
  const found = choices.find((each) => each === given);
  if (found !== undefined) return found;
  const near = nearestWord(given, choices);
  const hint = near === undefined ? "" : `: did you mean ${near}?`;
  return refuse("invalidPayload", `${name} must be one of ${choices.join(", ")}${hint}`);
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
