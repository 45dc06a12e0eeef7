/**
 * `GET /v1/forward-auth`: the verdict as a status, for proxies that ask before they pass a request on (nginx `auth_request`, Caddy
 * `forward_auth`, Traefik). 204 lets in, 401 asks for a challenge, 403 blocks. Nothing but a verdict ever gives 401 or 403: a wrong
 * key, an unpaid account and every failure answer 204 and say so in `X-Verdict-Error`, so a mistake never shuts a site.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { Credentials, KeyHolder } from "../../../auth/credentials.js";
import type { Action, RequestContext, Verdict } from "../../../contract/verdict.js";
import { rulePath, sessionHeaderName, sessionTokenOf } from "../../../contract/visitor-request.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { denialResponse } from "../../../middleware/denial-page.js";
import type { VerdictReader } from "../../../verdict/verdict-reader.js";
import { bearer, type Exchange } from "../../exchange.js";
import type { Reply } from "../../reply.js";
import type { RawRoute } from "../../route.js";

/** Why nobody was asked about; the value of `X-Verdict-Error`. */
export type ForwardAuthError = "unauthenticated" | "no_active_subscription" | "internal";

export interface ForwardAuthServices {
  readonly credentials: Credentials;
  readonly verdicts: VerdictReader;
  /** The visitor's address by the rightmost entry of `X-Forwarded-For` and the entries before it, as on ingest. */
  readonly clientIp: (lastHop: string, forwardedFor: string) => string;
  readonly now: () => number;
  /** Told that visitors are let in unseen: at most once in `forwardAuthWarnMs`. */
  readonly onLetIn: (reason: ForwardAuthError, cause: unknown, requestId: string) => void;
}

/**
 * Headers in which the proxy says what the visitor asked for. A proxy passes on the visitor's own headers as well, so one set is read
 * and never a mixture: the set that Caddy and Traefik write, or with `?headers=x-original` the other one.
 */
const headerSets = {
  "x-forwarded": {
    uri: "x-forwarded-uri",
    method: "x-forwarded-method",
    host: "x-forwarded-host",
    ip: "x-forwarded-for",
  },
  "x-original": { uri: "x-original-uri", method: "x-original-method", host: "x-original-host", ip: "x-real-ip" },
} as const;

const statusOfAction: Readonly<Record<Action, 204 | 401 | 403>> = {
  allow: 204,
  log: 204,
  // A proxy can't wait; the application behind it can, by `X-Verdict-Action`.
  delay: 204,
  challenge: 401,
  block: 403,
};

export function forwardAuthRoute(services: ForwardAuthServices): RawRoute {
  let quietUntilMs = 0;
  const letIn = (reason: ForwardAuthError, cause: unknown, requestId: string): Reply => {
    const nowMs = services.now();
    if (nowMs >= quietUntilMs) {
      quietUntilMs = nowMs + limits.forwardAuthWarnMs;
      services.onLetIn(reason, cause, requestId);
    }
    return letInReply(reason);
  };
  return {
    method: "get",
    path: "/v1/forward-auth",
    credential: "private-key-raw",
    doc: {
      id: "forwardAuth",
      tag: "data plane",
      summary: "The verdict as a status, for a proxy that asks before it passes a request on",
      description:
        "204 lets in, 401 asks for a challenge, 403 blocks; nothing but a verdict gives 401 or 403. A wrong key, an inactive " +
        "subscription or a failure lets in and says so in `X-Verdict-Error`.",
      parameters: [
        {
          in: "query",
          name: "headers",
          description: "`x-original` to read the visitor's request from `X-Original-*` and not from `X-Forwarded-*`",
          schema: { type: "string", enum: ["x-forwarded", "x-original"] },
        },
      ],
      refusesNobody: true,
      answers: { 204: "empty", 401: { contentType: "text/html" }, 403: { contentType: "text/html" } },
    },
    handleRaw: (exchange, req) => {
      let reply: Reply;
      try {
        const holder = holderOf(services.credentials, req);
        if (holder === null) reply = letIn("unauthenticated", undefined, exchange.requestId);
        else if (holder.account.subscription !== "active") {
          reply = letIn("no_active_subscription", undefined, exchange.requestId);
        } else reply = verdictReply(services, holder, req, exchange);
      } catch (cause) {
        reply = letIn("internal", cause, exchange.requestId);
      }
      exchange.send(reply);
    },
  };
}

/**
 * By either header: a visitor's own `Authorization`, which the proxy may pass on, must not spoil the key that the proxy sends in the
 * other one.
 */
function holderOf(credentials: Credentials, req: HttpRequest): KeyHolder | null {
  return (
    credentials.keyHolder("private", req.getHeader("x-service-private-key")) ??
    credentials.keyHolder("private", bearer(req))
  );
}

function verdictReply(services: ForwardAuthServices, holder: KeyHolder, req: HttpRequest, exchange: Exchange): Reply {
  const token = sessionTokenOf(req.getHeader(sessionHeaderName), req.getHeader("cookie")) ?? "";
  const verdict = JSON.parse(services.verdicts.read(holder.project, token, contextOf(services, req))) as Verdict;
  const status = statusOfAction[verdict.action];
  const headers = verdictHeaders(verdict);
  if (status === 204) return { status, headers };
  const kind = status === 401 ? "challenge" : "block";
  const denial = denialResponse({ kind, verdictId: exchange.requestId }, req.getHeader("accept"));
  const { "Content-Type": contentType, ...others } = denial.headers;
  return {
    status,
    headers: [...headers, ...Object.entries(others)],
    body: denial.body,
    ...(contentType !== undefined && { contentType }),
  };
}

function contextOf({ clientIp }: ForwardAuthServices, req: HttpRequest): RequestContext {
  const asked = new URLSearchParams(req.getQuery() ?? "").get("headers");
  const names = headerSets[asked === "x-original" ? asked : "x-forwarded"];
  const context: RequestContext = {};
  const path = rulePath(req.getHeader(names.uri));
  if (path !== undefined) context.path = boundedValue(path);
  const method = req.getHeader(names.method);
  if (/^[A-Za-z]{1,20}$/.test(method)) context.method = method.toUpperCase();
  const host = req.getHeader(names.host);
  if (host !== "") context.host = boundedValue(host);
  const hops = req.getHeader(names.ip);
  const comma = hops.lastIndexOf(",");
  const ip = clientIp(hops.slice(comma + 1).trim(), comma === -1 ? "" : hops.slice(0, comma));
  if (ip !== "") context.ip = ip;
  const userAgent = req.getHeader("user-agent");
  if (userAgent !== "") context.userAgent = boundedValue(userAgent);
  return context;
}

function verdictHeaders({ verdict, score, action }: Pick<Verdict, "verdict" | "score" | "action">): [string, string][] {
  return [
    ["X-Verdict", verdict],
    ["X-Verdict-Score", String(score)],
    ["X-Verdict-Action", action],
  ];
}

function letInReply(reason: ForwardAuthError): Reply {
  const headers = verdictHeaders({ verdict: "not_computed", score: 0, action: "allow" });
  return { status: 204, headers: [...headers, ["X-Verdict-Error", reason]] };
}
