/**
 * The request context as headers of a verdict read. What is in it was written by the visitor: whatever that is, the headers are valid and of
 * bounded length, so that no visitor can make a read of theirs fail (they would be let in) or open the circuit breaker for everybody.
 */
import type { RequestContext } from "../contract/verdicts/verdict.js";
import { headerPath, rulePath } from "../contract/verdicts/visitor-request.js";

/** verdictd refuses requests whose line and headers are over 16 KiB together, and keeps 512 characters of a value. */
const bytesMax = { method: 20, host: 260, ip: 64, userAgent: 1536 } as const;
const charactersMax = 512;

/** `X-Service-…` of what is known; a value that is not text counts as missing. Never throws, whatever the visitor sent. */
export function contextHeaders({ path, method, host, ip, userAgent }: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {};
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== "") headers[name] = value;
  };
  const seen = typeof path === "string" ? rulePath(path) : undefined;
  set("X-Service-Request-Path", seen === undefined ? undefined : headerPath(seen));
  set("X-Service-Request-Method", headerValue(method, bytesMax.method));
  set("X-Service-Request-Host", headerValue(host, bytesMax.host));
  set("X-Service-Client-IP", headerValue(ip, bytesMax.ip));
  set("X-Service-Client-UA", headerValue(userAgent, bytesMax.userAgent));
  return headers;
}

/** Control characters become spaces; characters outside ASCII their UTF-8 bytes, a character each, as `fetch` wants them. */
function headerValue(text: string | undefined, bytesMax: number): string | undefined {
  if (typeof text !== "string") return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const clean = text.slice(0, charactersMax).replace(/[\u0000-\u001f\u007f]/g, " ");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\u0000-\u007f]*$/.test(clean)) return clean.slice(0, bytesMax).trim();
  const bytes = bytesOf(clean);
  return String.fromCharCode(...bytes.subarray(0, bytesMax)).trim();
}

/**
 * Servers and runtimes hand out header values with a character for each byte: such a text is bytes already, where they make UTF-8. Any other
 * one is a text of the caller's own.
 */
function bytesOf(text: string): Uint8Array {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that a byte can be
  if (/^[\u0000-\u00ff]*$/.test(text)) {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return bytes;
    } catch {
      // Not UTF-8: a text after all.
    }
  }
  return new TextEncoder().encode(text);
}

/** Such a value as text. */
export function textOfBytes(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return /^[\u0000-\u007f]*$/.test(value) ? value : new TextDecoder().decode(bytesOf(value));
}
