/** The log of configuration changes. */

import { isAdministrator } from "../../../auth/abilities.js";
import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import {
  type AuditAnswer,
  type AuditEntry,
  accountOfServer,
  auditKinds,
} from "../../../contract/configuration/audit.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import type { AuditQuery } from "../../../control-plane/logs/audit.js";
import type { LogPage } from "../../../control-plane/logs/cursor.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import type { Slices } from "../../../runtime/long-work.js";
import { tokenRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { TokenRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { logParameters, readLogQuery } from "./log-query.js";
import { boundAccount } from "./wire.js";

/** The log of changes, and the users' names of now. */
interface AuditServices {
  readonly page: (query: AuditQuery, slices: Slices) => Promise<LogPage<AuditEntry> | Refusal | null>;
  readonly reads: AccountReads;
  /** Null for a user who no longer exists. */
  readonly nameOf: (userId: number) => string | null;
}

const time = { type: "string", description: "ISO-8601: a date, or date and time; UTC where no zone is given" };
const parameters: readonly ParameterDoc[] = [
  {
    in: "query",
    name: "project",
    description: "Only changes of this project",
    schema: { type: "integer", minimum: 1 },
  },
  {
    in: "query",
    name: "kind",
    description: "Only changes whose action begins with this",
    schema: { type: "string", enum: [...auditKinds] },
  },
  { in: "query", name: "from", description: "Start", schema: time },
  { in: "query", name: "to", description: "End, exclusive", schema: time },
];

/** `GET /v1/audit`, `projects:read`: a page of changes, the latest first, filtered by project, kind and time. */
export function auditRoute({ page, reads, nameOf }: AuditServices): TokenRoute {
  return tokenRoute("listChanges", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "Changes of the configuration, latest first: who, what, before and after",
      description:
        "Changes of projects, settings, rules and keys, and deleted sessions; owners and admins also see changes of tokens, members and the account, and " +
        "those of the whole server: IP lists, catalogues of bots, signed agents. It never contains a secret. " +
        "Changes of one thing by one token within a minute are one entry with a count. " +
        `An account keeps ${limits.auditEntriesMax} of each group: people and tokens; projects and keys; settings; rules and the rest. So does the server. ` +
        "In a full group the oldest change of the user who made most of them goes first.",
      parameters: [...logParameters, ...parameters],
      refusals: ["invalidPayload", "forbidden"],
    },
    handle: async ({ holder, query, isAborted }) => {
      const account = boundAccount(holder);
      if (account instanceof Refusal) return refusal(account);
      const asked = readLogQuery(query);
      if (asked instanceof Refusal) return refusal(asked);
      const filters = readFilters(query);
      if (filters instanceof Refusal) return refusal(filters);
      const seesAccount = isAdministrator(holder.membership?.role ?? null);
      const wanted = { accountId: account.id, seesAccount, ...filters, ...asked };
      const found = await reads.run(account.id, isAborted, (slices) => page(wanted, slices));
      if (found === null) return unread;
      if (found instanceof Refusal) return refusal(found);
      const data = found.rows.map(
        ({ id, accountId, at, userId, tokenId, projectId, action, subject, before, after, count }) => ({
          id,
          scope: scopeOf(accountId, projectId),
          at,
          user: userId === null ? null : { id: userId, name: nameOf(userId) },
          token_id: tokenId,
          project_id: projectId,
          action,
          subject,
          before,
          after,
          count: count ?? 1,
        }),
      );
      return json(200, { data, meta: { next_cursor: found.nextCursor } } satisfies AuditAnswer);
    },
  });
}

function scopeOf(accountId: number, projectId: number | null): "server" | "account" | "project" {
  if (accountId === accountOfServer) return "server";
  return projectId === null ? "account" : "project";
}

type Filters = Pick<AuditQuery, "projectId" | "kind" | "fromMs" | "untilMs">;

/** A project of another account has no changes in this log. */
function readFilters(query: URLSearchParams): Filters | Refusal {
  const project = query.get("project");
  const projectId = project === null ? null : positiveInteger(project);
  if (project !== null && projectId === null) return refuse("invalidPayload", "project must be the id of a project");
  const kind = query.get("kind");
  if (kind !== null && !auditKinds.has(kind)) {
    return refuse("invalidPayload", `kind must be one of ${[...auditKinds].join(", ")}`);
  }
  const [from, to] = [query.get("from"), query.get("to")];
  const fromMs = from === null ? Number.NEGATIVE_INFINITY : isoDateOrTimeMs(from);
  const untilMs = to === null ? Number.POSITIVE_INFINITY : isoDateOrTimeMs(to);
  if (Number.isNaN(fromMs) || Number.isNaN(untilMs)) {
    return refuse("invalidPayload", "from and to must be ISO-8601 dates, or dates and times");
  }
  return { projectId, kind, fromMs, untilMs };
}
