/** The log of configuration changes. */
import type { AuditAnswer, AuditEntry } from "../../../contract/audit.js";
import type { LogPage } from "../../../control-plane/cursor.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import { json, refusal } from "../../reply.js";
import type { TokenRoute } from "../../route.js";
import { logParameters, readLogQuery } from "./log-query.js";
import { boundAccount } from "./wire.js";

export interface AuditServices {
  readonly page: (
    accountId: number,
    seesAccount: boolean,
    limit: number,
    cursor: string | null,
  ) => LogPage<AuditEntry> | Refusal;
  /** Null for a user who no longer exists. */
  readonly nameOf: (userId: number) => string | null;
}

export function auditRoute({ page, nameOf }: AuditServices): TokenRoute {
  return {
    method: "get",
    path: "/v1/audit",
    credential: "token",
    needs: "projects:read",
    doc: {
      id: "listChanges",
      tag: "logs",
      summary: "Changes of the configuration: who, what, before and after; the latest first",
      description:
        "Of projects, settings, rules and keys; owners and admins also see those of tokens, members and the account. It never holds a secret. " +
        `An account keeps its latest ${limits.auditEntriesMax}.`,
      parameters: logParameters,
      answers: { 200: "AuditAnswer" },
      refusals: ["invalidPayload", "forbidden"],
    },
    handle: ({ holder, query }) => {
      const account = boundAccount(holder);
      if (account instanceof Refusal) return refusal(account);
      const asked = readLogQuery(query);
      if (asked instanceof Refusal) return refusal(asked);
      const role = holder.membership?.role;
      const found = page(account.id, role === "owner" || role === "admin", asked.limit, asked.cursor);
      if (found instanceof Refusal) return refusal(found);
      const data = found.rows.map(({ id, at, userId, tokenId, projectId, action, subject, before, after }) => ({
        id,
        at,
        user: userId === null ? null : { id: userId, name: nameOf(userId) },
        token_id: tokenId,
        project_id: projectId,
        action,
        subject,
        before,
        after,
      }));
      return json(200, { data, meta: { next_cursor: found.nextCursor } } satisfies AuditAnswer);
    },
  };
}
