/**
 * Decodes the body of `POST /v1/verdict`. What a visitor wrote can't make the call fail: it is cut, skipped or treated as missing, and the answer says
 * so. Only a body that does not fit this call is refused.
 */
import { type JsonObject, parseLenientJsonObject } from "../../../contract/json-body.js";
import { httpVersionOf, type JudgedRequest, type VerdictQuestion } from "../../../contract/judged-request.js";
import { isNavigation } from "../../../contract/navigation.js";
import { wellFormedToken } from "../../../contract/session-token.js";
import type { RequestContext } from "../../../contract/verdict.js";
import { rulePath } from "../../../contract/visitor-request.js";
import { Refusal, refuse } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { goodHost, goodMethod } from "./request-context.js";

/** What was trimmed from a request; all false at the start. */
export interface Trimming {
  /** A value was cut. */
  isCut: boolean;
  /** Header lines beyond `limits.requestHeadersMax`. */
  isOver: boolean;
  /** A field or a header of a wrong type, or a value that its field does not allow. */
  isIgnored: boolean;
}

/** Returns an empty trimming, to be marked while a request is read. */
export function untrimmed(): Trimming {
  return { isCut: false, isOver: false, isIgnored: false };
}

/** A question for a verdict, and what was trimmed from it. */
export interface DecodedQuestion extends VerdictQuestion {
  readonly trimming: Trimming;
  /** ms to wait for a report of the session. */
  readonly waitMs: number;
}

/** Returns `invalidPayload` for a body that is no JSON object, or that has no `request`. */
export function decodeVerdictBody(
  bytes: Buffer,
  canonicalIp: (text: string) => string | undefined,
): DecodedQuestion | Refusal {
  const body = parseLenientJsonObject(bytes);
  if (body instanceof Refusal) return body;
  const { session_token: token, issue_token: issue, wait_ms: waitMs = 0, request } = body;
  if (!isObject(request)) return refuse("invalidPayload", "request must be an object");
  if (!isWait(waitMs))
    return refuse("invalidPayload", `wait_ms must be an integer from 0 to ${limits.reportWaitMsMax}`);
  const trimming = untrimmed();
  const text = (name: string): string | undefined => {
    const value = request[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string") return value;
    trimming.isIgnored = true;
    return undefined;
  };
  /** Treats an unreadable value as missing. */
  const read = <T>(name: string, decode: (sent: string) => T | undefined): T | undefined => {
    const sent = text(name);
    const value = sent === undefined ? undefined : decode(sent);
    if (sent !== undefined && value === undefined) trimming.isIgnored = true;
    return value;
  };
  const lines = new HeaderCollector(trimming);
  const cut = (sent: string): string | undefined => lines.bounded(sent) || undefined;
  const form = readHeaders(lines, request["headers"]);
  const { headers } = lines;
  const context: RequestContext = {};
  const target = text("target") ?? text("path");
  const path = read("path", rulePath);
  if (path !== undefined) context.path = path;
  const method = read("method", goodMethod);
  if (method !== undefined) context.method = method;
  const authority = read("host", cut) ?? firstOf(headers, "host") ?? firstOf(lines.pseudo, ":authority");
  const host = authority === undefined ? undefined : goodHost(authority);
  if (host !== undefined) context.host = host;
  const ip = read("ip", (sent) => canonicalIp(boundedValue(sent)));
  if (ip !== undefined) context.ip = ip;
  const userAgent = firstOf(headers, "user-agent");
  if (userAgent !== undefined) context.userAgent = userAgent;
  const judged: JudgedRequest = {
    context,
    headers,
    isAsReceived: form === "list",
    httpVersion: read("http_version", httpVersionOf),
    ja4: read("ja4", cut),
  };
  if (typeof token !== "string" && token !== undefined && token !== null) trimming.isIgnored = true;
  const sessionToken = typeof token === "string" && wellFormedToken.test(token) ? token : null;
  if (typeof issue !== "boolean" && issue !== undefined && issue !== null) trimming.isIgnored = true;
  const wantsToken = issue === true && isNavigation((name) => firstOf(headers, name));
  return { sessionToken, request: judged, hasHeaders: form !== null, target, authority, wantsToken, trimming, waitMs };
}

function isWait(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limits.reportWaitMsMax;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type HeaderLine = readonly [name: string, value: string];

/** Collects header lines within their bounds, for `POST /v1/verdict` and forward-auth. */
export class HeaderCollector {
  readonly headers: HeaderLine[] = [];
  /** What HTTP/2 sends among the headers in place of the request line (`:authority`); no header lines. */
  readonly pseudo: HeaderLine[] = [];
  readonly #trimming: Trimming;

  constructor(trimming: Trimming) {
    this.#trimming = trimming;
  }

  /** Keeps the line itself if nothing has to be cut. */
  add(line: HeaderLine): void {
    const headers = line[0].startsWith(":") ? this.pseudo : this.headers;
    if (headers.length >= limits.requestHeadersMax) {
      this.#trimming.isOver = true;
      return;
    }
    const [sentName, sentValue] = line;
    const name = this.bounded(sentName);
    let value = sentValue;
    if (sentName.length < 9 || !signatureFields.has(sentName.toLowerCase())) value = this.bounded(sentValue);
    else if (sentValue.length > limits.signatureFieldMax) {
      this.#trimming.isCut = true;
      value = sentValue.slice(0, limits.signatureFieldMax);
    }
    headers.push(name === sentName && value === sentValue ? line : [name, value]);
  }

  /** A single value. */
  bounded(value: string): string {
    if (value.length > valueMax) this.#trimming.isCut = true;
    return boundedValue(value);
  }

  ignore(): void {
    this.#trimming.isIgnored = true;
  }
}

const valueMax = limits.contextValueMax;
const signatureFields: ReadonlySet<string> = new Set(["signature", "signature-input", "signature-agent"]);

/** The form of the lines: a list keeps the visitor's order and case. `null` means that there were none. */
function readHeaders(lines: HeaderCollector, sent: unknown): "list" | "object" | null {
  if (Array.isArray(sent)) {
    for (const line of sent) {
      if (isPair(line)) lines.add(line);
      else lines.ignore();
    }
    return "list";
  }
  if (isObject(sent)) {
    for (const [name, values] of Object.entries(sent)) {
      for (const value of Array.isArray(values) ? values : [values]) {
        if (typeof value === "string" && name !== "") lines.add([name, value]);
        else lines.ignore();
      }
    }
    return "object";
  }
  if (sent !== undefined && sent !== null) lines.ignore();
  return null;
}

function isPair(line: unknown): line is [string, string] {
  return (
    Array.isArray(line) &&
    line.length === 2 &&
    typeof line[0] === "string" &&
    line[0] !== "" &&
    typeof line[1] === "string"
  );
}

/** The first value of a header that is not empty. */
function firstOf(headers: JudgedRequest["headers"], name: string): string | undefined {
  for (const [each, value] of headers) {
    if (each.length === name.length && value !== "" && each.toLowerCase() === name) return value;
  }
  return undefined;
}
