/**
 * Decodes the body of `POST /v1/verdict`. What a visitor wrote can't make the call fail: it is cut, skipped or treated as missing, and the answer says
 * so. Only a body that does not fit this call is refused.
 */
import {
  isJsonObject,
  type JsonObject,
  parseLenientJsonObject,
  parseLenientJsonText,
} from "../../../contract/api/json-body.js";
import { wellFormedToken } from "../../../contract/sessions/session-cookie.js";
import { httpVersionOf, type JudgedRequest, type VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import { isNavigation } from "../../../contract/verdicts/navigation.js";
import type { RequestContext } from "../../../contract/verdicts/verdict.js";
import { rulePath } from "../../../contract/verdicts/visitor-request.js";
import { Refusal, refuse } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { boundedIn, firstOf, type ToldHeaders, type Trimming, toldHeaders } from "./header-lines.js";
import type { KnownHeaders } from "./known-headers.js";
import { goodHost, goodMethod } from "./request-context.js";

/** A question for a verdict, and what was trimmed from it. */
export interface DecodedQuestion extends VerdictQuestion {
  readonly trimming: Trimming;
  /** ms to wait for a report of the session. */
  readonly waitMs: number;
}

/** Returns `invalidPayload` for a body that is no JSON object, or that has no `request`. `known` saves reading headers that came before; absent: none are known. */
export function decodeVerdictBody(
  bytes: Buffer,
  canonicalIp: (text: string) => string | undefined,
  known?: KnownHeaders,
): DecodedQuestion | Refusal {
  const found = known?.find(bytes) ?? null;
  if (found !== null) {
    const body = parseLenientJsonText(found.rest);
    // Else the text was somewhere else in the body.
    if (!(body instanceof Refusal) && isJsonObject(body["request"]) && body["request"]["headers"] === found.mark) {
      return questionOf(body, found.told, canonicalIp);
    }
  }
  const body = parseLenientJsonObject(bytes);
  return body instanceof Refusal ? body : questionOf(body, null, canonicalIp);
}

/** `known`: in place of the body's headers. */
function questionOf(
  { session_token: token, issue_token: issue, wait_ms: waitMs = 0, request }: JsonObject,
  known: ToldHeaders | null,
  canonicalIp: (text: string) => string | undefined,
): DecodedQuestion | Refusal {
  if (!isJsonObject(request)) return refuse("invalidPayload", "request must be an object");
  if (!isWait(waitMs))
    return refuse("invalidPayload", `wait_ms must be an integer from 0 to ${limits.reportWaitMsMax}`);
  const told = known ?? toldHeaders(request["headers"]);
  const { headers, form, userAgent } = told;
  const trimming: Trimming = { ...told.trimming };
  const context: RequestContext = {};
  const target = textOf(request, "target", trimming) ?? textOf(request, "path", trimming);
  const path = read(request, "path", rulePath, trimming);
  if (path !== undefined) context.path = path;
  const method = read(request, "method", goodMethod, trimming);
  if (method !== undefined) context.method = method;
  const authority = read(request, "host", cut, trimming) ?? told.host ?? told.authority;
  const host = authority === undefined ? undefined : goodHost(authority);
  if (host !== undefined) context.host = host;
  const ip = read(request, "ip", (sent) => canonicalIp(boundedValue(sent)), trimming);
  if (ip !== undefined) context.ip = ip;
  if (userAgent !== undefined) context.userAgent = userAgent;
  const judged: JudgedRequest = {
    context,
    headers,
    isAsReceived: form === "list",
    httpVersion: read(request, "http_version", httpVersionOf, trimming),
    ja4: read(request, "ja4", cut, trimming),
    memo: told.memo,
  };
  if (typeof token !== "string" && token !== undefined && token !== null) trimming.isIgnored = true;
  const sessionToken = typeof token === "string" && wellFormedToken.test(token) ? token : null;
  if (typeof issue !== "boolean" && issue !== undefined && issue !== null) trimming.isIgnored = true;
  const wantsToken = issue === true && isNavigation((name) => firstOf(headers, name));
  return { sessionToken, request: judged, hasHeaders: form !== null, target, authority, wantsToken, trimming, waitMs };
}

/** A text among the members of a request; notes a value of another type. */
function textOf(request: JsonObject, name: string, trimming: Trimming): string | undefined {
  const value = request[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  trimming.isIgnored = true;
  return undefined;
}

/** Treats an unreadable value as missing. */
function read<T>(
  request: JsonObject,
  name: string,
  decode: (sent: string, trimming: Trimming) => T | undefined,
  trimming: Trimming,
): T | undefined {
  const sent = textOf(request, name, trimming);
  const value = sent === undefined ? undefined : decode(sent, trimming);
  if (sent !== undefined && value === undefined) trimming.isIgnored = true;
  return value;
}

const cut = (sent: string, trimming: Trimming): string | undefined => boundedIn(trimming, sent) || undefined;

function isWait(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limits.reportWaitMsMax;
}
