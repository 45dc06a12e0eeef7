/**
 * `verdictd-client/fastify`: the plugin for Fastify 4 and 5. `await app.register(verdictd, { client: { baseUrl, privateKey } })`; the verdict
 * is on `request.verdictd` from the `onRequest` hook on, before a body is read. Imports Fastify's types only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Guard, type GuardOptions, type RouterIgnores, type SeenRequest, type Visit } from "./guard.js";
import { privateCaching } from "./session-cookie-header.js";

export type { DenialPages, DenialTexts } from "./denial-page.js";
export type { Visit } from "./guard.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by verdictd's plugin; null for a request that was skipped. */
    verdictd: Visit | null;
  }
}

/** Answers through `reply`, or does not and lets the visitor in. When it throws or rejects, the visitor is let in. */
export type FastifyChallenge = (request: FastifyRequest, reply: FastifyReply, visit: Visit) => unknown;

/** Options of the plugin: those of every middleware, and how to read a Fastify request. */
export interface FastifyOptions extends GuardOptions<FastifyChallenge> {
  /** The visitor's address; default `request.ip`, which is right once Fastify's `trustProxy` is. */
  readonly clientIp?: ((request: FastifyRequest) => string | undefined) | undefined;
  /** Requests to leave alone. */
  readonly skip?: ((request: FastifyRequest) => boolean) | undefined;
}

/** The plugin; for the whole application it is registered on, not only for plugins below it. */
export const verdictd: (app: FastifyInstance, options: FastifyOptions) => Promise<void> = Object.assign(register, {
  // Fastify's own mark for a plugin that is not encapsulated.
  [Symbol.for("skip-override")]: true,
});

async function register(app: FastifyInstance, options: FastifyOptions): Promise<void> {
  const guard = new Guard(options);
  const ignores = ignoredBy(app);
  app.decorateRequest("verdictd", null);
  // When the answer is whole, so that nothing that the application sets later can lose the cookie.
  app.addHook("onSend", async (request, reply) => {
    const setCookie = request.verdictd?.setCookie ?? null;
    if (setCookie !== null) addCookie(reply, setCookie);
  });
  app.addHook("onRequest", async (request, reply) => {
    if (guard.skips(() => options.skip?.(request))) return undefined;
    const visit = await guard.visit(() => ({ ...see(request, options), ignores }));
    request.verdictd = visit;
    const step = await guard.step(visit, request.headers.accept ?? "", request.headers["accept-language"] ?? "");
    if (step.step === "respond") {
      const { status, headers, body } = step.response;
      return reply.code(status).headers(headers).send(body);
    }
    if (step.step === "challenge") await challenge(guard, request, reply, visit);
    return reply.sent ? reply : undefined;
  });
}

/** Fastify keeps the cookies of its answers side by side. */
function addCookie(reply: FastifyReply, setCookie: string): void {
  const caching = reply.getHeader("cache-control");
  reply.header("Set-Cookie", setCookie);
  reply.header("Cache-Control", privateCaching(caching === undefined ? "" : String(caching)));
}

function see(request: FastifyRequest, options: FastifyOptions): SeenRequest {
  const { headers } = request;
  const authority = headers[":authority"];
  return {
    target: request.originalUrl,
    method: request.method,
    // HTTP/2 has the host as a pseudo-header.
    host: headers.host ?? (Array.isArray(authority) ? authority[0] : authority),
    ip: options.clientIp === undefined ? request.ip : options.clientIp(request),
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    headers: () => Object.entries(headers),
    isSecure: request.protocol === "https",
  };
}

/** As its router reads paths: Fastify 5 has these settings among those of the router. */
function ignoredBy({ initialConfig, version }: FastifyInstance): RouterIgnores[] {
  interface Settings {
    readonly caseSensitive?: boolean;
    readonly ignoreTrailingSlash?: boolean;
    readonly useSemicolonDelimiter?: boolean;
    readonly routerOptions?: Settings;
  }
  const config = initialConfig as Settings;
  const { caseSensitive, ignoreTrailingSlash, useSemicolonDelimiter }: Settings = {
    ...config,
    ...config.routerOptions,
  };
  const ignored: RouterIgnores[] = [];
  if (caseSensitive === false) ignored.push("case");
  if (ignoreTrailingSlash === true) ignored.push("trailing-slash");
  if (useSemicolonDelimiter ?? /^[1-4]\./.test(version)) ignored.push("path-parameters");
  return ignored;
}

async function challenge(
  guard: Guard<FastifyChallenge>,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit,
): Promise<void> {
  try {
    await guard.challenge?.(request, reply, visit);
  } catch (cause) {
    guard.reportHook("the challenge threw", cause);
  }
}
