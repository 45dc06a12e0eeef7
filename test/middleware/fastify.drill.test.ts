/** Holds the Fastify plugin to what every middleware has to do, with the real Fastify. */
import { fastify } from "fastify";
import t from "tap";
import { type FastifyChallenge, verdictd } from "../../src/middleware/fastify.js";
import { type AppOptions, checkMiddleware, checkOutage, type StartApp, seenOf } from "./claims.js";
import { startVerdictd } from "./verdictd-process.js";

const start: StartApp = async (t, { challenge, hooks, ...options }) => {
  const app = fastify();
  await app.register(verdictd, {
    ...options,
    ...challengeOption(challenge),
    ...(hooks === "throws" && {
      clientIp: () => {
        throw new Error("no address");
      },
    }),
  });
  app.post("/login", (request) => request.verdictd?.loggedIn());
  // In a scope of its own: the plugin reaches it all the same.
  await app.register(async (scope) => {
    scope.get("/*", async (request) => seenOf(request.url, request.verdictd));
  });
  t.teardown(() => app.close());
  return app.listen({ port: 0, host: "127.0.0.1" });
};

function challengeOption(challenge: AppOptions["challenge"]): { challenge?: "allow" | "page" | FastifyChallenge } {
  if (challenge === undefined || challenge === "allow" || challenge === "page") return challenge ? { challenge } : {};
  const hooks: Record<typeof challenge, FastifyChallenge> = {
    own: (_request, reply) => reply.code(418).send("prove it"),
    passes: () => undefined,
    throws: () => {
      throw new Error("the challenge is broken");
    },
  };
  return { challenge: hooks[challenge] };
}

const running = await startVerdictd(t);
t.test("fastify", (t) => checkMiddleware(t, start, running));
t.test("fastify while verdictd is down", (t) => checkOutage(t, start, running));
