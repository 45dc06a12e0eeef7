/**
 * A visitor's request as the body of `POST /v1/verdict`. What is in it was written by the visitor: whatever that is, the body is valid JSON
 * below verdictd's 64 KiB, so that no visitor can make the question fail. Credentials of the visitor stay in the backend.
 */
import type { RequestContext } from "../contract/verdicts/verdict.js";
import { textOfBytes } from "./context-headers.js";

/** Headers as lines, or as an object by name, as Node's `request.headers` are. */
export type VisitorHeaderLines = Iterable<readonly [name: string, value: string | readonly string[] | undefined]>;
type HeadersByName = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A visitor's request, as far as the backend knows it. */
export interface VisitorRequest extends RequestContext {
  /** The request target as the visitor sent it, which a signature may cover; for a backend whose `path` is another spelling, as its router's. */
  readonly target?: string | undefined;
  /** Values by name, in any case. Cookies, keys, tokens and other credentials among them are not sent. */
  readonly headers?: VisitorHeaderLines | HeadersByName | undefined;
}

/** What else may be asked with a request. */
export interface JudgeOptions {
  /** Asks for a session token for a visitor who brings none of use with a navigation: the answer's `session_token`. */
  readonly issueToken?: boolean | undefined;
  /** ms, 0 to 1000, for which verdictd may wait for a report of this session that has not come yet; the client's own time limit begins after it. */
  readonly waitMs?: number | undefined;
}

/**
 * Words of headers that hold credentials, such as `Authorization`, `Cookie`, `X-Api-Key`, `X-Auth-Token`, `Private-Token` and `Ocp-Apim-Subscription-Key`.
 * verdictd has no use for them, and they must not leave the backend.
 */
const secretWords =
  /(?:^|[-_])(?:x?api-?key|auth|authorization|authentication|bearer|cookie2?|credentials?|csrf|xsrf|csrftoken|jwt|key|passw(?:or)?d|secret|session-?id|session|token|[a-z]+(?:token|secret))(?:$|[-_\d])/;

const signatureNames: ReadonlySet<string> = new Set(["signature", "signature-input", "signature-agent"]);
/** What rules and the checks of a signature go by. */
const neededNames: readonly string[] = ["user-agent", "x-forwarded-proto", ...signatureNames];
/** As verdictd bounds them: characters of a value, of a signature's, and headers. */
const bounds = { value: 512, signature: 4096, headers: 100, name: 128 } as const;
/** Bytes that the headers' names and values have in the body. */
const headersBytesMax = 24_000;
/** Longer than what any path comes to for rules, so that a query, which a signature may cover, is whole in all but absurd requests. */
const pathMax = 8000;
/** JSON has up to six bytes for a character: a control character, or half of a pair. */
const bytesOfCharacterMax = 6;
const pathBytesMax = 24_000;
/** Bytes of a target beside a path: what leaves room for the headers. */
const targetBytesMax = 2000;

/**
 * `userAgent` counts where the headers have none. What is not text counts as missing: a caller without TypeScript may pass what a visitor's query was
 * parsed into. Never throws, whatever the visitor sent.
 */
export function judgedBody(
  sessionToken: string | null,
  { headers, target, ...context }: VisitorRequest,
  { issueToken, waitMs }: JudgeOptions = {},
): string {
  const sent: Record<string, string[]> = {};
  let left = headersBytesMax;
  let count = 0;
  const add = (name: string, value: unknown): void => {
    if (typeof value !== "string") return;
    const text = textOfBytes(value.slice(0, signatureNames.has(name) ? bounds.signature : bounds.value));
    const size = jsonBytes(name) + jsonBytes(text);
    if (size > left || count >= bounds.headers) return;
    left -= size;
    count++;
    // A visitor may send a header by the name of anything that objects have.
    if (!Object.hasOwn(sent, name)) Object.defineProperty(sent, name, { value: [], enumerable: true });
    sent[name]!.push(text);
  };
  const lines = [...linesOf(headers)].map(lineOf);
  // First what a visitor must not be able to push out with other headers.
  for (const wanted of neededNames)
    for (const [name, values] of lines) if (name === wanted) for (const value of values) add(name, value);
  if (!Object.hasOwn(sent, "user-agent")) add("user-agent", context.userAgent);
  for (const [name, values] of lines) {
    if (secretWords.test(name) || neededNames.includes(name) || name.length > bounds.name || /^(?::|$)/.test(name))
      continue;
    for (const value of values) add(name, value);
  }
  const cut = (text: unknown): string | undefined =>
    typeof text === "string" ? text.slice(0, bounds.value) : undefined;
  return JSON.stringify({
    session_token: sessionToken,
    issue_token: issueToken === true ? true : undefined,
    wait_ms: waitMs === undefined || waitMs <= 0 ? undefined : waitMs,
    request: {
      method: cut(context.method),
      path: typeof context.path === "string" ? boundedPath(context.path.slice(0, pathMax)) : undefined,
      target: isTellableTarget(target) ? target : undefined,
      host: cut(context.host ?? authorityOf(lines)),
      ip: cut(context.ip),
      headers: sent,
    },
  });
}

/** Name in lower case, "" for what is no header line, and values. */
function lineOf(line: unknown): readonly [name: string, values: readonly unknown[]] {
  const [name, values]: readonly unknown[] = Array.isArray(line) ? line : [];
  return typeof name === "string" ? [name.toLowerCase(), Array.isArray(values) ? values : [values]] : ["", []];
}

/** HTTP/2 sends the host as `:authority`, and no `Host`. */
function authorityOf(lines: readonly ReturnType<typeof lineOf>[]): unknown {
  if (lines.some(([name]) => name === "host")) return undefined;
  return lines.find(([name]) => name === ":authority")?.[1][0];
}

function linesOf(headers: VisitorRequest["headers"]): Iterable<unknown> {
  if (typeof headers !== "object" || headers === null) return [];
  return Symbol.iterator in headers ? (headers as VisitorHeaderLines) : Object.entries(headers);
}

/** Whether a target can be told beside a path. Without it there is no signature to verify. */
export function isTellableTarget(target: unknown): target is string {
  return typeof target === "string" && target.length <= targetBytesMax && jsonBytes(target) <= targetBytesMax;
}

function boundedPath(path: string): string {
  return jsonBytes(path) <= pathBytesMax ? path : path.slice(0, pathBytesMax / bytesOfCharacterMax);
}

/** Bytes of a text in the body. */
function jsonBytes(text: string): number {
  // Most texts are ASCII that JSON has nothing to escape in.
  return /^[ !#-[\]-~]*$/.test(text) ? text.length + 2 : new TextEncoder().encode(JSON.stringify(text)).length;
}
