/**
 * The peer, in a process of its own: what a team would build of Fastify 5 and Redis for the same two jobs. Ingest: the body checked by
 * Fastify's JSON schema, events dropped that the session has shown, a session hash, idempotent first contact; one pipeline a
 * round trip. Verdict: the stored hash, answered through a response schema. It scores nothing: that is in its favour.
 */
import { randomBytes } from "node:crypto";
import fastify from "fastify";
import { Redis } from "ioredis";

/** What the harness tells this process on its command line, as JSON. */
export interface PeerOptions {
  readonly redisSocket: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

interface Batch {
  readonly session_token: string | null;
  readonly events: readonly {
    readonly request_id: string;
    readonly type: string;
    readonly payload: { readonly path?: string };
  }[];
}

const options = JSON.parse(process.argv[2]!) as PeerOptions;
const redis = new Redis(options.redisSocket, { enableAutoPipelining: true });
const app = fastify();
const dayS = 86_400;

const batchSchema = {
  type: "object",
  required: ["session_token", "events"],
  properties: {
    session_token: { type: ["string", "null"] },
    events: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: {
        type: "object",
        required: ["request_id", "type", "received_at", "payload"],
        additionalProperties: false,
        properties: {
          request_id: { type: "string", pattern: "^[A-Za-z0-9_-]{8,64}$" },
          type: { type: "string", maxLength: 20 },
          received_at: { type: "string", format: "date-time" },
          payload: {
            type: "object",
            properties: {
              path: { type: "string", maxLength: 512 },
              points: { type: "array", maxItems: 256, items: { type: "array", items: { type: "number" } } },
              strokes: { type: "array", maxItems: 256, items: { type: "array", items: { type: "number" } } },
            },
            additionalProperties: {
              anyOf: [{ type: "string", maxLength: 512 }, { type: "number" }, { type: "boolean" }],
            },
          },
        },
      },
    },
  },
} as const;

const verdictSchema = {
  type: "object",
  properties: {
    verdict: { type: "string" },
    score: { type: "integer" },
    action: { type: "string" },
    detection_ids: { type: "array", items: { type: "integer" } },
    reason: { type: "string" },
  },
} as const;

async function tokenOf(batch: Batch, idempotencyKey: string | undefined): Promise<string> {
  if (batch.session_token !== null && (await redis.exists(`s:${batch.session_token}`)) === 1)
    return batch.session_token;
  const minted = `sess_${randomBytes(21).toString("base64url")}`;
  if (idempotencyKey === undefined) return minted;
  const [, held] = (await redis
    .pipeline()
    .set(`i:${idempotencyKey}`, minted, "EX", dayS, "NX")
    .get(`i:${idempotencyKey}`)
    .exec()) as [unknown, [unknown, string]];
  return held[1];
}

app.post<{ Body: Batch }>("/v1/events", { schema: { body: batchSchema } }, async (request, reply) => {
  if (request.headers["x-service-site-key"] !== options.siteKey)
    return reply.code(401).send({ code: "UNAUTHENTICATED" });
  const { events } = request.body;
  const token = await tokenOf(request.body, request.headers["idempotency-key"] as string | undefined);
  const accepted = await redis.sadd(
    `r:${token}`,
    events.map((event) => event.request_id),
  );
  const path = events.findLast((event) => event.payload.path !== undefined)?.payload.path ?? "";
  await redis
    .pipeline()
    .hset(`s:${token}`, "ua", request.headers["user-agent"] ?? "", "ip", request.ip, "path", path, "seen", Date.now())
    .hincrby(`s:${token}`, "events", accepted)
    .expire(`s:${token}`, 30 * dayS)
    .expire(`r:${token}`, 30 * dayS)
    .exec();
  return reply.code(202).send({ session_token: token, accepted, duplicates: events.length - accepted });
});

app.get<{ Params: { token: string } }>(
  "/v1/sessions/:token/verdict",
  { schema: { response: { 200: verdictSchema } } },
  async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${options.privateKey}`) {
      return reply.code(401).send({ code: "UNAUTHENTICATED" } as never);
    }
    const session = await redis.hgetall(`s:${request.params.token}`);
    const isKnown = session["events"] !== undefined;
    return {
      verdict: isKnown ? "likely_human" : "not_computed",
      score: isKnown ? 60 : 0,
      action: "allow",
      detection_ids: [],
      reason: isKnown ? "Likely human (score 60): no evidence of automation." : "Not computed.",
    };
  },
);

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.send!(typeof address === "object" && address !== null ? address.port : 0);
process.on("disconnect", () => process.exit());
