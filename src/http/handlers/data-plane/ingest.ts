/** `POST /v1/events`: reads the batch from the socket and puts it in the queue; a scoring thread does the rest. */
import type { Credentials } from "../../../auth/credentials.js";
import type { IngestAnswer } from "../../../contract/events/events.js";
import { type RequestFacts, requestFactsOf } from "../../../contract/evidence/header-facts.js";
import type { VisitSender } from "../../../contract/evidence/visit-facts.js";
import { Refusal, refuse } from "../../../errors.js";
import type { IngestOutcome } from "../../../ingest/commit-batches.js";
import type { IngestRequest } from "../../../ingest/frame.js";
import { badIdempotencyKey, isIdempotencyKey } from "../../../ingest/idempotency.js";
import type { IngestQueue } from "../../../ingest/queue.js";
import type { Standing } from "../../../ingest/steady.js";
import type { VisitorIdentities } from "../../../ingest/visitor-identities.js";
import { limits } from "../../../limits.js";
import type { Timelines } from "../../../recording/timelines.js";
import type { Exchange } from "../../exchange.js";
import { ambiguous } from "../../framing.js";
import { type Reply, refusal } from "../../reply.js";
import type { PublicRoute, RawRoute } from "../../route.js";
import { cors, ingestHeaders, preflightRoute } from "./cors.js";
import { IngestHeaderReader, type IngestHeaders } from "./ingest-headers.js";

/** The parts of its thread that ingest needs; `disk` refuses batches while there is no room. */
interface IngestServices {
  readonly queue: IngestQueue;
  readonly disk: { readonly hasRoom: boolean };
  readonly credentials: Credentials;
  /** The visitor's address in canonical text: the socket's, or the forwarded one behind a trusted proxy. */
  readonly clientIp: (socketAddress: string, forwardedFor: string) => string;
  readonly identities: Pick<VisitorIdentities, "peek" | "resolve">;
  readonly timelines: Pick<Timelines, "follow">;
  /** Sessions that asked for a challenge: their batches are neither sampled nor shed. */
  readonly askedSessions: {
    hasAny(nowMs: number): boolean;
    /** Null for a batch of any other session. */
    begin(body: Buffer, nowMs: number): { end(): void } | null;
  };
  /** Counts reports that verdicts may wait for; null for one that none waits for. */
  readonly underWay: { begin(body: Buffer, nowMs: number): { end(): void } | null };
  /** Told of each report that was stored, and of each that could not be taken: when it arrived, ms since the epoch. */
  readonly visits: {
    report(token: string, atMs: number, sender: VisitSender | null): void;
    missed(atMs: number): void;
  };
  /** Times its interval that the SDK may wait for its next batch where the verdict stands; at most twice where it is likely to. */
  readonly steadyInterval: number;
  readonly now: () => number;
  readonly onFailure: (error: unknown, requestId: string) => void;
}

/** `POST /v1/events` by site key, and its CORS preflight; answers any origin. */
export function ingestRoutes(services: IngestServices): [RawRoute, PublicRoute] {
  const reader = new IngestHeaderReader();
  const paces: Paces = {
    usual: ingestHeaders(1),
    likely: ingestHeaders(Math.min(likelyInterval, services.steadyInterval)),
    firm: ingestHeaders(services.steadyInterval),
  };
  return [
    {
      method: "post",
      path: "/v1/events",
      credential: "site-key",
      doc: {
        id: "ingestEvents",
        tag: "data plane",
        summary: "Send a batch of events",
        description:
          "The site key comes in the header or as `site_key` of the body. A malformed batch is rejected as a whole. Under load a batch " +
          "may be shed: 202 with `accepted` 0 and the caller's own token, or 204. Never 429. `X-Verdict-Interval` of a 202 says how many times " +
          "its usual interval a client may wait for its next batch (1, or more where the verdict stands or is likely to), and that `packed_points` are understood; `X-Verdict-Packing`, the latest form of packed points and clicks that is understood.",
        parameters: [
          {
            in: "header",
            name: "Idempotency-Key",
            description: "Names the batch: a retry of a first contact resolves to the same session. Kept for 24 hours.",
            schema: { type: "string", minLength: 1, maxLength: limits.idempotencyKeyMax },
          },
        ],
        body: "IngestBatch",
        bodyTypes: ["application/json", "text/plain"],
        answers: { 202: "IngestAnswer", 204: "empty" },
      },
      checksFraming: true,
      handleRaw: (exchange, req) => ingest(services, paces, exchange, reader.read(req)),
    },
    preflightRoute("/v1/events", "preflightIngest"),
  ];
}

function ingest(services: IngestServices, paces: Paces, exchange: Exchange, headers: IngestHeaders): void {
  if (!headers.isAmbiguous) exchange.framedBy(headers);
  const { visits } = services;
  const atMs = services.now();
  const early = earlyRefusal(services, headers);
  if (early !== null) {
    if (early.status === 503) visits.missed(atMs);
    exchange.send({ ...early, headers: cors });
    return;
  }
  // Under overload most batches end here: what is dropped must cost little, or dropping it keeps verdicts waiting. What is left of the
  // body goes by unread.
  // Only the body tells whose it is.
  const mayBeAwaited = services.askedSessions.hasAny(services.now());
  const isSmall = headers.bodyBytes <= limits.ingestBodyBytesMax;
  if (isSmall && !mayBeAwaited && services.queue.sheds(headers.bodyBytes)) {
    visits.missed(atMs);
    exchange.send(shed);
    return;
  }
  const ip = services.clientIp(exchange.socketAddress, headers.forwardedFor);
  const facts = requestFactsOf(headers.facts, atMs, ip);
  exchange.readBody({
    bytesMax: limits.ingestBodyBytesMax,
    isAnonymous: headers.siteKey === "",
    headers: cors,
    onCrowded: () => {
      services.queue.countShed();
      visits.missed(atMs);
      return shed;
    },
    onBody: (body) => {
      const request = {
        siteKey: headers.siteKey,
        idempotencyKey: headers.idempotencyKey,
        facts,
        headers: headers.facts,
        identity: services.identities.peek(facts.ip, facts.userAgent),
        identifies: "",
        body,
      };
      const keep = services.timelines.follow(headers.siteKey, body);
      const awaited = services.askedSessions.begin(body, services.now());
      const underWay = services.underWay.begin(body, atMs);
      const settle = (outcome: IngestOutcome | Error): void => {
        awaited?.end();
        underWay?.end();
        if (outcome instanceof Error || "isShed" in outcome) visits.missed(atMs);
        else if (!(outcome instanceof Refusal)) {
          visits.report(outcome.session_token, atMs, senderOf(services, headers.siteKey, facts));
        }
        exchange.send(reply(outcome, paces));
        if (outcome instanceof Error) services.onFailure(outcome, exchange.requestId);
        keep?.(outcome);
        if (request.identity.crawlerClaim === "pending") identifyLater(services, request, outcome, exchange.requestId);
      };
      if (services.queue.offer(request, settle, awaited !== null)) return;
      awaited?.end();
      underWay?.end();
      visits.missed(atMs);
      exchange.send(shed);
    },
  });
}

/** Null where only the body named the project, as in what a page sends while it is left. */
function senderOf(
  { credentials }: IngestServices,
  siteKey: string,
  { ip, userAgent }: RequestFacts,
): VisitSender | null {
  const key = siteKey === "" ? null : credentials.subscribedKey("site", siteKey);
  return key === null || key instanceof Refusal ? null : { projectId: key.project.id, address: ip, userAgent };
}

/** Asks DNS about a claim that the address alone can't settle, and stores the result with the session. */
function identifyLater(
  { identities, queue, now, onFailure }: IngestServices,
  request: Omit<IngestRequest, "score">,
  outcome: IngestOutcome | Error,
  requestId: string,
): void {
  if (outcome instanceof Error || outcome instanceof Refusal || "isShed" in outcome) return;
  const { session_token: identifies, projectId } = outcome;
  if (projectId === undefined) return;
  identities
    .resolve(request.facts.ip, request.facts.userAgent)
    .then((identity) => {
      const facts = { ...request.facts, nowMs: now() };
      queue.offer({ ...request, facts, identity, identifies, projectId, body: Buffer.from("{}") }, (settled) => {
        if (settled instanceof Error) onFailure(settled, requestId);
      });
    })
    .catch((error: unknown) => onFailure(error, requestId));
}

/** Checks what the headers alone can tell; the scoring thread checks again, inside its transaction. */
function earlyRefusal(
  { credentials, disk, queue }: IngestServices,
  { siteKey, idempotencyKey, isAmbiguous }: IngestHeaders,
): Reply | null {
  if (isAmbiguous) return ambiguous;
  if (siteKey !== "") {
    const holder = credentials.subscribedKey("site", siteKey);
    if (holder instanceof Refusal) return refusal(holder);
    if (!isIdempotencyKey(idempotencyKey)) return refusal(badIdempotencyKey);
  }
  if (!disk.hasRoom) {
    queue.countNoRoom();
    return refusal(refuse("unavailable", "the disk is almost full; send the batch again later"));
  }
  return null;
}

function reply(outcome: IngestOutcome | Error, paces: Paces): Reply {
  if (outcome instanceof Error) return { ...unstored, headers: cors };
  if ("isShed" in outcome) return shed;
  return outcome instanceof Refusal
    ? { ...refusal(outcome), headers: cors }
    : { status: 202, body: answerText(outcome), headers: paces[outcome.standing ?? "usual"] };
}

/** The headers of an answer, by how far the session's verdict stands. */
type Paces = Readonly<Record<Standing | "usual", ReturnType<typeof ingestHeaders>>>;
/** Times its interval that the SDK may wait where the verdict is likely to stand, if `steadyInterval` lets it. */
const likelyInterval = 2;

const shed: Reply = { status: 204, headers: cors };
const unstored = refusal(refuse("unavailable", "the batch could not be stored; send it again"));

/** Returns the answer as JSON. Our tokens need no escaping: writing them directly takes a third of the time. */
function answerText({ session_token, accepted, duplicates, over_quota }: IngestAnswer): string {
  const quota = over_quota === true ? ',"over_quota":true' : "";
  return `{"session_token":"${session_token}","accepted":${accepted},"duplicates":${duplicates}${quota}}`;
}
