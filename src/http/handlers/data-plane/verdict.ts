/** `GET /v1/sessions/{session_token}/verdict`: the hottest read. No hop to another thread, nothing asynchronous. */
import type { HttpRequest } from "uWebSockets.js";
import type { Credentials } from "../../../auth/credentials.js";
import type { ParameterDoc } from "../../../contract/route-doc.js";
import type { RequestContext } from "../../../contract/verdict.js";
import { refuse } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import type { VerdictReader } from "../../../verdict/verdict-reader.js";
import type { Exchange } from "../../exchange.js";
import { refusal } from "../../reply.js";
import type { RawRoute } from "../../route.js";
import { privateKeyOf } from "../../server.js";

export interface VerdictServices {
  readonly credentials: Credentials;
  readonly verdicts: VerdictReader;
  /** Canonical text of an address, or undefined for what is none. */
  readonly canonicalIp: (text: string) => string | undefined;
}

export function verdictRoute(services: VerdictServices): RawRoute {
  return {
    method: "get",
    path: "/v1/sessions/:session_token/verdict",
    credential: "private-key-raw",
    doc: {
      id: "readVerdict",
      tag: "data plane",
      summary: "The verdict of a session",
      description:
        "Fails open: an unknown, foreign or not yet scored session answers `not_computed` with action `allow`, never 404. The " +
        "request context comes as headers or query parameters; the header wins, a bad value counts as missing.",
      parameters: contextParameters,
      answers: { 200: "Verdict" },
    },
    handleRaw: (exchange, req) => readVerdict(services, exchange, req),
  };
}

const contextParameters: readonly ParameterDoc[] = [
  ["path", "X-Service-Request-Path", "Path of the visitor's request"],
  ["method", "X-Service-Request-Method", "Method of the visitor's request"],
  ["host", "X-Service-Request-Host", "Host of the visitor's request"],
  ["ip", "X-Service-Client-IP", "Address of the visitor"],
  ["user_agent", "X-Service-Client-UA", "User agent of the visitor"],
].flatMap(([query, header, description]): ParameterDoc[] => [
  { in: "query", name: query!, description: description!, schema: { type: "string" } },
  { in: "header", name: header!, description: `${description!}; wins over \`${query!}\``, schema: { type: "string" } },
]);

function readVerdict(services: VerdictServices, exchange: Exchange, req: HttpRequest): void {
  const holder = services.credentials.keyHolder("private", privateKeyOf(req));
  if (holder === null) {
    exchange.send(refusal(refuse("unauthenticated", "a valid private key is required")));
  } else if (holder.account.subscription !== "active") {
    exchange.send(refusal(refuse("noActiveSubscription", "the account has no active subscription")));
  } else {
    const context = requestContext(services, req);
    exchange.sendJsonText(services.verdicts.read(holder.project, req.getParameter(0) ?? "", context));
  }
}

/** Query parameters and headers of the context; the header wins, a bad value counts as missing. */
function requestContext({ canonicalIp }: VerdictServices, req: HttpRequest): RequestContext {
  const text = req.getQuery() ?? "";
  const query = text === "" ? null : new URLSearchParams(text);
  const value = (header: string, parameter: string): string => {
    const given = req.getHeader(header) || (query?.get(parameter) ?? "");
    return given === "" ? "" : boundedValue(given);
  };
  const context: RequestContext = {};
  const path = value("x-service-request-path", "path");
  if (path.startsWith("/")) context.path = path;
  const method = value("x-service-request-method", "method");
  if (/^[A-Za-z]{1,20}$/.test(method)) context.method = method.toUpperCase();
  const host = value("x-service-request-host", "host");
  if (host !== "") context.host = host;
  const ip = value("x-service-client-ip", "ip");
  const canonical = ip === "" ? undefined : canonicalIp(ip);
  if (canonical !== undefined) context.ip = canonical;
  const userAgent = value("x-service-client-ua", "user_agent");
  if (userAgent !== "") context.userAgent = userAgent;
  return context;
}
