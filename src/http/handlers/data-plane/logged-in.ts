/** `POST /v1/sessions/{session_token}/logged-in`: the assertion that the session's visitor authenticated at the customer's. */
import type { LoggedInAnswer } from "../../../contract/sessions/session-answers.js";
import { wellFormedToken } from "../../../contract/sessions/session-cookie.js";
import type { Sessions } from "../../../control-plane/sessions/sessions.js";
import { refuse } from "../../../errors.js";
import { json, refusal } from "../../reply.js";
import type { KeyRoute } from "../../route.js";

/** The sessions; a session's record stores the assertion. */
interface LoggedInServices {
  readonly sessions: Sessions;
  readonly now: () => number;
}

/** By private key. 404 for a session of another project, 422 for a malformed token, a query or a body that is not `{}`. */
export function loggedInRoute({ sessions, now }: LoggedInServices): KeyRoute {
  return {
    method: "post",
    path: "/v1/sessions/:session_token/logged-in",
    credential: "private-key",
    readsBody: true,
    doc: {
      id: "assertLoggedIn",
      tag: "data plane",
      summary: "Assert that the session's visitor logged in",
      description: "Server-side only, on every login. Accepts no query, and no body except an empty JSON object.",
      answers: { 200: "LoggedInAnswer" },
      refusals: ["unknownSession", "invalidPayload"],
    },
    handle: async ({ params, query, body, holder }) => {
      const token = params[0] ?? "";
      if (!wellFormedToken.test(token)) return refusal(refuse("invalidPayload", "the session token is malformed"));
      // Before any await, because the body's memory is reused after that.
      const isEmpty = isEmptyBody(body);
      await sessions.load(holder.project.id, token, "certain");
      if (!sessions.exists(holder.project.id, token)) return unknownSession;
      if (query.size > 0) return refusal(refuse("invalidPayload", "no query string is accepted"));
      if (!isEmpty) return refusal(refuse("invalidPayload", "no body is accepted except an empty JSON object"));
      const atMs = now();
      if (!(await sessions.assertLoggedIn(holder.project.id, token, atMs))) return unknownSession;
      return json(200, { logged_in: true, asserted_at: new Date(atMs).toISOString() } satisfies LoggedInAnswer);
    },
  };
}

const unknownSession = refusal(
  refuse("unknownSession", "this project has no such session; it may not have sent its first report yet: try again"),
);

function isEmptyBody(body: Buffer): boolean {
  return body.length === 0 || /^\s*\{\s*\}\s*$/.test(body.toString("latin1"));
}
