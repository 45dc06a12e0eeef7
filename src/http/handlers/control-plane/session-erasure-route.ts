/** Erasing a session with every row that names it, for who is asked to forget a visitor. */

import { refuse } from "../../../errors.js";
import { projectRoute } from "../../operation-route.js";
import { refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";

/** What removes a session wherever its rows lie. */
interface SessionErasure {
  /** Whether the project had such a session. Rejects with `unavailable` when a row of it may be left. */
  erase(projectId: number, token: string): Promise<boolean>;
}

/** `DELETE …/sessions/{session_token}`, `projects:write`: 204 once every row is gone, 404 without such a session. */
export function sessionErasureRoute({ erase }: SessionErasure): ProjectRoute {
  return projectRoute("eraseSession", {
    needs: "projects:write",
    doc: {
      tag: "logs",
      summary: "Erase a session, its blocks, its mark and every other row that names it",
      description: "A cached verdict of it may be answered until it expires. Counts of events stay: they name nobody.",
    },
    handle: async ({ project, params }) =>
      (await erase(project.id, params[1] ?? ""))
        ? { status: 204 }
        : refusal(refuse("notFound", "the project has no such session")),
  });
}
