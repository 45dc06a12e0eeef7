/** `GET /v1/sessions/{session_token}/verdict`, the most frequent read. It uses no other thread and nothing asynchronous. */
import type { HttpRequest } from "uWebSockets.js";
import type { Credentials } from "../../../auth/credentials.js";
import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import type { ProjectSettings } from "../../../contract/sessions/session.js";
import type { Action, RequestContext } from "../../../contract/verdicts/verdict.js";
import { rulePath } from "../../../contract/verdicts/visitor-request.js";
import { Refusal } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import { ownPart } from "../../../runtime/text-memo.js";
import type { SentContext } from "../../../verdict/verdict-cache.js";
import type { AskedContext, VerdictReader } from "../../../verdict/verdict-reader.js";
import type { VerdictText } from "../../../verdict/verdict-text.js";
import type { Exchange } from "../../exchange.js";
import { ambiguous } from "../../framing.js";
import { firstValues } from "../../query.js";
import { refusal } from "../../reply.js";
import type { RawRoute } from "../../route.js";
import { ReadHeaders } from "./read-headers.js";
import { goodHost, goodMethod } from "./request-context.js";

/** What a verdict read needs; `onDenied` is called for every answer. */
interface VerdictServices {
  readonly credentials: Credentials;
  readonly verdicts: VerdictReader;
  /** Returns the canonical text of an address, or undefined for any other text. */
  readonly canonicalIp: (text: string) => string | undefined;
  readonly onDenied: OnDenied;
}

/** Called with the id and the action of an answer: a visitor who is blocked or challenged sees the id as reference. */
export type OnDenied = (
  projectId: number,
  token: string | null,
  ip: string | undefined,
  requestId: string,
  action: Action,
) => void;

/** Needs a private key with an active subscription, otherwise answers 401 or 402. Every other readable request gets a verdict. */
export function verdictRoute(services: VerdictServices): RawRoute {
  const headers = new ReadHeaders();
  return {
    method: "get",
    path: "/v1/sessions/:session_token/verdict",
    credential: "private-key-raw",
    checksFraming: true,
    doc: {
      id: "readVerdict",
      tag: "data plane",
      summary: "The verdict of a session",
      description:
        "Fails open: for a session that is unknown, of another project or not yet scored, it answers `not_computed` with action `allow`, never 404. The " +
        "request context comes as headers or query parameters; the header takes precedence, and a bad value counts as missing.",
      parameters: contextParameters,
      answers: { 200: "Verdict" },
    },
    handleRaw: (exchange, req) => readVerdict(services, exchange, req, headers),
  };
}

const contextParameters: readonly ParameterDoc[] = [
  ["path", "X-Service-Request-Path", "Path of the visitor's request, in any spelling: rules see it normalised"],
  ["method", "X-Service-Request-Method", "Method of the visitor's request"],
  ["host", "X-Service-Request-Host", "Host of the visitor's request"],
  ["ip", "X-Service-Client-IP", "Address of the visitor; a port behind it is dropped"],
  ["user_agent", "X-Service-Client-UA", "User agent of the visitor"],
].flatMap(([query, header, description]): ParameterDoc[] => [
  { in: "query", name: query!, description: description!, schema: { type: "string" } },
  {
    in: "header",
    name: header!,
    description: `${description!}; takes precedence over \`${query!}\``,
    schema: { type: "string" },
  },
]);

function readVerdict(services: VerdictServices, exchange: Exchange, req: HttpRequest, headers: ReadHeaders): void {
  if (headers.read(req).framing.isAmbiguous) {
    exchange.send(ambiguous);
    return;
  }
  exchange.framedBy(headers.framing);
  const holder = services.credentials.subscribedKey("private", headers.privateKey);
  if (holder instanceof Refusal) exchange.send(refusal(holder));
  else {
    const asked = askedContext(services, headers, req.getQuery());
    const token = req.getParameter(0) ?? "";
    const { project } = holder;
    const loading = services.verdicts.load(project, token, asked.sent);
    const answer = (): VerdictText | Promise<VerdictText> => services.verdicts.answer(project, token, asked);
    const answered = loading === null ? answer() : loading.then(answer);
    const bodyOf = (text: VerdictText): string => told(services, exchange, project, token, asked, text);
    if (!(answered instanceof Promise)) {
      exchange.sendJsonText(bodyOf(answered));
      return;
    }
    exchange.deferResponse();
    void answered.then((text) => exchange.send({ status: 200, body: bodyOf(text) }));
  }
}

/** Returns the body; a visitor who is blocked is shown the answer's id. */
function told(
  services: VerdictServices,
  { requestId }: Exchange,
  project: ProjectSettings,
  token: string,
  asked: AskedContext,
  { verdict, body }: VerdictText,
): string {
  if (verdict.action !== "allow") services.onDenied(project.id, token, asked.read().ip, requestId, verdict.action);
  return body;
}

/** Call in the synchronous callback; the result stays valid after it. */
function askedContext(services: VerdictServices, headers: ReadHeaders, query: string | undefined): AskedContext {
  const sent: SentContext = {
    path: headers.path || undefined,
    method: headers.method || undefined,
    host: headers.host || undefined,
    ip: headers.ip || undefined,
    userAgent: headers.userAgent || undefined,
    query: query || undefined,
  };
  let context: RequestContext | null = null;
  return { sent, read: () => (context ??= requestContext(services, sent)) };
}

/** Reads the context from query parameters and headers; the header wins. A bad value counts as missing, so the parameter counts after a bad header. */
function requestContext({ canonicalIp }: VerdictServices, headers: SentContext): RequestContext {
  const { query = "" } = headers;
  const asked = query === "" ? noParameters : firstValues(query, parameters);
  const value = (
    sent: string | undefined,
    parameter: string | undefined,
    read: (text: string) => string | undefined,
  ): string | undefined => {
    const good = sent === undefined ? undefined : read(sent);
    return good !== undefined || !parameter ? good : read(ownPart(parameter, query));
  };
  const context: RequestContext = {};
  const path = value(headers.path, asked[0], goodPath);
  if (path !== undefined) context.path = path;
  const method = value(headers.method, asked[1], goodMethod);
  if (method !== undefined) context.method = method;
  const host = value(headers.host, asked[2], goodHost);
  if (host !== undefined) context.host = host;
  const ip = value(headers.ip, asked[3], (text) => canonicalIp(boundedValue(text)));
  if (ip !== undefined) context.ip = ip;
  const userAgent = value(headers.userAgent, asked[4], boundedValue);
  if (userAgent !== undefined) context.userAgent = userAgent;
  return context;
}

const parameters = ["path", "method", "host", "ip", "user_agent"] as const;
const noParameters = parameters.map(() => undefined);
const goodPath = (text: string): string | undefined => {
  const path = rulePath(text);
  return path === undefined ? undefined : ownPart(path, text);
};
