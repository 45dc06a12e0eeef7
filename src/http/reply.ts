/** What handlers answer, and the one writer of it. */
import type { HttpResponse } from "uWebSockets.js";
import { type ErrorKind, errorBody, errors, type Refusal } from "../errors.js";

export interface Reply {
  readonly status: number;
  /** JSON text unless `contentType` says otherwise; absent for an empty body. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Whether the connection is closed behind it. */
  readonly closes?: boolean;
}

const statusLines: Readonly<Record<number, string>> = {
  200: "200 OK",
  201: "201 Created",
  202: "202 Accepted",
  204: "204 No Content",
  302: "302 Found",
  304: "304 Not Modified",
  401: "401 Unauthorized",
  402: "402 Payment Required",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  409: "409 Conflict",
  422: "422 Unprocessable Entity",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};

export const jsonType = "application/json; charset=utf-8";

export function json(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) };
}

/** The answer to bad input: status and body from the error table. */
export function refusal(refused: Pick<Refusal, "error" | "message">): Reply {
  const kind: ErrorKind = errors[refused.error];
  return json(kind.status, errorBody(refused));
}

/**
 * Writes a reply, all its headers in one call: each takes 0.1 us, and the value goes out as it is. `isLast` closes the connection behind it. Call inside
 * `cork`, once, and only while the client is still there.
 */
export function writeReply(res: HttpResponse, requestId: string, reply: Reply, isLast: boolean): void {
  res.writeStatus(statusLines[reply.status] ?? String(reply.status));
  let headers = requestId;
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) headers += `\r\n${name}: ${value}`;
  if (reply.body !== undefined) headers += `\r\nContent-Type: ${reply.contentType ?? jsonType}`;
  res.writeHeader("X-Request-Id", headers);
  if (reply.body === undefined) {
    // 204 and 304 have no length (RFC 9110, 8.6). Given any argument, `endWithoutBody` would say one of 2^63 bytes.
    if ((reply.status === 204 || reply.status === 304) && !isLast) res.endWithoutBody();
    else res.end(undefined, isLast);
    return;
  }
  res.end(reply.body, isLast);
}
