/** What a log is asked for: `limit` and `cursor`. The same for every log, read and documented here. */
import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import { decodeIdCursor } from "../../../control-plane/logs/cursor.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";

/** The part of a query that all logs share; `limit` is from `limits.pageMin` to `limits.pageMax`. */
interface LogQuery {
  readonly limit: number;
  /** null: from the start. Whether it is one, the log itself knows. */
  readonly cursor: string | null;
}

/** `limit` and `cursor` for the OpenAPI document. */
export const logParameters: readonly ParameterDoc[] = [
  {
    in: "query",
    name: "limit",
    description: "Rows of the page",
    schema: { type: "integer", minimum: limits.pageMin, maximum: limits.pageMax, default: limits.pageDefault },
  },
  { in: "query", name: "cursor", description: "`next_cursor` of the page before", schema: { type: "string" } },
];

/** The query of a log, or an `invalidPayload` refusal. */
export function readLogQuery(query: URLSearchParams): LogQuery | Refusal {
  const given = query.get("limit");
  const limit = given === null ? limits.pageDefault : /^[0-9]{1,4}$/.test(given) ? Number(given) : 0;
  if (limit < limits.pageMin || limit > limits.pageMax) {
    return refuse("invalidPayload", `limit must be a whole number from ${limits.pageMin} to ${limits.pageMax}`);
  }
  return { limit, cursor: query.get("cursor") };
}

/** A page of a list by id: up to `limit` rows with ids above `after`. The same query and refusals as of a log. */
export function readIdPage(query: URLSearchParams): { readonly limit: number; readonly after: number } | Refusal {
  const asked = readLogQuery(query);
  if (asked instanceof Refusal) return asked;
  const after = decodeIdCursor(asked.cursor);
  if (after === null) return refuse("invalidPayload", "cursor is not valid for this list");
  return { limit: asked.limit, after };
}
