/** `POST …/sessions/query`: sessions that match an expression of the rules language, with the most frequent values. Stores nothing. */

import type { Project } from "../../../contract/configuration/entities.js";
import type {
  QueriedSessionRow,
  SessionQueryAnswer,
  SessionQueryBody,
  SessionQueryRange,
} from "../../../contract/sessions/session-query.js";
import { dayMs } from "../../../contract/values/durations.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import {
  type QueriedSession,
  type QueriedSessions,
  querySessions,
  type SessionQuery,
  type SessionQueryServices,
  type TimeSpan,
} from "../../../control-plane/insight/query-sessions.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { describe, type MeaningOf } from "../../../verdict/verdict-text.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { comparedSpan } from "./compared-range.js";
import { sessionLogRow } from "./sessions.js";

/** What a query needs, and ticks of the event loop for it. */
interface SessionQueryRouteServices extends SessionQueryServices {
  readonly meaningOf: MeaningOf;
  readonly work: LongWork;
  readonly now: () => number;
}

/** By `projects:read`. 409 while another query of the account runs, 422 for a bad expression, time or cursor. */
export function sessionQueryRoute(services: SessionQueryRouteServices): ProjectRoute {
  return projectRoute("querySessions", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Search stored sessions with the rules language",
      description:
        "The sessions that began in a time range and match an expression, latest first, with the most frequent values and a chart by band. The expression " +
        "sees what each session last reported; guards are not applied first. A session without a score matches only the empty expression, because no " +
        `rule is evaluated for it. At most ${limits.sessionQueryMax} sessions are scanned; if the range has more, counts are those of an even sample. A page ` +
        "may have fewer rows than `limit`, even none, and still a `next_cursor`. An account can run one query at a time; another is " +
        "answered 409 until it has ended. It ends when its client disconnects. Nothing is stored.",
      refusals: ["conflict"],
    },
    handle: (call) => answerQuery(services, call),
  });
}

async function answerQuery(
  services: SessionQueryRouteServices,
  call: Asked<"querySessions">,
): Promise<Answered<"querySessions">> {
  const { project, readBody, isAborted } = call;
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const nowMs = services.now();
  const query = queryOf(read.value, nowMs);
  if (query instanceof Refusal) return refusal(query);
  const compared = readCompared(read.value);
  if (compared instanceof Refusal) return refusal(compared);
  const slices = services.work.begin(isAborted);
  const found = await querySessions(services, project, query, slices, nowMs);
  if (found === null) return unread;
  if (found instanceof Refusal) return refusal(found);
  const answer: SessionQueryAnswer = answerOf(project, query, found, services.meaningOf, nowMs);
  if (compared === null) return json(200, answer);
  const other = { ...query, ...compared };
  const others = await querySessions(services, project, other, slices, nowMs);
  if (others === null) return unread;
  if (others instanceof Refusal) return refusal(others);
  return json(200, { ...answer, compare: answerOf(project, other, others, services.meaningOf, nowMs) });
}

function readCompared({ compare_from, compare_to, cursor }: SessionQueryBody): TimeSpan | null | Refusal {
  const span = comparedSpan(compare_from, compare_to, limits.sessionQueryDaysMax);
  if (span !== null && cursor !== undefined) {
    return refuse("invalidPayload", "compare_from is for the first page; it can't be sent with a cursor");
  }
  return span;
}

/** A time in which sessions began; by default the last day. */
export function readSpan(from: string | undefined, to: string | undefined, nowMs: number): TimeSpan | Refusal {
  const untilMs = to === undefined ? nowMs : isoDateOrTimeMs(to);
  if (Number.isNaN(untilMs)) return refuse("invalidPayload", "to must be an ISO-8601 date, or date and time");
  const fromMs = from === undefined ? untilMs - dayMs : isoDateOrTimeMs(from);
  if (Number.isNaN(fromMs)) return refuse("invalidPayload", "from must be an ISO-8601 date, or date and time");
  if (fromMs >= untilMs) return refuse("invalidPayload", "from must be before to");
  if (fromMs < 0 || untilMs - fromMs > limits.sessionQueryDaysMax * dayMs) {
    return refuse("invalidPayload", `from and to must be at most ${limits.sessionQueryDaysMax} days apart, after 1970`);
  }
  return { fromMs, untilMs };
}

function queryOf(body: SessionQueryBody, nowMs: number): SessionQuery | Refusal {
  const { expression = "", from, to, group_by = [], top, limit, cursor } = body;
  const span = readSpan(from, to, nowMs);
  if (span instanceof Refusal) return span;
  if (cursor !== undefined && group_by.length > 0) {
    return refuse("invalidPayload", "group_by is for the first page; it can't be sent with a cursor");
  }
  return {
    expressionSource: expression,
    ...span,
    groupBy: group_by,
    top: top ?? limits.sessionQueryTopDefault,
    limit: limit ?? limits.pageDefault,
    cursor: cursor ?? null,
  };
}

function answerOf(
  project: Project,
  { fromMs, untilMs }: SessionQuery,
  found: QueriedSessions,
  meaningOf: MeaningOf,
  nowMs: number,
): SessionQueryRange {
  const { rows, nextCursor, scanned, matched, isSample, counts, unavailableFields } = found;
  return {
    data: rows.map((row) => rowOf(project, row, meaningOf, nowMs)),
    meta: { next_cursor: nextCursor },
    from: isoTime(fromMs),
    to: isoTime(untilMs),
    scanned,
    matched,
    is_sample: isSample,
    ...(counts !== null && {
      total: counts.total,
      groups: counts.groups.map(({ by, values, furtherValues, without }) => ({
        by,
        values: [...values],
        further_values: furtherValues,
        without,
      })),
      chart: {
        bar_seconds: counts.barMs / 1000,
        bars: counts.bars.map(({ startMs, verdicts }) => ({ at: isoTime(startMs), verdicts })),
      },
    }),
    unavailable_fields: [...unavailableFields],
  };
}

function rowOf(project: Project, session: QueriedSession, meaningOf: MeaningOf, nowMs: number): QueriedSessionRow {
  const { state, action, ruleId, unworded, network, agent } = session;
  return {
    ...sessionLogRow(project, session, nowMs),
    action,
    rule_id: ruleId,
    reason: unworded === null ? "" : describe(unworded, meaningOf).reason,
    path: state.last.path || null,
    host: state.last.host || null,
    ip: state.last.ip || null,
    user_agent: state.last.userAgent || null,
    country: network?.country ?? null,
    asn: network?.asn ?? null,
    as_name: network?.asName ?? null,
    agent: agent?.name ?? null,
    agent_certainty: agent?.certainty ?? null,
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
