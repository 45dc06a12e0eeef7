/**
 * What `/v1/forward-auth` answers with: a verdict as a status with headers, and for visitors who are not let in the page that they see, which is the one
 * of the middleware.
 */
import type { AuthenticatedKey } from "../../../auth/credentials.js";
import type { KnownAgent } from "../../../contract/bots/agents.js";
import {
  cookieNameForm,
  type PageCookie,
  sessionCookieName,
  setCookieValue,
} from "../../../contract/sessions/session-cookie.js";
import type { Action, RequestContext, Verdict } from "../../../contract/verdicts/verdict.js";
import { challengeResponse } from "../../../middleware/challenge-page.js";
import { type DenialResponse, denialResponse } from "../../../middleware/denial-page.js";
import type { RequestAnswer } from "../../../verdict/request-verdicts.js";
import type { Reply } from "../../reply.js";
import type { AskedFor, Dialect } from "./proxy-dialects.js";
import type { SentHeaders } from "./sent-headers.js";

/** Why no visitor was judged; a value of `X-Verdict-Error`. */
export type ForwardAuthError = "unauthenticated" | "no_active_subscription" | "internal";

/** The value of `X-Verdict-Error` where a visitor was judged, but by no rule about paths: the proxy did not say which. */
const noPath = "no_path";

/** The status for visitors who are let in. */
export type Yes = Dialect["yes"];

const statusOfAction: Readonly<Record<Action, "yes" | 401 | 403>> = {
  allow: "yes",
  log: "yes",
  // A proxy can't wait; the application behind it can, by `X-Verdict-Action`.
  delay: "yes",
  challenge: 401,
  block: 403,
};

/** A verdict, and how it is to be told. */
interface Answered extends Pick<RequestAnswer, "agent" | "freshToken"> {
  readonly verdict: Verdict;
  readonly yes: Yes;
  readonly asked: AskedFor;
}

/** The answer for a visitor who was judged. */
export function verdictReply(
  { verdict, agent, freshToken, yes, asked }: Answered,
  holder: AuthenticatedKey,
  headers: SentHeaders,
  context: RequestContext,
  requestId: string,
): Reply {
  const status = statusOfAction[verdict.action];
  const others: [string, string][] = freshToken === null ? [] : [cookieHeader(freshToken, headers, asked)];
  if (asked.uri === "") others.push(["X-Verdict-Error", noPath]);
  if (status === "yes") {
    return { status: yes, headers: [...verdictHeaders(verdict), ...agentHeader(agent), ...others] };
  }
  const denial =
    status === 401 ? challengeOf(holder, headers, context, requestId) : blockOf(headers, context, requestId);
  // Every answer has the second and third. Traefik sends all headers of such an answer to the visitor, who is told no score.
  const {
    "Content-Type": contentType,
    "Cache-Control": _caching,
    "X-Content-Type-Options": _type,
    ...ofPage
  } = denial.headers;
  return {
    status,
    headers: [
      ["X-Verdict-Action", verdict.action],
      ...others,
      ...Object.entries(ofPage).filter(([name]) => name !== "X-Verdict-Action"),
    ],
    body: denial.body,
    ...(contentType !== undefined && { contentType }),
  };
}

function blockOf(headers: SentHeaders, { host: site }: RequestContext, verdictId: string): DenialResponse {
  const visitor = { site, acceptLanguage: headers.get("accept-language") };
  return denialResponse({ kind: "block", verdictId }, headers.get("accept") ?? "", {}, visitor);
}

/** Uses verdictd's own challenge if the project has it; otherwise the page says that there is none. */
function challengeOf(
  { project }: AuthenticatedKey,
  headers: SentHeaders,
  { host: site = "", method = "" }: RequestContext,
  verdictId: string,
): DenialResponse {
  const accept = headers.get("accept") ?? "";
  const acceptLanguage = headers.get("accept-language") ?? "";
  if (project.challenge?.enabled !== true || project.siteKey === null) {
    return denialResponse({ kind: "challenge", verdictId }, accept, {}, { site, acceptLanguage });
  }
  const { siteKey } = project;
  const { scriptOrigin = "", pathPrefix = "" } = project.challenge;
  const page = {
    siteKey,
    scriptOrigin,
    pathPrefix,
    cookie: cookieOf(headers),
    site,
    method,
    acceptLanguage,
    verdictId,
  };
  return challengeResponse(page, accept);
}

/** The cookie of the session by the name that the recipe passes. */
export function cookieNameOf(headers: SentHeaders): string {
  const name = headers.get("x-service-cookie-name") ?? "";
  return cookieNameForm.test(name) ? name : sessionCookieName;
}

function cookieOf(headers: SentHeaders): PageCookie {
  return { name: cookieNameOf(headers), domain: headers.get("x-service-cookie-domain") ?? "" };
}

function cookieHeader(token: string, headers: SentHeaders, { scheme }: AskedFor): [string, string] {
  const isSecure = /^https(?:\s*,|$)/i.test(scheme);
  return ["Set-Cookie", setCookieValue(token, { ...cookieOf(headers), isSecure })];
}

function verdictHeaders({ verdict, score, action }: Pick<Verdict, "verdict" | "score" | "action">): [string, string][] {
  return [
    ["X-Verdict", verdict],
    ["X-Verdict-Score", String(score)],
    ["X-Verdict-Action", action],
  ];
}

/** For the application alone: what proxies send to the visitor with a denial never has it. */
function agentHeader(agent: KnownAgent | undefined): [string, string][] {
  if (agent === undefined) return [];
  const { name, category, certainty } = agent;
  return [["X-Verdict-Agent", `${percentEncoded(name)};${category};${certainty}`]];
}

/** Bytes of UTF-8 that are not printable ASCII, `;` and `%` as `%3B`. */
function percentEncoded(text: string): string {
  const encoded = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return text.replace(/[^ -~]+|[;%]/g, (part) => Array.from(Buffer.from(part), encoded).join(""));
}

/** The answer for a visitor who was not, and is let in. */
export function letInReply(yes: Yes, reason: ForwardAuthError): Reply {
  const headers = verdictHeaders({ verdict: "not_computed", score: 0, action: "allow" });
  return { status: yes, headers: [...headers, ["X-Verdict-Error", reason]] };
}
