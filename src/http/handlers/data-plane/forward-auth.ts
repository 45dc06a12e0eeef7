/**
 * `/v1/forward-auth`: the verdict as a status, for proxies that ask before they pass a request on (nginx `auth_request`, Caddy `forward_auth`, Traefik,
 * Envoy `ext_authz`, …). 204 (Envoy: 200) lets in, 401 asks for a challenge, 403 blocks. Nothing but a verdict ever gives 401 or 403: a wrong
 * key, an unpaid account and every failure let in and say so in `X-Verdict-Error`, so a mistake never shuts a site.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { AuthenticatedKey, Credentials } from "../../../auth/credentials.js";
import { defaultRequestScoring } from "../../../contract/sessions/session.js";
import { sessionHeaderName, sessionTokenOf } from "../../../contract/sessions/session-cookie.js";
import type { VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import { isNavigation } from "../../../contract/verdicts/navigation.js";
import type { RequestContext } from "../../../contract/verdicts/verdict.js";
import { noUserAgent, rulePath } from "../../../contract/verdicts/visitor-request.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { ownPart } from "../../../runtime/text-memo.js";
import type { RequestAnswer, RequestVerdicts } from "../../../verdict/request-verdicts.js";
import { bearerOf, type Exchange } from "../../exchange.js";
import { ambiguous, Framing } from "../../framing.js";
import type { Reply } from "../../reply.js";
import type { RawRoute } from "../../route.js";
import { cookieNameOf, type ForwardAuthError, letInReply, verdictReply, type Yes } from "./forward-auth-answer.js";
import { forwardedQuestion } from "./forwarded-request.js";
import { type Trimming, untrimmed } from "./header-lines.js";
import type { KnownLines } from "./known-headers.js";
import { type AskedFor, type Dialect, dialects, type Question } from "./proxy-dialects.js";
import { goodHost, goodMethod } from "./request-context.js";
import { SentHeaders } from "./sent-headers.js";
import type { OnDenied } from "./verdict.js";

/** What forward-auth needs to read a proxied request and to judge it. */
interface ForwardAuthServices {
  readonly credentials: Credentials;
  readonly requestVerdicts: RequestVerdicts;
  /** Whether the address is a trusted proxy's. */
  readonly isTrusted: (socketAddress: string) => boolean;
  /** Header in which trusted proxies pass the visitor's JA4, in small letters; "" for none. */
  readonly ja4Header: string;
  readonly knownLines: KnownLines;
  /** Called for every judged request, with what was trimmed from it. */
  readonly onTrimmed: (trimming: Trimming) => void;
  /** The visitor's address by the rightmost entry of `X-Forwarded-For` and the entries before it, as on ingest. */
  readonly clientIp: (lastHop: string, forwardedFor: string) => string;
  readonly now: () => number;
  /** Called when visitors are let in unjudged: at most once per `forwardAuthWarnMs`. */
  readonly onLetIn: (reason: ForwardAuthError, cause: unknown, requestId: string) => void;
  readonly onDenied: OnDenied;
}

/** A row for each way of asking. */
export function forwardAuthRoutes(services: ForwardAuthServices): RawRoute[] {
  let quietUntilMs = 0;
  const letIn = (yes: Yes, reason: ForwardAuthError, cause: unknown, requestId: string): Reply => {
    const nowMs = services.now();
    if (nowMs >= quietUntilMs) {
      quietUntilMs = nowMs + limits.forwardAuthWarnMs;
      services.onLetIn(reason, cause, requestId);
    }
    return letInReply(yes, reason);
  };
  const framing = new Framing();
  const answer = (exchange: Exchange, req: HttpRequest, dialect: Dialect): Reply | Promise<Reply> => {
    const { yes } = dialect;
    const failed = (cause: unknown): Reply => letIn(yes, "internal", cause, exchange.requestId);
    try {
      const headers = new SentHeaders(req, framing);
      if (framing.isAmbiguous) return ambiguous;
      exchange.framedBy(framing);
      const holder = holderOf(services.credentials, headers);
      if (holder === null) return letIn(yes, "unauthenticated", undefined, exchange.requestId);
      if (holder.account.subscription !== "active") {
        return letIn(yes, "no_active_subscription", undefined, exchange.requestId);
      }
      const asked = dialect.read(headers, asQuestion(req, dialect));
      const question = questionOf(services, exchange, holder, headers, asked);
      const reply = ({ text: { verdict }, agent, freshToken }: RequestAnswer): Reply => {
        const { context } = question.request;
        services.onDenied(holder.project.id, question.sessionToken, context.ip, exchange.requestId, verdict.action);
        // Rules compare hosts without a port; the page names the site as its visitor does.
        const answered = { verdict, agent, freshToken, yes, asked };
        return verdictReply(answered, holder, headers, { ...context, host: asked.host }, exchange.requestId);
      };
      const judged = services.requestVerdicts.judge(holder.project, question);
      return judged instanceof Promise ? judged.then(reply).catch(failed) : reply(judged);
    } catch (cause) {
      return failed(cause);
    }
  };
  return dialects.map((dialect) => ({
    method: "get",
    path: dialect.path,
    takesAnyMethod: true,
    takesSuffix: dialect.takesSuffix === true,
    checksFraming: true,
    credential: "private-key-raw",
    doc: {
      id: dialect.id,
      tag: "data plane",
      summary: `The verdict as a status, for a proxy that asks before it forwards a request, by ${dialect.source}`,
      description:
        `${dialect.yes} lets in, 401 asks for a challenge, 403 blocks; only a verdict is answered 401 or 403. A wrong key, an inactive ` +
        "subscription or a failure lets the visitor in and says so in `X-Verdict-Error`; there `no_path` says that the visitor was judged, but that " +
        "the proxy did not pass the path, so that no rule about paths matches. Any method may be used. The visitor's request is read from " +
        `${dialect.source} only, which the proxy must set; ${dialect.takesSuffix ? "" : "the query of this call is ignored; "}a body is too. With ` +
        "request scoring on, the visitor's request is judged as in `POST /v1/verdict`, by the headers that the proxy passes on. With the setting " +
        "`issue_tokens` the answer " +
        "to a navigation of a visitor without a token of use has `Set-Cookie`, which the proxy passes on; `X-Service-Cookie-Name` and " +
        "`X-Service-Cookie-Domain` name the cookie and its domain. With `X-Service-Asked-Again: 1` the same request was asked about before: it counts " +
        "for its visit once. The proxy must set or clear that header itself.",
      refusesNobody: true,
      answers: { [dialect.yes]: "empty", 401: { contentType: "text/html" }, 403: { contentType: "text/html" } },
    },
    handleRaw: (exchange, req) => {
      const reply = answer(exchange, req, dialect);
      if (!(reply instanceof Promise)) {
        exchange.sendAtTickEnd(reply);
        return;
      }
      exchange.deferResponse();
      void reply.then((each) => exchange.send(each));
    },
  }));
}

function asQuestion(req: HttpRequest, { path, takesSuffix }: Dialect): Question {
  const method = req.getMethod().toUpperCase();
  if (takesSuffix !== true) return { method, suffix: "" };
  const query = req.getQuery() ?? "";
  return { method, suffix: req.getUrl().slice(path.length) + (query === "" ? "" : `?${query}`) };
}

function isJudged({ requestScoring = defaultRequestScoring }: AuthenticatedKey["project"]): boolean {
  return requestScoring.enabled;
}

/**
 * Accepts the key in either header: the proxy may pass on a visitor's own `Authorization`, which must not hide the key that the proxy sends in the
 * other header.
 */
function holderOf(credentials: Credentials, headers: SentHeaders): AuthenticatedKey | null {
  return (
    credentials.authenticatedKey("private", headers.get("x-service-private-key") ?? "") ??
    credentials.authenticatedKey("private", bearerOf(headers.get("authorization") ?? ""))
  );
}

function questionOf(
  services: ForwardAuthServices,
  exchange: Exchange,
  { project }: AuthenticatedKey,
  headers: SentHeaders,
  asked: AskedFor,
): VerdictQuestion {
  const trimming = untrimmed();
  const { ja4Header } = services;
  const isAskedAgain = headers.get("x-service-asked-again") === "1";
  const question = forwardedQuestion(
    {
      // A preflight is known by its headers, whether or not requests are judged.
      lines: isJudged(project) || asked.method === "OPTIONS" ? headers.lines : [],
      context: contextOf(services, headers, asked),
      sessionToken: sessionTokenOf(headers.get(sessionHeaderName), headers.get("cookie"), cookieNameOf(headers)),
      wantsToken:
        !isAskedAgain && project.requestScoring?.issueTokens === true && isNavigation((name) => headers.get(name)),
      isAskedAgain,
      target: asked.uri,
      authority: asked.host,
      scheme: asked.scheme,
      ja4Header,
      // The peer's address costs as much as all else of reading the request.
      isTrusted: ja4Header !== "" && services.isTrusted(exchange.socketAddress),
    },
    trimming,
    services.knownLines,
  );
  services.onTrimmed(trimming);
  return question;
}

function contextOf({ clientIp }: ForwardAuthServices, headers: SentHeaders, asked: AskedFor): RequestContext {
  const context: RequestContext = {};
  const { uri, hops } = asked;
  const path = rulePath(uri);
  if (path !== undefined) context.path = ownPart(path, uri);
  const method = goodMethod(asked.method);
  if (method !== undefined) context.method = method;
  const host = goodHost(asked.host);
  if (host !== undefined) context.host = host;
  const comma = hops.lastIndexOf(",");
  const ip = clientIp(hops.slice(comma + 1).trim(), comma === -1 ? "" : hops.slice(0, comma));
  if (ip !== "") context.ip = ownPart(ip, hops);
  // Without one, the session's own user agent would count, and so would a clearance that was passed with it.
  context.userAgent = boundedValue(headers.get("user-agent") ?? "") || noUserAgent;
  return context;
}
