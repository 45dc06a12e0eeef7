/**
 * The shop of `challenged-site.ts` behind each middleware and each proxy recipe, verdictd's scripts and routes on the shop's own domain: each
 * gives the shop's origin, and ends with the test.
 */
import { mkdirSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import { proxy } from "hono/proxy";
import type { Test } from "tap";
import { verdictd as expressVerdictd } from "../../src/middleware/express.js";
import { verdictd as fastifyVerdictd } from "../../src/middleware/fastify.js";
import { honoVerdictd } from "../../src/middleware/fetch.js";
import { startCaddy, startNginx } from "../middleware/proxies.js";
import { missing, type StartProxy } from "../middleware/proxy.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { openShop, type Shop, shopAnswer } from "./challenged-site.js";

type OpenFront = (t: Test, shop: Shop) => Promise<string>;

/** What visitors' browsers ask of verdictd. */
const ownPaths = [
  "/sdk.js",
  "/sdk-probes.js",
  "/sdk-agents.js",
  "/challenge.js",
  "/v1/events",
  "/v1/start-tickets",
  "/v1/challenges",
  "/v1/challenges/solution",
];

function middlewareOptions({ server, tenant, requests = false }: Shop) {
  const client = { baseUrl: server.address, privateKey: tenant.privateKey, timeoutMs: 10_000 };
  return { client, challenge: "verdictd", siteKey: tenant.siteKey, requests } as const;
}

function pathOf(url: string): string {
  return url.split("?", 1)[0]!;
}

function forward({ server }: Shop, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = incoming;
  const upstream = request(server.address + pathOf(incoming.url ?? "/"), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on("error", () => response.destroy());
  incoming.pipe(upstream);
}

function respond({ tenant }: Shop, incoming: IncomingMessage, response: ServerResponse): void {
  const answer = shopAnswer(tenant.siteKey, incoming.method ?? "", pathOf(incoming.url ?? "/"));
  if (answer === null) response.writeHead(404).end();
  else response.writeHead(200, answer.headers).end(answer.body);
}

async function listen(t: Test, server: Server): Promise<string> {
  return `http://${await listening(t, server)}`;
}

const openExpress: OpenFront = (t, shop) => {
  const app = express();
  app.use((req, res, next) => {
    res.once("finish", () => shop.answered?.(req.path, res.statusCode));
    next();
  });
  app.use((req, res, next) => (ownPaths.includes(req.path) ? forward(shop, req, res) : next()));
  app.use(expressVerdictd(middlewareOptions(shop)));
  app.use((req, res) => {
    const answer = shopAnswer(shop.tenant.siteKey, req.method, req.path);
    if (answer === null) res.sendStatus(404);
    else res.set(answer.headers).send(answer.body);
  });
  return listen(t, createServer(app));
};

const openFastify: OpenFront = async (t, shop) => {
  const app = fastify();
  app.addHook("onRequest", async (incoming, reply) => {
    if (!ownPaths.includes(pathOf(incoming.url))) return;
    reply.hijack();
    forward(shop, incoming.raw, reply.raw);
  });
  await app.register(fastifyVerdictd, middlewareOptions(shop));
  // A browser's form.
  app.addContentTypeParser("application/x-www-form-urlencoded", (_incoming, body, done) => {
    body.resume().once("end", () => done(null));
  });
  app.all("/*", (incoming, reply) => {
    const answer = shopAnswer(shop.tenant.siteKey, incoming.method, pathOf(incoming.url));
    return answer === null ? reply.code(404).send() : reply.headers(answer.headers).send(answer.body);
  });
  t.teardown(() => app.close());
  return app.listen({ port: 0, host: "127.0.0.1" });
};

const openHono: OpenFront = (t, shop) => {
  const app = new Hono();
  for (const path of ownPaths) app.all(path, (c) => proxy(shop.server.address + path, { raw: c.req.raw }));
  app.use(honoVerdictd(middlewareOptions(shop)));
  app.all("*", (c) => {
    const answer = shopAnswer(shop.tenant.siteKey, c.req.method, c.req.path);
    return answer === null ? c.notFound() : c.body(answer.body, 200, answer.headers);
  });
  return listen(t, createAdaptorServer({ fetch: app.fetch }) as Server);
};

function behind(start: StartProxy): OpenFront {
  return async (t, shop) => {
    const site = await listen(
      t,
      createServer((incoming, response) => respond(shop, incoming, response)),
    );
    const sitePort = await freePort();
    const folder = join(t.testdirName, `proxy-${sitePort}`);
    mkdirSync(folder, { recursive: true });
    await start(t, {
      verdictd: new URL(shop.server.address).host,
      privateKey: shop.tenant.privateKey,
      application: new URL(site).host,
      sitePort,
      folder,
      answerMs: 10_000,
    });
    return `http://127.0.0.1:${sitePort}`;
  };
}

/** By name; `missing` says why one can't be opened here. */
export const fronts: readonly { name: string; open: OpenFront; missing: string | undefined }[] = [
  { name: "nginx", open: behind(startNginx), missing: missing("nginx") },
  { name: "Caddy", open: behind(startCaddy), missing: missing("caddy") },
  { name: "Express", open: openExpress, missing: undefined },
  { name: "Fastify", open: openFastify, missing: undefined },
  { name: "Hono", open: openHono, missing: undefined },
];

export interface ChallengedSite extends Shop {
  readonly origin: string;
}

/** The shop behind Express with the middleware. */
export async function openChallengedSite(t: Test, answered?: Shop["answered"]): Promise<ChallengedSite> {
  const shop: Shop = { ...(await openShop(t)), ...(answered && { answered }) };
  return { ...shop, origin: await openExpress(t, shop) };
}
