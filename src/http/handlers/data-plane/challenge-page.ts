/**
 * `POST /v1/challenge-page`: the page for a visitor who is not let through, as an answer in full, for a backend in any language to send on. Without
 * `action` in the body the request is judged once more, so that a blocked visitor gets the page of a block.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { AuthenticatedKey } from "../../../auth/credentials.js";
import { parseLenientJsonObject } from "../../../contract/api/json-body.js";
import { sessionCookieName } from "../../../contract/sessions/session-cookie.js";
import { checkChallengePage } from "../../../contract/validators.js";
import type { ChallengePageAnswer, ChallengePageOptions } from "../../../contract/verdicts/challenge-page.js";
import type { VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import { Refusal, refuse } from "../../../errors.js";
import { challengeResponse } from "../../../middleware/challenge-page.js";
import { type DenialKind, type DenialResponse, denialResponse } from "../../../middleware/denial-page.js";
import type { RequestVerdicts } from "../../../verdict/request-verdicts.js";
import type { Exchange } from "../../exchange.js";
import { json, refusal } from "../../reply.js";
import type { RawRoute } from "../../route.js";
import { type KeyedBodyServices, readKeyedBody } from "./keyed-body.js";
import type { OnDenied } from "./verdict.js";
import { decodeVerdictBody } from "./verdict-body.js";

/** What the call needs to judge a request and to know whose page it makes. */
interface ChallengePageServices extends KeyedBodyServices {
  readonly requestVerdicts: RequestVerdicts;
  /** Returns the canonical text of an address, or undefined for any other text. */
  readonly canonicalIp: (text: string) => string | undefined;
  readonly onDenied: OnDenied;
}

/** By private key with an active subscription; refuses with 401, 402 and 422, and with 503 while too many bodies are incomplete. */
export function challengePageRoute(services: ChallengePageServices): RawRoute {
  return {
    method: "post",
    path: "/v1/challenge-page",
    credential: "private-key-raw",
    doc: {
      id: "makeChallengePage",
      tag: "data plane",
      summary: "The page of a block or of verdictd's own challenge, for a backend to send on",
      description:
        "Give it what `POST /v1/verdict` was given, and send the answer's status, headers and body to the visitor as they are. With `action` it is " +
        "the page of that action. Without, the request is judged once more, and counts once more for rates and statistics: a visitor whose verdict is " +
        "`block` gets that page, everybody else the challenge. A visitor who does not accept HTML gets JSON with the code `REQUEST_BLOCKED` or `CHALLENGE_REQUIRED`. " +
        "`verdict_id`, the `X-Request-Id` of the verdict, is the reference that the page shows. While the project has its challenge off, the page " +
        "of a challenge says that there is none to pass.",
      body: "ChallengePageBody",
      answers: { 200: "ChallengePageAnswer" },
    },
    handleRaw: (exchange, req) => makePage(services, exchange, req),
  };
}

const crowded = refusal(refuse("unavailable", "too many request bodies at once; send the request again"));

function makePage(services: ChallengePageServices, exchange: Exchange, req: HttpRequest): void {
  readKeyedBody(
    services,
    exchange,
    req,
    () => crowded,
    (holder, bytes) => {
      const asked = readAsked(services, holder, bytes);
      if (asked instanceof Refusal) {
        exchange.send(refusal(asked));
        return;
      }
      const answer = (action: DenialKind): void => {
        const page = pageOf(action, holder.project, asked, exchange.requestId);
        exchange.send(json(200, page satisfies ChallengePageAnswer));
      };
      const { action } = asked.page;
      if (action !== undefined) answer(action);
      else judge(services, exchange, holder.project, asked.question, answer);
    },
  );
}

/** A body as it was read. */
interface Asked {
  readonly question: VerdictQuestion;
  readonly page: ChallengePageOptions;
  readonly siteKey: string | null;
}

function readAsked(
  { credentials, canonicalIp }: ChallengePageServices,
  { project }: AuthenticatedKey,
  bytes: Buffer,
): Asked | Refusal {
  const question = decodeVerdictBody(bytes, canonicalIp);
  if (question instanceof Refusal) return question;
  const checked = checkChallengePage(parseLenientJsonObject(bytes));
  if (!("value" in checked)) return refuse("invalidPayload", `${checked.path || "the body"} ${checked.fault}`);
  const { site_key: given = null } = checked.value;
  if (given !== null && credentials.authenticatedKey("site", given)?.project.id !== project.id) {
    return refuse("invalidPayload", "site_key: expected a site key (pk_…) of this private key's project");
  }
  return { question: { ...question, wantsToken: false }, page: checked.value, siteKey: given ?? project.siteKey };
}

function judge(
  services: ChallengePageServices,
  exchange: Exchange,
  project: AuthenticatedKey["project"],
  question: VerdictQuestion,
  answer: (action: DenialKind) => void,
): void {
  const judged = services.requestVerdicts.judge(project, { ...question, isAskedAgain: true });
  const told = ({ text: { verdict } }: Awaited<typeof judged>): void => {
    const isBlocked = verdict.action === "block";
    if (isBlocked) {
      services.onDenied(project.id, question.sessionToken, question.request.context.ip, exchange.requestId, "block");
    }
    answer(isBlocked ? "block" : "challenge");
  };
  if (judged instanceof Promise) void judged.then(told);
  else told(judged);
}

function pageOf(
  kind: DenialKind,
  { challenge }: AuthenticatedKey["project"],
  { question, page, siteKey }: Asked,
  requestId: string,
): DenialResponse {
  const { context, headers } = question.request;
  const header = (name: string): string => headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
  const accept = header("accept");
  const verdictId = page.verdict_id ?? requestId;
  if (kind === "block" || challenge?.enabled !== true || siteKey === null) {
    const visitor = { site: context.host, acceptLanguage: header("accept-language") };
    return denialResponse({ kind, verdictId }, accept, page.texts === undefined ? {} : { [kind]: page.texts }, visitor);
  }
  const own = {
    siteKey,
    scriptOrigin: page.script_origin ?? challenge.scriptOrigin ?? "",
    pathPrefix: page.path_prefix ?? challenge.pathPrefix ?? "",
    cookie: { name: page.cookie_name ?? sessionCookieName, domain: page.cookie_domain ?? "" },
    site: question.authority ?? "",
    method: context.method ?? "",
    acceptLanguage: header("accept-language"),
    verdictId,
  };
  return challengeResponse(own, accept);
}
