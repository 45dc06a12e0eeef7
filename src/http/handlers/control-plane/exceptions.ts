/** Exceptions of a project: whom it lets through until when, before any rule is asked. List, make, remove. */

import type { ExceptionAnswer, ExceptionsAnswer } from "../../../contract/configuration/exceptions.js";
import type { ExceptionWarnings } from "../../../control-plane/exceptions/exception-warnings.js";
import { type Exceptions, exceptionRow } from "../../../control-plane/exceptions/exceptions.js";
import { readException } from "../../../control-plane/exceptions/new-exception.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { logParameters, readIdPage } from "./log-query.js";

/** The exceptions, and what is said of a new one. */
interface ExceptionServices {
  readonly exceptions: Exceptions;
  readonly warnings: ExceptionWarnings;
  readonly work: LongWork;
  readonly now: () => number;
}

/** The list by `projects:read`, changes by `projects:write`. */
export function exceptionRoutes(services: ExceptionServices): ProjectRoute[] {
  return [
    projectRoute("listExceptions", {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: "Whom the project lets through, the oldest exception first",
        description: "Exceptions that have expired are not listed, and are erased within an hour.",
        parameters: logParameters,
        refusals: ["invalidPayload"],
      },
      handle: ({ project, query }) => {
        const asked = readIdPage(query);
        if (asked instanceof Refusal) return refusal(asked);
        const page = services.exceptions.page(project.id, asked.limit, asked.after);
        const answer: ExceptionsAnswer = {
          data: page.rows.map(exceptionRow),
          meta: { next_cursor: page.nextCursor },
        };
        return json(200, answer);
      },
    }),
    projectRoute("createException", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Let somebody through",
        description:
          "Until `expires_at` the subject's verdicts have the action `allow`, before any rule is asked; it takes effect at once. " +
          "`warning` says when it lets a definite bot through, a very wide network, a name that anybody can copy, or one that no list has. " +
          `A project has at most ${limits.exceptionsPerProjectMax}; one more is answered 409.`,
        refusals: ["conflict"],
      },
      handle: (call) => create(services, call),
    }),
    projectRoute("deleteException", {
      needs: "projects:write",
      doc: { tag: "control plane", summary: "Let somebody through no longer" },
      handle: async ({ project, params }) => {
        const id = positiveInteger(params[1]);
        if (id === null) return missing;
        const removed = await services.exceptions.remove(project, id);
        return removed instanceof Refusal ? refusal(removed) : { status: 204 };
      },
    }),
  ];
}

async function create(
  { exceptions, warnings, work, now }: ExceptionServices,
  { project, readBody, isAborted }: Asked<"createException">,
): Promise<Answered<"createException">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const asked = readException(read.value, now());
  if (asked instanceof Refusal) return refusal(asked);
  const warning = await warnings.of(project, asked, work.begin(isAborted));
  if (warning === "aborted") return unread;
  if (warning instanceof Refusal) return refusal(warning);
  const created = await exceptions.create(project, asked);
  if (created instanceof Refusal) return refusal(created);
  const answer: ExceptionAnswer = { ...exceptionRow(created), ...(warning !== null && { warning }) };
  return json(201, answer);
}

const missing = refusal(refuse("notFound", "the project has no such exception"));
