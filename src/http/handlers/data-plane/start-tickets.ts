/** `POST /v1/start-tickets`, which the SDK's second file calls. Tickets are signed here and stored nowhere; `ingest/start-ticket.ts` explains them. */
import type { Credentials } from "../../../auth/credentials.js";
import type { StartTicketAnswer } from "../../../contract/sessions/session-answers.js";
import { Refusal } from "../../../errors.js";
import { issueTicket } from "../../../ingest/start-ticket.js";
import { limits } from "../../../limits.js";
import { ambiguous } from "../../framing.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { PublicRoute, RawRoute } from "../../route.js";
import { cors, preflightRoute } from "./cors.js";
import { IngestHeaderReader, type IngestHeaders } from "./ingest-headers.js";

/** What signing a ticket needs: the key's project, the visitor's network, the time. */
interface StartTicketServices {
  readonly credentials: Credentials;
  /** As batches know the visitor's address. */
  readonly clientIp: (socketAddress: string, forwardedFor: string) => string;
  readonly now: () => number;
}

/** `POST /v1/start-tickets` by site key, and its CORS preflight. */
export function startTicketRoutes(services: StartTicketServices): [RawRoute, PublicRoute] {
  const reader = new IngestHeaderReader();
  return [
    {
      method: "post",
      path: "/v1/start-tickets",
      credential: "site-key",
      doc: {
        id: "issueStartTicket",
        tag: "data plane",
        summary: "A start ticket, which the SDK hands back with its reports",
        description:
          "Used by the SDK's second file, with the site key in the header `X-Service-Site-Key`; a body is ignored. The ticket is signed, " +
          "valid for this project, the visitor's network and ten minutes, and counts once, as `start_ticket` of an event. Batches without one " +
          "are accepted like any other.",
        answers: { 200: "StartTicketAnswer" },
      },
      checksFraming: true,
      handleRaw(exchange, req) {
        const headers = reader.read(req);
        if (!headers.isAmbiguous) exchange.framedBy(headers);
        exchange.send({ ...answer(services, headers, exchange.socketAddress), headers: cors });
      },
    },
    preflightRoute("/v1/start-tickets", "preflightStartTicket"),
  ];
}

function answer(
  { credentials, clientIp, now }: StartTicketServices,
  headers: IngestHeaders,
  socketAddress: string,
): Reply {
  if (headers.isAmbiguous) return ambiguous;
  const holder = credentials.subscribedKey("site", headers.siteKey);
  if (holder instanceof Refusal) return refusal(holder);
  const nowMs = now();
  return json(200, {
    start_ticket: issueTicket(holder.project, clientIp(socketAddress, headers.forwardedFor), nowMs),
    expires_at: new Date(nowMs + limits.startTicketMs).toISOString(),
  } satisfies StartTicketAnswer);
}
