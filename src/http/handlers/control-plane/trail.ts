/** The course of one session, as far as it is kept: for people to look at. */
import type { TrailAnswer } from "../../../contract/log-answers.js";
import type { Trail } from "../../../contract/trail.js";
import type { Sessions } from "../../../control-plane/sessions.js";
import { refuse } from "../../../errors.js";
import type { Trails } from "../../../recording/trails.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";

/** Whether the session is there, and its trail. */
export interface TrailServices {
  readonly sessions: Pick<Sessions, "exists" | "load">;
  readonly trails: Pick<Trails, "read">;
}

/** By `projects:read`. A session without a trail has empty lists; 404 for a session that the project doesn't have. */
export function trailRoute({ sessions, trails }: TrailServices): ProjectRoute {
  return {
    method: "get",
    path: "/v1/projects/:project/sessions/:session_token/trail",
    credential: "project",
    needs: "projects:read",
    doc: {
      id: "getSessionTrail",
      tag: "logs",
      summary: "The timeline of a session: a coarse pointer path, and kinds of events with their times",
      description:
        "Kept of the latest sessions of a project only (`--trail-sessions`), and under load of a share of them: the lists are " +
        "empty then. Nothing of it is scored.",
      answers: { 200: "TrailAnswer" },
    },
    handle: async ({ project, params }) => {
      const token = params[1] ?? "";
      await sessions.load(project.id, token, "certain");
      if (!sessions.exists(project.id, token)) return refusal(refuse("notFound", "the project has no such session"));
      return json(200, answerOf(await trails.read(project.id, token)));
    },
  };
}

function answerOf(trail: Trail | null): TrailAnswer {
  if (trail === null) return { noted: 0, points: [], moments: [] };
  const { startedAtMs, noted, points, moments } = trail;
  return {
    noted,
    points: points.map(([x, y, kind]) => ({ x, y, kind })),
    moments: moments.map(({ at, type, count, path = null }) => ({
      at: new Date(startedAtMs + at * 100).toISOString(),
      type,
      count,
      path,
    })),
  };
}
