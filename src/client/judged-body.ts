/**
 * A visitor's request as the body of `POST /v1/verdict`. What is in it was written by the visitor: whatever that is, the body is valid JSON
 * below verdictd's 64 KiB, so that no visitor can make the question fail. Credentials of the visitor stay in the backend.
 */
import type { RequestContext } from "../contract/verdict.js";
import { textOfBytes } from "./context-headers.js";

/** A visitor's request, as far as the backend knows it. */
export interface VisitorRequest extends RequestContext {
  /** Values by name, in any case. Cookies and credentials among them are not sent. */
  readonly headers?: Iterable<readonly [name: string, value: string | readonly string[] | undefined]>;
}

/** What verdictd has no use for, and what must not leave the backend. */
const withheld: ReadonlySet<string> = new Set([
  "cookie",
  "authorization",
  "proxy-authorization",
  "x-service-session",
  "x-service-private-key",
]);

const signatureNames: ReadonlySet<string> = new Set(["signature", "signature-input", "signature-agent"]);
/** As verdictd bounds them: characters of a value, of a signature's, and headers. */
const bounds = { value: 512, signature: 4096, headers: 100, name: 128 } as const;
/** Characters of all headers together: with escapes and UTF-8 still below the body's bound. */
const charactersMax = 20_000;

/** `userAgent` counts where the headers have none. Never throws, whatever the visitor sent. */
export function judgedBody(sessionToken: string | null, { headers = [], ...context }: VisitorRequest): string {
  const sent: Record<string, string[]> = {};
  let left = charactersMax;
  let count = 0;
  let hasAgent = false;
  const add = (name: string, value: string): void => {
    const text = textOfBytes(value.slice(0, signatureNames.has(name) ? bounds.signature : bounds.value));
    left -= name.length + text.length;
    if (left < 0 || ++count > bounds.headers) return;
    // A visitor may send a header by the name of anything that objects have.
    if (!Object.hasOwn(sent, name)) Object.defineProperty(sent, name, { value: [], enumerable: true });
    sent[name]!.push(text);
    if (name === "user-agent") hasAgent = true;
  };
  for (const [given, values = []] of headers) {
    const name = given.toLowerCase();
    if (withheld.has(name) || name === "" || name.length > bounds.name || name.startsWith(":")) continue;
    for (const value of typeof values === "string" ? [values] : values) add(name, value);
  }
  if (!hasAgent && context.userAgent !== undefined) add("user-agent", context.userAgent);
  const cut = (text: string | undefined, max: number): string | undefined => text?.slice(0, max);
  return JSON.stringify({
    session_token: sessionToken,
    request: {
      method: cut(context.method, bounds.value),
      path: cut(context.path, pathMax),
      host: cut(context.host, bounds.value),
      ip: cut(context.ip, bounds.value),
      headers: sent,
    },
  });
}

/** Longer than what any path comes to for rules, so that a query, which a signature may cover, is whole in all but absurd requests. */
const pathMax = 8000;
