/**
 * `POST /v1/verdict`: the verdict on a visitor's request, with or without a session. As a verdict read, it never answers 429, and any failure after the
 * body was accepted answers fail-open.
 */
import type { HttpRequest } from "uWebSockets.js";
import type { AuthenticatedKey } from "../../../auth/credentials.js";
import type { ProjectSettings } from "../../../contract/sessions/session.js";
import type { VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import { Refusal } from "../../../errors.js";
import {
  failOpenAnswer,
  type RequestAnswer,
  type RequestVerdicts,
  requestVerdictText,
} from "../../../verdict/request-verdicts.js";
import type { Exchange } from "../../exchange.js";
import { type Reply, refusal } from "../../reply.js";
import type { RawRoute } from "../../route.js";
import type { Trimming } from "./header-lines.js";
import { type KeyedBodyServices, readKeyedBody } from "./keyed-body.js";
import type { KnownHeaders } from "./known-headers.js";
import type { OnDenied } from "./verdict.js";
import { decodeVerdictBody } from "./verdict-body.js";

/** What the call needs to judge a request, and what it reports. */
interface RequestVerdictServices extends KeyedBodyServices {
  readonly requestVerdicts: RequestVerdicts;
  /** Returns the canonical text of an address, or undefined for any other text. */
  readonly canonicalIp: (text: string) => string | undefined;
  readonly knownHeaders: KnownHeaders;
  /** Called for every request, with what was trimmed from it. */
  readonly onTrimmed: (trimming: Trimming) => void;
  readonly onDenied: OnDenied;
  /** As `ReportWait.wait`. */
  readonly waitForReport: (
    project: ProjectSettings,
    token: string,
    waitMs: number,
    isOver: () => boolean,
  ) => Promise<void> | null;
}

/** By private key with an active subscription; 401, 402 and 422 are its only refusals. */
export function requestVerdictRoute(services: RequestVerdictServices): RawRoute {
  return {
    method: "post",
    path: "/v1/verdict",
    credential: "private-key-raw",
    doc: {
      id: "judgeRequest",
      tag: "data plane",
      summary: "The verdict on a visitor's request, with or without a session",
      description:
        "While the project has request scoring off, the answer is that of the verdict read. Nothing that a visitor sends can make the call " +
        "fail: values are cut to 512 characters (4096 for the signature fields), the first 100 headers count, and a field of a wrong type " +
        "counts as missing. It is computed each time, fails open on any error, and never answers 429. 422 only for a body that is not a JSON " +
        "object, has no `request`, or is over 64 KiB. With `issue_token` the answer to a navigation of a visitor who brings no token of use has a " +
        "new `session_token`, which makes a session with the first report under it, within 24 hours. With `wait_ms` (0 to 1000, otherwise 422) the " +
        "answer waits for a report of a session that has no score yet, or sent none in the last 2 s. If its last report is fresher, the answer " +
        "takes 25 to 40 ms, because the next one may be just behind the question; right after a report it comes at once. Where there is an `agent`, " +
        "the `reason` says who it is and how it is known, unless an exception lets it through.",
      body: "VerdictBody",
      answers: { 200: "RequestVerdict" },
    },
    handleRaw: (exchange, req) => judgeRequest(services, exchange, req),
  };
}

function judgeRequest(services: RequestVerdictServices, exchange: Exchange, req: HttpRequest): void {
  readKeyedBody(
    services,
    exchange,
    req,
    () => replyOf(failOpenAnswer),
    (holder, bytes) => answer(services, exchange, holder, bytes),
  );
}

function answer(
  services: RequestVerdictServices,
  exchange: Exchange,
  { project }: AuthenticatedKey,
  bytes: Buffer,
): void {
  const question = decodeVerdictBody(bytes, services.canonicalIp, services.knownHeaders);
  if (question instanceof Refusal) {
    exchange.send(refusal(question));
    return;
  }
  services.onTrimmed(question.trimming);
  const { sessionToken, waitMs } = question;
  const waiting =
    sessionToken === null ? null : services.waitForReport(project, sessionToken, waitMs, () => exchange.isOver);
  if (waiting === null) judge(services, exchange, project, question);
  else {
    void waiting.then(() => {
      if (!exchange.isOver) judge(services, exchange, project, question);
    });
  }
}

function judge(
  services: RequestVerdictServices,
  exchange: Exchange,
  project: AuthenticatedKey["project"],
  question: VerdictQuestion,
): void {
  const judged = services.requestVerdicts.judge(project, question);
  const send = (judgement: RequestAnswer): void => {
    const { sessionToken, request } = question;
    const { action } = judgement.text.verdict;
    services.onDenied(project.id, sessionToken, request.context.ip, exchange.requestId, action);
    exchange.sendAtTickEnd(replyOf(judgement));
  };
  if (judged instanceof Promise) void judged.then(send);
  else send(judged);
}

function replyOf(judged: RequestAnswer): Reply {
  return { status: 200, body: requestVerdictText(judged) };
}
