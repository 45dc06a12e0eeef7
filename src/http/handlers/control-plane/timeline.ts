/** The course of one session, as far as it is kept: for people to look at. */

import type { TimelineAnswer } from "../../../contract/sessions/session-answers.js";
import type { Timeline } from "../../../contract/sessions/timeline.js";
import type { Sessions } from "../../../control-plane/sessions/sessions.js";
import { refuse } from "../../../errors.js";
import type { Timelines } from "../../../recording/timelines.js";
import { projectRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";

/** Whether the session is there, and its timeline. */
interface TimelineServices {
  readonly sessions: Pick<Sessions, "exists" | "load">;
  readonly timelines: Pick<Timelines, "read">;
}

/** By `projects:read`. A session without a timeline has empty lists; 404 for a session that the project doesn't have. */
export function timelineRoute({ sessions, timelines }: TimelineServices): ProjectRoute {
  return projectRoute("getSessionTimeline", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "The timeline of a session: a coarse pointer path, and kinds of events with their times",
      description:
        "Kept of the latest sessions of a project only (`--timeline-sessions`), and under load of a share of them: the lists are " +
        "empty then. Nothing of it is scored.",
    },
    handle: async ({ project, params }) => {
      const token = params[1] ?? "";
      await sessions.load(project.id, token, "certain");
      if (!sessions.exists(project.id, token)) return refusal(refuse("notFound", "the project has no such session"));
      return json(200, answerOf(await timelines.read(project.id, token)));
    },
  });
}

function answerOf(timeline: Timeline | null): TimelineAnswer {
  if (timeline === null) return { noted: 0, points: [], moments: [] };
  const { startedAtMs, noted, points, moments: entries } = timeline;
  return {
    noted,
    points: points.map(([x, y, kind]) => ({ x, y, kind })),
    moments: entries.map(({ at, type, count, path = null }) => ({
      at: new Date(startedAtMs + at * 100).toISOString(),
      type,
      count,
      path,
    })),
  };
}
