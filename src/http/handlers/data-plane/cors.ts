/** Headers of the routes that scripts of any page may call, without cookies or other browser credentials. */
import { limits } from "../../../limits.js";
import type { PublicRoute } from "../../route.js";

/** For every answer, including refusals: any origin may read it. */
export const cors = [["Access-Control-Allow-Origin", "*"]] as const;

/** The latest form of packed points and clicks that this release reads; it reads the older ones, too. */
const packing = "2";

/** For an answer to a batch: the SDK may wait `times` its interval for the next one, and how points and clicks may be packed. */
export function ingestHeaders(times: number): readonly (readonly [name: string, value: string])[] {
  return [
    ...cors,
    ["Access-Control-Expose-Headers", "X-Verdict-Interval, X-Verdict-Packing"],
    ["X-Verdict-Interval", String(times)],
    ["X-Verdict-Packing", packing],
  ];
}

/** What the SDK sends. */
const ownHeaders = "Content-Type, Idempotency-Key, X-Service-Site-Key";

/**
 * The row of a path's CORS preflight. It allows the headers that it is asked for: a page's tracing tools add theirs (`traceparent`, `baggage`,
 * `sentry-trace`) to every request of the page, and nothing here reads them.
 */
export function preflightRoute(path: string, id: string): PublicRoute {
  return {
    method: "options",
    path,
    credential: "none",
    doc: { id, tag: "data plane", summary: `CORS preflight of \`${path}\``, answers: { 204: "empty" } },
    headers: ["access-control-request-headers"],
    handle: ({ headers: [asked = ""] }) => ({ status: 204, headers: preflight(asked) }),
  };
}

function preflight(asked: string): readonly (readonly [name: string, value: string])[] {
  const isList = asked.length <= limits.contextValueMax * 4 && /^[\w!#$%&'*+.^`|~, -]+$/.test(asked);
  return [
    ...cors,
    ["Access-Control-Allow-Methods", "POST"],
    ["Access-Control-Allow-Headers", isList ? asked : ownHeaders],
    ["Access-Control-Max-Age", "86400"],
    ["Vary", "Access-Control-Request-Headers"],
  ];
}
