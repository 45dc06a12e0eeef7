/**
 * The request context as the query of a verdict read. What is in it was written by the visitor, so its length is bounded: a request
 * too long for verdictd would fail, and a visitor who can make reads fail could open the circuit breaker for everybody.
 */
import type { RequestContext } from "../contract/verdict.js";

interface Parameter {
  readonly name: string;
  readonly field: keyof RequestContext;
  /** Characters of the value after encoding. */
  readonly encodedMax: number;
}

/**
 * verdictd keeps 512 characters of a value and refuses requests whose line and headers are over 4 KiB together. A path of 512
 * ASCII characters always fits; in all it stays below 3 KB, with room for the token, the key and fetch's own headers.
 */
const parameters: readonly Parameter[] = [
  { name: "path", field: "path", encodedMax: 1536 },
  { name: "method", field: "method", encodedMax: 20 },
  { name: "host", field: "host", encodedMax: 260 },
  { name: "ip", field: "ip", encodedMax: 80 },
  { name: "user_agent", field: "userAgent", encodedMax: 900 },
];

const valueCharactersMax = 512;

/** `?path=…&…` with what is known, or "". Never throws, whatever the visitor sent. */
export function contextQuery(context: RequestContext): string {
  let query = "";
  for (const { name, field, encodedMax } of parameters) {
    const value = context[field];
    if (value === undefined || value === "") continue;
    query += `${query === "" ? "?" : "&"}${name}=${encoded(value, encodedMax)}`;
  }
  return query;
}

function encoded(value: string, encodedMax: number): string {
  let kept = value.slice(0, valueCharactersMax);
  for (;;) {
    // URLSearchParams, not encodeURIComponent: it replaces half a surrogate pair instead of throwing.
    const text = new URLSearchParams({ "": kept }).toString().slice(1);
    if (text.length <= encodedMax) return text;
    kept = kept.slice(0, Math.floor((kept.length * encodedMax) / text.length) || 0);
  }
}
