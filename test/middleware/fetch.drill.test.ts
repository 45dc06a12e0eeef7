/** Holds the fetch-style middlewares to what every middleware has to do: with the real Hono, and bare as Next and Workers use it. */
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import t, { type Test } from "tap";
import { createGuard, type FetchChallenge, type HonoVariables, honoVerdictd } from "../../src/middleware/fetch.js";
import { listening } from "../support/listening.js";
import { type AppOptions, checkMiddleware, checkOutage, type StartApp, seenOf } from "./claims.js";
import { startVerdictd } from "./verdictd-process.js";

type App = { Variables: HonoVariables; Bindings: HttpBindings };

async function listen(
  t: Test,
  fetchCallback: (request: Request, env?: HttpBindings | object) => Response | Promise<Response>,
): Promise<string> {
  return `http://${await listening(t, createAdaptorServer({ fetch: fetchCallback }))}`;
}

function challengeOption(challenge: AppOptions["challenge"]): {
  challenge?: "allow" | "page" | FetchChallenge<unknown>;
} {
  if (challenge === undefined || challenge === "allow" || challenge === "page") return challenge ? { challenge } : {};
  const hooks: Record<typeof challenge, FetchChallenge<unknown>> = {
    own: () => new Response("prove it", { status: 418 }),
    passes: () => null,
    throws: () => Promise.reject(new Error("the challenge is broken")),
  };
  return { challenge: hooks[challenge] };
}

const broken = (): never => {
  throw new Error("no address");
};

const startHono: StartApp = async (t, { challenge, hooks, ...options }) => {
  const app = new Hono<App>();
  const clientIp = hooks === "throws" ? broken : (c: Context<App>) => getConnInfo(c).remote.address;
  app.use(honoVerdictd<Context<App>>({ ...options, ...challengeOption(challenge), clientIp }));
  app.post("/login", async (c) => c.json(await c.get("verdictd")?.loggedIn()));
  app.get("*", (c) => c.json(seenOf(c.req.path, c.get("verdictd"))));
  return listen(t, app.fetch);
};

/** As a middleware of Next or a Worker would: a request comes in, the guard's response or the site's own goes out. */
const startBare: StartApp = async (t, { challenge, hooks, ...options }) => {
  const guard = createGuard({
    ...options,
    ...challengeOption(challenge),
    clientIp: hooks === "throws" ? broken : () => "127.0.0.1",
  });
  return listen(t, async (request) => {
    const { visit, response } = await guard(request);
    if (response !== null) return response;
    const path = new URL(request.url).pathname;
    return Response.json(path === "/login" ? await visit?.loggedIn() : seenOf(path, visit));
  });
};

const running = await startVerdictd(t);
t.test("hono", (t) => checkMiddleware(t, startHono, running));
t.test("hono while verdictd is down", (t) => checkOutage(t, startHono, running));
t.test("a bare fetch handler", (t) => checkMiddleware(t, startBare, running));
