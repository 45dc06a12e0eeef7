/**
 * `POST /v1/challenges` and `/v1/challenges/solution`, which `challenge.js` calls in the visitor's browser with the site key, as the SDK does for ingest.
 * The session is the resource, so it is looked up before the rest of the body is checked.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { Credentials } from "../../../auth/credentials.js";
import type { ChallengeAnswer, ClearedAnswer } from "../../../contract/api-answers.js";
import { defaultChallengeSettings } from "../../../contract/challenge.js";
import type { Project } from "../../../contract/entities.js";
import { type JsonObject, parseJsonObject } from "../../../contract/json-body.js";
import type { RouteDoc } from "../../../contract/route-doc.js";
import type { ScoredState } from "../../../contract/session.js";
import type { Challenges } from "../../../control-plane/challenges.js";
import type { Sessions } from "../../../control-plane/sessions.js";
import { Refusal, refuse, UnavailableError } from "../../../errors.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import type { Exchange } from "../../exchange.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { PublicRoute, RawRoute } from "../../route.js";
import { cors, preflightRoute } from "./cors.js";

/** What both calls need; `onFailure` is called with errors that were answered 500. */
export interface ChallengeServices {
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly challenges: Challenges;
  readonly onFailure: (error: unknown, requestId: string) => void;
}

/** A request with a known credential and session. */
interface ChallengeCall {
  readonly project: Project;
  readonly token: string;
  readonly state: ScoredState;
  readonly body: JsonObject;
  /** As far as verdicts know it. */
  readonly userAgent: string;
}

type Handle = (services: ChallengeServices, call: ChallengeCall) => Promise<Reply>;

/** Both calls by site key, with their CORS preflights; they answer any origin. */
export function challengeRoutes(services: ChallengeServices): (RawRoute | PublicRoute)[] {
  return [
    route(services, "/v1/challenges", issue, {
      id: "issueChallenge",
      tag: "data plane",
      summary: "A proof of work for a session, in the form of an ALTCHA challenge",
      description:
        "Used by `challenge.js`. The challenge is signed, and nothing of it is stored; it is valid for ten minutes and for this session " +
        "only. 409 without code while the project's challenge is not enabled.",
      body: "ChallengeBody",
      bodyTypes: ["application/json", "text/plain"],
      answers: { 200: "ChallengeAnswer" },
      refusals: ["unknownSession", "conflict", "invalidPayload"],
    }),
    preflightRoute("/v1/challenges", "preflightChallenge"),
    route(services, "/v1/challenges/solution", solve, {
      id: "solveChallenge",
      tag: "data plane",
      summary: "Submit the solution of a challenge, and clear the session",
      description:
        "`solution` is base64 of JSON `{challenge, solution}`, as altcha-lib makes it. A solution counts once.",
      body: "SolutionBody",
      bodyTypes: ["application/json", "text/plain"],
      answers: { 200: "ClearedAnswer" },
      refusals: ["unknownSession", "conflict", "challengeUsed", "invalidPayload"],
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
  const userAgent = boundedValue(req.getHeader("user-agent"));
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
        const call = await callOf(services, siteKey, bytes, userAgent);
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
  userAgent: string,
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
  return { project: holder.project, token, state, body, userAgent };
}

const disabled = refusal(refuse("conflict", "verdictd's own challenge is not enabled on this project"));

function isEnabled({ challenge = defaultChallengeSettings }: Project): boolean {
  return challenge.enabled;
}

const issue: Handle = async ({ challenges }, { project, token, state }) => {
  if (!isEnabled(project)) return disabled;
  const issued = await challenges.issue(project, token, state);
  if (issued instanceof Refusal) return refusal(issued);
  const { parameters, signature } = issued.puzzle;
  const expiresAt = new Date(issued.expiresAtMs).toISOString();
  return json(200, { parameters, signature, expires_at: expiresAt } satisfies ChallengeAnswer);
};

const solve: Handle = async ({ challenges }, { project, token, body, userAgent }) => {
  const { solution } = body;
  if (typeof solution !== "string") return refusal(refuse("invalidPayload", "solution must be a string"));
  if (!isEnabled(project)) return disabled;
  const passedAtMs = await challenges.solve(project, token, solution, userAgent);
  if (passedAtMs instanceof Refusal) return refusal(passedAtMs);
  const { clearanceMinutes } = project.challenge ?? defaultChallengeSettings;
  const expiresAt = new Date(passedAtMs + clearanceMinutes * 60_000).toISOString();
  return json(200, { cleared: true, expires_at: expiresAt } satisfies ClearedAnswer);
};
