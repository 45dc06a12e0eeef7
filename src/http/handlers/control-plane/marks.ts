/** Marks of sessions: set, removed, and read as a list with what they say of the detections. */

import type { MarkAnswer, MarksAnswer, MarkTotals, SessionMark } from "../../../contract/sessions/marks.js";
import type { MarkCounts, Marks } from "../../../control-plane/sessions/marks.js";
import { Refusal, refuse } from "../../../errors.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { logParameters, readLogQuery } from "./log-query.js";

/** The marks, and ticks of the event loop for their totals. */
interface MarkServices {
  readonly marks: Marks;
  readonly work: LongWork;
}

/** `PUT` and `DELETE …/sessions/{session_token}/mark` by `projects:write`, `GET …/marks` by `projects:read`. */
export function markRoutes({ marks, work }: MarkServices): ProjectRoute[] {
  return [
    projectRoute("markSession", {
      needs: "projects:write",
      doc: {
        tag: "logs",
        summary: "Mark a session as a person or a bot",
        description:
          "The mark is kept with the session's current band, score and detections, for as long as blocks are kept. It changes no score, and no rule reads it.",
        refusals: ["conflict"],
      },
      handle: (call) => setMark(marks, call),
    }),
    projectRoute("unmarkSession", {
      needs: "projects:write",
      doc: { tag: "logs", summary: "Remove a session's mark" },
      handle: async ({ project, params }) =>
        (await marks.remove(project.id, params[1] ?? ""))
          ? { status: 204 }
          : refusal(refuse("notFound", "the session has no mark")),
    }),
    projectRoute("listMarks", {
      needs: "projects:read",
      doc: {
        tag: "logs",
        summary: "The marks of a project's sessions, with counts of errors",
        parameters: logParameters,
        refusals: ["invalidPayload"],
      },
      handle: async ({ project, query, isAborted }) => {
        const asked = readLogQuery(query);
        if (asked instanceof Refusal) return refusal(asked);
        const page = await marks.page(project.id, asked.limit, asked.cursor);
        if (page instanceof Refusal) return refusal(page);
        const counts = await marks.counts(project.id, work.begin(isAborted));
        if (counts === null) return unread;
        const data = page.rows.map(markView);
        return json(200, {
          data,
          meta: { next_cursor: page.nextCursor },
          totals: totalsOf(counts),
        } satisfies MarksAnswer);
      },
    }),
  ];
}

async function setMark(
  marks: Marks,
  { project, params, readBody, holder }: Asked<"markSession">,
): Promise<Answered<"markSession">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const mark = await marks.set(project, params[1] ?? "", read.value.as, holder.token.userId);
  return mark instanceof Refusal ? refusal(mark) : json(200, markView(mark));
}

/** A stored mark as the API shows it. */
export function markView(mark: SessionMark): MarkAnswer {
  return {
    session_token: mark.sessionToken,
    as: mark.as,
    marked_at: mark.markedAt,
    user_id: mark.userId,
    verdict: mark.band,
    score: mark.score,
    detection_ids: mark.detectionIds,
  };
}

function totalsOf({ persons, falsePositives, bots, missedBots, byDetection }: MarkCounts): MarkTotals {
  return {
    persons,
    false_positives: falsePositives,
    bots,
    missed_bots: missedBots,
    by_detection: [...byDetection]
      .map(([id, of]) => ({ id, ...of }))
      .sort((one, other) => other.persons - one.persons || other.bots - one.bots || one.id - other.id),
  };
}
