/** The answers of handlers, and their form on the wire. */
import { type ErrorKind, errorBody, errors, type Refusal } from "../errors.js";

/** An answer before it is written. `X-Request-Id` and the headers of every answer are added on writing. */
export interface Reply {
  readonly status: number;
  /** JSON text unless `contentType` says otherwise; absent for an empty body. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** `Cache-Control`. Default `no-store`, because answers have keys, tokens and data of visitors. */
  readonly cacheControl?: string;
  /** For a request that can't be parsed: nothing after it on its connection is read. Only during the synchronous callback. */
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

/** The default media type of answers. */
export const jsonType = "application/json; charset=utf-8";

declare const answered: unique symbol;
/** A reply that has, if it has a body and is no refusal, a `T` as JSON text. */
export interface JsonReply<T> extends Reply {
  readonly [answered]?: T;
}

/** An answer with `value` as JSON text. */
export function json<T>(status: number, value: T): JsonReply<T> {
  return { status, body: JSON.stringify(value) };
}

/** The answer to a client that has left: nobody reads it. */
export const unread: Reply = { status: 503 };

/** The answer to bad input: status and body from the error table. */
export function refusal(refused: Pick<Refusal, "error" | "message">): Reply {
  const kind: ErrorKind = errors[refused.error];
  return json(kind.status, errorBody(refused));
}

/**
 * Returns all header lines as the value of the first, which is `X-Request-Id`: each call to uWebSockets takes 0.1 µs, and it writes the value
 * unchanged. No answer may be sniffed (`nosniff`) or, unless it says otherwise, cached.
 */
export function headerLines(requestId: string, { headers, body, contentType, cacheControl }: Reply): string {
  let lines = `${requestId}\r\nCache-Control: ${cacheControl ?? "no-store"}\r\nX-Content-Type-Options: nosniff`;
  if (headers !== undefined) for (const [name, value] of headers) lines += `\r\n${name}: ${value}`;
  if (body !== undefined) lines += `\r\nContent-Type: ${contentType ?? jsonType}`;
  return lines;
}

/** The header lines of a plain JSON answer. */
export function jsonHeaderLines(requestId: string): string {
  return `${requestId}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Type: ${jsonType}`;
}

/** Returns status number and phrase in uWebSockets' form; the number alone for a status that no route uses. */
export const statusLine = (status: number): string => statusLines[status] ?? String(status);

/** 204 and 304 have neither body nor length (RFC 9110, 8.6). */
export const hasNoLength = (status: number): boolean => status === 204 || status === 304;
