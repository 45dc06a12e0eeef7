/** The log of sessions and one session in detail: band and score as a verdict read would give them now. */

import type { KnownAgent } from "../../../contract/bots/agents.js";
import type { Project } from "../../../contract/configuration/entities.js";
import type { SessionMark } from "../../../contract/sessions/marks.js";
import type { SessionAnswer, SessionRow, SessionsAnswer } from "../../../contract/sessions/session-answers.js";
import type { Marks } from "../../../control-plane/sessions/marks.js";
import type { LoggedSession } from "../../../control-plane/sessions/session-log.js";
import type { SessionDetail, Sessions } from "../../../control-plane/sessions/sessions.js";
import { Refusal, refuse } from "../../../errors.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { type AgentLists, agentEvidence, knownAgent } from "../../../verdict/known-agent.js";
import { resolve } from "../../../verdict/resolve.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { logParameters, readLogQuery } from "./log-query.js";
import { markView } from "./marks.js";

/** Sessions and their marks, and ticks of the event loop for pages. */
interface SessionServices {
  readonly sessions: Sessions;
  readonly marks: Marks;
  readonly agents: AgentLists;
  readonly work: LongWork;
  readonly now: () => number;
}

/** `GET …/sessions` and `GET …/sessions/{session_token}`, both by `projects:read`; 404 for another project's session. */
export function sessionRoutes({ sessions, marks, agents, work, now }: SessionServices): ProjectRoute[] {
  return [
    projectRoute("listSessions", {
      needs: "projects:read",
      doc: {
        tag: "logs",
        summary: "The sessions of a project, latest first",
        description:
          "By `first_seen_at`, the latest first. The band follows the current threshold; no rule is evaluated.",
        parameters: logParameters,
        refusals: ["invalidPayload"],
      },
      handle: (call) => listSessions(sessions, call, agents, work, now()),
    }),
    projectRoute("getSession", {
      needs: "projects:read",
      doc: { tag: "logs", summary: "One session with the engines' scores and every detection that fired" },
      handle: async ({ project, params }) => {
        await sessions.load(project.id, params[1] ?? "", "certain");
        const found = sessions.detail(project.id, params[1] ?? "");
        return found === null
          ? missing
          : json(200, sessionView(project, found, await marks.find(project.id, found.token), agents, now()));
      },
    }),
  ];
}

const missing = refusal(refuse("notFound", "the project has no such session"));

async function listSessions(
  sessions: Sessions,
  { project, query, isAborted }: Asked<"listSessions">,
  agents: AgentLists,
  work: LongWork,
  nowMs: number,
): Promise<Answered<"listSessions">> {
  const asked = readLogQuery(query);
  if (asked instanceof Refusal) return refusal(asked);
  const page = await sessions.page(project.id, asked.limit, asked.cursor, work.begin(isAborted));
  if (page === null) return unread;
  if (page instanceof Refusal) return refusal(page);
  const data = page.rows.map((row) => ({
    ...sessionLogRow(project, row, nowMs),
    agent: agentOf(row.state, agents) ?? null,
  }));
  return json(200, { data, meta: { next_cursor: page.nextCursor } } satisfies SessionsAnswer);
}

/** Resolved as a verdict without rules and without a request context: guards and rules decide actions, not bands. */
export function sessionLogRow(project: Project, { token, beganMs, state }: LoggedSession, nowMs: number): SessionRow {
  const { verifiedBot } = state;
  const { verdict } = resolve({ state, project, rules: [], context: {}, verifiedBot, meaningOf: () => "", nowMs });
  return {
    session_token: token,
    verdict: verdict.verdict,
    score: verdict.score,
    detection_ids: verdict.detection_ids,
    event_count: state.eventCount,
    first_seen_at: new Date(beganMs).toISOString(),
    last_seen_at: new Date(state.lastSeenMs).toISOString(),
  };
}

function agentOf(state: LoggedSession["state"], agents: AgentLists): KnownAgent | undefined {
  return knownAgent({ state, verifiedBot: state.verifiedBot }, agents);
}

function sessionView(
  project: Project,
  session: SessionDetail,
  mark: SessionMark | null,
  agents: AgentLists,
  nowMs: number,
): SessionAnswer {
  const { state, detections } = session;
  const agent = agentOf(state, agents);
  return {
    ...sessionLogRow(project, session, nowMs),
    engines: state.engineScores,
    detections: detections.map(({ id, slug, engine, contribution, evidence }) => ({
      id,
      slug,
      engine,
      contribution,
      evidence: evidence as SessionAnswer["detections"][number]["evidence"],
    })),
    path: state.last.path || null,
    ip: state.last.ip || null,
    user_agent: state.last.userAgent || null,
    logged_in_at: state.loggedInAtMs === 0 ? null : new Date(state.loggedInAtMs).toISOString(),
    cleared_at: state.clearance === null ? null : new Date(state.clearance.atMs).toISOString(),
    agent:
      agent === undefined
        ? null
        : {
            ...agent,
            evidence: agentEvidence(agent, state, detections, agents),
            since: sinceOf(agent, session.agentTimes),
          },
    mark: mark === null ? null : markView(mark),
  };
}

function sinceOf({ certainty }: KnownAgent, times: SessionDetail["agentTimes"]): string | null {
  const atMs = certainty === "marked" || certainty === "behavior" ? times[certainty] : 0;
  return atMs === 0 ? null : new Date(atMs).toISOString();
}
