/**
 * `POST /v1/challenges` and `/v1/challenges/solution`, which `challenge.js` calls in the visitor's browser with the site key, as the SDK does for ingest.
 * The session is the resource, so it is looked up before the rest of the body is checked.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { Credentials } from "../../../auth/credentials.js";
import { type JsonObject, parseJsonObject } from "../../../contract/api/json-body.js";
import type { RouteDoc } from "../../../contract/api/route-doc.js";
import type { Project } from "../../../contract/configuration/entities.js";
import type { ScoredState } from "../../../contract/sessions/session.js";
import { defaultChallengeSettings } from "../../../contract/verdicts/challenge.js";
import type { ChallengeAnswer, ClearedAnswer } from "../../../contract/verdicts/challenge-answers.js";
import type { VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import type { Band } from "../../../contract/verdicts/verdict.js";
import { noUserAgent, rulePath } from "../../../contract/verdicts/visitor-request.js";
import type { AskingVisitor, Challenges } from "../../../control-plane/sessions/challenges.js";
import type { Sessions } from "../../../control-plane/sessions/sessions.js";
import { Refusal, refuse, UnavailableError } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import type { Exchange } from "../../exchange.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { PublicRoute, RawRoute } from "../../route.js";
import { cors, preflightRoute } from "./cors.js";
import { forwardedQuestion } from "./forwarded-request.js";
import { untrimmed } from "./header-lines.js";

/** What both calls need; `onFailure` is called with errors that were answered 500. */
interface ChallengeServices {
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly challenges: Challenges;
  /** The visitor's address in canonical text, as on ingest. */
  readonly clientIp: (socketAddress: string, forwardedFor: string) => string;
  /** The band of a request by itself, null where the project does not judge requests. */
  readonly bandOfRequest: (
    project: Project,
    question: VerdictQuestion,
    state: ScoredState,
  ) => Band | null | Promise<Band | null>;
  readonly onFailure: (error: unknown, requestId: string) => void;
}

/** A request with a known credential and session. */
interface ChallengeCall {
  readonly project: Project;
  readonly token: string;
  readonly state: ScoredState;
  readonly body: JsonObject;
  readonly asking: Asking;
}

/** Who asks, with the lines of the request. */
interface Asking extends AskingVisitor {
  readonly lines: readonly (readonly [name: string, value: string])[];
}

type Handle = (services: ChallengeServices, call: ChallengeCall) => Promise<Reply>;

/** Both calls by site key, with their CORS preflights; they answer any origin. */
export function challengeRoutes(services: ChallengeServices): (RawRoute | PublicRoute)[] {
  return [
    route(services, "/v1/challenges", issue, {
      id: "issueChallenge",
      tag: "data plane",
      summary: "A proof of work for a session: eight puzzles in the form of ALTCHA challenges",
      description:
        "Used by `challenge.js`. The puzzles are signed, and nothing of them is stored; they are valid for ten minutes and for this session " +
        "only. 409 without code while the project's challenge is not enabled.",
      body: "ChallengeBody",
      bodyTypes: ["application/json", "text/plain"],
      answers: { 200: "ChallengeAnswer" },
      refusals: ["challengeRefused", "unknownSession", "conflict", "invalidPayload"],
    }),
    preflightRoute("/v1/challenges", "preflightChallenge"),
    route(services, "/v1/challenges/solution", solve, {
      id: "solveChallenge",
      tag: "data plane",
      summary: "Submit the solution of a challenge, and clear the session",
      description:
        "`solution` is base64 of the JSON list of eight `{challenge, solution}` in the order of the puzzles, each as altcha-lib makes it. A solution " +
        "counts once.",
      body: "SolutionBody",
      bodyTypes: ["application/json", "text/plain"],
      answers: { 200: "ClearedAnswer" },
      refusals: ["challengeRefused", "unknownSession", "conflict", "challengeUsed", "invalidPayload"],
    }),
    preflightRoute("/v1/challenges/solution", "preflightSolution"),
  ];
}

function route(services: ChallengeServices, path: string, handle: Handle, doc: RouteDoc): RawRoute {
  return {
    method: "post",
    path,
    credential: "site-key",
    doc,
    handleRaw: (exchange, req) => take(services, exchange, req, handle),
  };
}

function take(services: ChallengeServices, exchange: Exchange, req: HttpRequest, handle: Handle): void {
  const siteKey = req.getHeader("x-service-site-key");
  const lines: [string, string][] = [];
  req.forEach((name, value) => void lines.push([name, value]));
  const asking: Asking = {
    ip: services.clientIp(exchange.socketAddress, req.getHeader("x-forwarded-for")),
    userAgent: boundedValue(req.getHeader("user-agent")),
    lines,
  };
  const early = siteKey === "" ? null : services.credentials.subscribedKey("site", siteKey);
  if (early instanceof Refusal) {
    exchange.send({ ...refusal(early), headers: cors });
    return;
  }
  exchange.readBody({
    bytesMax: limits.challengeBodyBytesMax,
    isAnonymous: siteKey === "",
    headers: cors,
    onCrowded: () => crowded,
    onBody: (bytes) => {
      const answer = async (): Promise<Reply> => {
        const call = await callOf(services, siteKey, bytes, asking);
        return call instanceof Refusal ? refusal(call) : handle(services, call);
      };
      answer().then(
        (reply) => exchange.send({ ...reply, headers: cors }),
        (error: unknown) => {
          if (error instanceof UnavailableError) {
            exchange.send({ ...refusal(refuse("unavailable", error.message)), headers: cors });
            return;
          }
          services.onFailure(error, exchange.requestId);
          const failed = refuse(
            "internal",
            "the request failed; the server's log has the cause, under this request id",
          );
          exchange.send({ ...refusal(failed), headers: cors });
        },
      );
    },
  });
}

const crowded: Reply = {
  ...refusal(refuse("unavailable", "too many request bodies at once; send the request again")),
  headers: cors,
};

async function callOf(
  services: ChallengeServices,
  headerKey: string,
  bytes: Buffer,
  asking: Asking,
): Promise<ChallengeCall | Refusal> {
  const body = parseJsonObject(bytes);
  const bodyKey = body instanceof Refusal ? undefined : body["site_key"];
  const holder = services.credentials.subscribedKey("site", headerKey || (typeof bodyKey === "string" ? bodyKey : ""));
  if (holder instanceof Refusal) return holder;
  if (body instanceof Refusal) return body;
  const token = body["session_token"];
  if (typeof token !== "string") return refuse("invalidPayload", "session_token must be a string");
  await services.sessions.load(holder.project.id, token, "certain");
  const state = services.sessions.scoredState(holder.project.id, token);
  if (state === null) return refuse("unknownSession", "this project has no such session");
  return { project: holder.project, token, state, body, asking };
}

const disabled = refusal(refuse("conflict", "verdictd's own challenge is not enabled on this project"));

function isEnabled({ challenge = defaultChallengeSettings }: Project): boolean {
  return challenge.enabled;
}

/** The request that brings a solution, as a request that is judged. Without its address: it is none of those that are counted. */
function questionOf({ lines, userAgent }: Asking): VerdictQuestion {
  const target = "/v1/challenges/solution";
  const authority = lines.find(([name]) => name === "host")?.[1] ?? "";
  const context = { path: rulePath(target) ?? target, method: "POST", userAgent: userAgent || noUserAgent };
  const forwarded = {
    lines,
    context,
    sessionToken: null,
    wantsToken: false,
    isAskedAgain: true,
    target,
    authority,
    scheme: lines.findLast(([name]) => name === "x-forwarded-proto")?.[1] ?? "",
    ja4Header: "",
    isTrusted: false,
  };
  return forwardedQuestion(forwarded, untrimmed());
}

const issue: Handle = async ({ challenges }, { project, token, state, asking }) => {
  if (!isEnabled(project)) return disabled;
  const issued = await challenges.issue(project, token, state, asking);
  if (issued instanceof Refusal) return refusal(issued);
  const expiresAt = new Date(issued.expiresAtMs).toISOString();
  return json(200, { puzzles: [...issued.puzzles], expires_at: expiresAt } satisfies ChallengeAnswer);
};

const solve: Handle = async ({ challenges, bandOfRequest }, { project, token, state, body, asking }) => {
  const { solution } = body;
  if (isEnabled(project)) {
    const refused = challenges.refused(state);
    if (refused !== null) return refusal(refused);
  }
  if (typeof solution !== "string") return refusal(refuse("invalidPayload", "solution must be a string"));
  if (!isEnabled(project)) return disabled;
  const requestBand = await bandOfRequest(project, questionOf(asking), state);
  const passedAtMs = await challenges.solve(project, token, solution, { ...asking, requestBand });
  if (passedAtMs instanceof Refusal) return refusal(passedAtMs);
  const { clearanceMinutes } = project.challenge ?? defaultChallengeSettings;
  const expiresAt = new Date(passedAtMs + clearanceMinutes * 60_000).toISOString();
  return json(200, { cleared: true, expires_at: expiresAt } satisfies ClearedAnswer);
};
