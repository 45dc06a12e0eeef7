/** `POST …/sessions/delete`: deletes the sessions that an expression holds for, or counts them first. */

import type { SessionDeletionAnswer } from "../../../contract/sessions/session-deletion.js";
import { type DeletionServices, deleteSessions } from "../../../control-plane/erasure/delete-sessions.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { readSpan } from "./session-query-route.js";

/** What a deletion needs, and ticks of the event loop for it. */
interface DeletionRouteServices extends DeletionServices {
  readonly work: LongWork;
  readonly now: () => number;
}

/** By `projects:write`. 409 while another query or deletion of the account runs, 422 for a bad expression, time or cursor. */
export function sessionDeletionRoute(services: DeletionRouteServices): ProjectRoute {
  return projectRoute("deleteSessions", {
    needs: "projects:write",
    doc: {
      tag: "logs",
      summary: "Delete the sessions that match an expression",
      description:
        "With `dry_run` they are counted, and nothing is deleted. A session is deleted with its blocks, its mark and every other row that names it, and can't be " +
        `restored; counts over time stay. One call looks at ${limits.sessionQueryMax} sessions and deletes ${limits.sessionDeletionMax} at most: ` +
        "`next_cursor` goes on. `at_most` bounds it to the number that was agreed to. It ends when its client goes; what was deleted by then is " +
        "in the log of changes. A cached verdict of a deleted session is answered until it expires. An account has one query or deletion " +
        "at a time: another is answered 409.",
      refusals: ["conflict"],
    },
    handle: (call) => remove(services, call),
  });
}

async function remove(
  services: DeletionRouteServices,
  { project, readBody, isAborted }: Asked<"deleteSessions">,
): Promise<Answered<"deleteSessions">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { expression, from, to, dry_run = false, at_most, cursor = null } = read.value;
  const span = readSpan(from, to, services.now());
  if (span instanceof Refusal) return refusal(span);
  const deletion = {
    ...span,
    expressionSource: expression,
    isDryRun: dry_run,
    atMost: at_most ?? Number.POSITIVE_INFINITY,
    cursor,
  };
  const found = await deleteSessions(services, project, deletion, services.work.begin(isAborted), services.now);
  if (found === null) return unread;
  if (found instanceof Refusal) return refusal(found);
  return json(200, {
    scanned: found.scanned,
    matched: found.matched,
    deleted: found.deleted,
    next_cursor: found.nextCursor,
    unavailable_fields: [...found.unavailableFields],
  } satisfies SessionDeletionAnswer);
}
