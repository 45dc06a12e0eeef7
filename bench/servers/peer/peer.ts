/**
 * The peer, in a process of its own: the same two jobs as a team would build them of Fastify 5 and Redis, with verdictd's own folding and
 * scoring, so that the stacks are compared and not the scores. Left out, in its favour: a memory of pointer paths across sessions, quotas,
 * verified crawlers, projects that change while it runs, request contexts, recorded blocks, metrics. Left out, against it: a verdict cache in the process.
 */
import fastify, { type FastifyRequest } from "fastify";
import { Redis } from "ioredis";
import type { IngestBatch } from "../../../src/contract/events/events.js";
import {
  batchHeaders,
  headerFactsOf,
  type RequestFacts,
  requestFactsOf,
} from "../../../src/contract/evidence/header-facts.js";
import { detections } from "../../../src/detections/catalogue.js";
import { bandOf } from "../../../src/verdict/bands.js";
import { failOpenReason, verdictReason } from "../../../src/verdict/reason.js";
import { rules } from "./rules.js";
import { batchSchema, contractSchema, ingestSchema, verdictSchema } from "./schema.js";
import { Sessions } from "./sessions.js";

/** What the harness tells this process on its command line, as JSON. */
export interface PeerOptions {
  readonly redisSocket: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

const options = JSON.parse(process.argv[2]!) as PeerOptions;
const bearer = `Bearer ${options.privateKey}`;
const threshold = 30;
const sessions = new Sessions(new Redis(options.redisSocket, { enableAutoPipelining: true }));
const meanings = new Map(detections.map(({ id, meaning }) => [id, meaning]));
// Unknown keys are refused and numbers in quotes are not numbers, as the contract has it.
const app = fastify({
  bodyLimit: 256 * 1024,
  ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, strictTypes: false } },
});
app.addSchema(contractSchema);
app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
  const isTheirs = (error.statusCode ?? 500) < 500;
  return reply
    .code(isTheirs ? 422 : 500)
    .send({ error: "Refused", message: error.message, code: isTheirs ? "INVALID_PAYLOAD" : "INTERNAL" });
});
const unauthenticated = { error: "Unauthenticated", message: "a valid key is required", code: "UNAUTHENTICATED" };

app.post<{ Body: IngestBatch }>(
  "/v1/events",
  { schema: { body: batchSchema, response: { 202: ingestSchema } } },
  async (request, reply) => {
    if (request.headers["x-service-site-key"] !== options.siteKey) {
      return reply.code(401).send(unauthenticated);
    }
    const { body } = request;
    const { token, accepted } = await sessions.record(body, headerOf(request, "idempotency-key"), factsOf(request));
    reply.header("Access-Control-Allow-Origin", "*");
    return reply.code(202).send({ session_token: token, accepted, duplicates: body.events.length - accepted });
  },
);

app.get<{ Params: { token: string } }>(
  "/v1/sessions/:token/verdict",
  { schema: { response: { 200: verdictSchema } } },
  async (request, reply) => {
    if (request.headers.authorization !== bearer) return reply.code(401).send(unauthenticated);
    const session = await sessions.scoredState(request.params.token);
    if (session === null) {
      return { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], reason: failOpenReason };
    }
    const band = bandOf(session.engineScores, session.score, threshold);
    const ageSeconds = Math.max(0, Math.floor((Date.now() - session.firstSeenMs) / 1000));
    const rule = rules.find(({ matches }) => matches(session, band, ageSeconds));
    const ids = band !== "likely_human" || rule !== undefined ? session.detectionIds : [];
    const words = verdictReason(
      band,
      session.score,
      ids.map((id) => meanings.get(id) ?? "").filter((meaning) => meaning !== ""),
    );
    return {
      verdict: band,
      score: session.score,
      action: rule?.action ?? "allow",
      detection_ids: ids,
      reason: rule === undefined ? words : `${words} Challenged by rule "${rule.name}".`,
    };
  },
);

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

function factsOf(request: FastifyRequest): RequestFacts {
  const headers = headerFactsOf((position) => headerOf(request, batchHeaders[position]!.name) ?? "");
  return requestFactsOf(headers, Date.now(), request.ip);
}

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.send!(typeof address === "object" && address !== null ? address.port : 0);
process.on("disconnect", () => process.exit());
