/** Programs of customers that use `verdictd-client`: those that are only type-checked, and those that run. */

const client = "{ baseUrl: process.env.BASE, privateKey: process.env.PRIVATE_KEY }";

const express = `import { verdictd, type Visit } from "verdictd-client/express";
const client = ${client};
const app = express();
app.use(verdictd({ client }));
app.use(verdictd({ client, challenge: "verdictd", siteKey: "pk_x", clientIp: (req) => req.ip, skip: (req) => req.path === "/" }));
app.use(verdictd({ client, challenge: (req, res, next) => (req.query["a"] ? next() : res.status(418).send("no")) }));
const hook: express.RequestHandler = (_req, res) => res.redirect("/captcha");
app.use(verdictd<express.Request, express.Response>({ client, challenge: hook }));
app.get("/shop/:id", verdictd({ client }), (req, res) => {
  const visit: Visit | undefined = req.verdictd;
  const id: string = req.params.id;
  res.json({ id, verdict: visit?.verdict.verdict, score: visit?.verdict.score });
});
app.post("/login", async (req, res) => { res.json(await req.verdictd?.loggedIn()); });
// @ts-expect-error: misspelt
verdictd({ client, chalenge: "page" });
// @ts-expect-error: no such word
verdictd({ client, challenge: "deny" });
`;

const fastify = `import Fastify from "fastify";
import { verdictd } from "verdictd-client/fastify";
const client = ${client};
const app = Fastify({ trustProxy: "10.0.0.1" });
app.register(verdictd, { client, challenge: async (request, reply) => reply.code(418).send(request.url) });
app.get("/", async (request) => ({ verdict: request.verdictd?.verdict.verdict }));
const secure = Fastify({ http2: true, logger: true });
secure.register(verdictd, { client });
// @ts-expect-error: misspelt
app.register(verdictd, { clinet: client });
`;

const fetchStyle = `import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { createClient, type CheckedVerdict, type VerdictClient } from "verdictd-client";
import { init } from "verdictd-client/browser";
import { createClient as same } from "verdictd-client/client";
import { createGuard, type HonoVariables, honoVerdictd, withVerdict } from "verdictd-client/fetch";
const client = ${client};
const app = new Hono<{ Variables: HonoVariables }>();
app.use(honoVerdictd({ client, clientIp: (c) => getConnInfo(c).remote.address, challenge: (c) => c.text("no", 418) }));
app.get("/", (c) => c.json({ verdict: c.get("verdictd")?.verdict.verdict }));
const bare = new Hono().use(honoVerdictd({ client }));
bare.get("/", (c) => c.json({ verdict: c.get("verdictd")?.verdict.verdict }));
serve({ fetch: app.fetch, port: 3000 });
const shared: VerdictClient = createClient(client);
export const read: Promise<CheckedVerdict> = same(client).verdict("sess_x", { path: "/", ip: "127.0.0.1" });
export const guard = createGuard({ client: shared });
export default { fetch: withVerdict((_request, visit) => Response.json(visit?.verdict.score), { client }) };
export const sdk = init({ siteKey: "pk_x", cookieSameSite: "None", consent: "wait" });
const unset: string | undefined = process.env.UNSET;
export const unsetSdk = init({ siteKey: "pk_x", endpoint: unset, cookieDomain: unset });
export const unsetGuard = createGuard({ client, siteKey: unset, scriptOrigin: unset, challenge: undefined });
export const again: Promise<Response> = (globalThis.window?.verdictd ?? globalThis).fetch("/api", { method: "POST" });
// @ts-expect-error: not a function of the context
honoVerdictd({ client, skip: "/health" });
// @ts-expect-error: a key is missing
createClient({ baseUrl: "http://127.0.0.1:8080" });
// @ts-expect-error: a key is a text
init({ siteKey: 7 });
`;

/** By file: modules of both kinds in one project. */
export const typed: Readonly<Record<string, string>> = {
  "express.mts": `import express from "express";\n${express}`,
  "express.cts": `import express = require("express");\n${express}`,
  "fastify.mts": fastify,
  "fastify.cts": fastify,
  "fetch.mts": fetchStyle,
};

const options = `{ client: { ...${client}, timeoutMs: 10_000 }, challenge: "verdictd", siteKey: process.env.SITE_KEY }`;
const expressApp = `const app = express().use(verdictd(${options}));
app.use((req, res) => res.json({ verdict: req.verdictd.verdict.verdict }));
app.listen(process.env.PORT, "127.0.0.1");
`;
const fastifyApp = `const app = Fastify();
app.register(verdictd, ${options});
app.get("/*", async (request) => ({ verdict: request.verdictd.verdict.verdict }));
app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
`;
const honoApp = `const app = new Hono();
app.use(honoVerdictd(${options}));
app.get("/*", (c) => c.json({ verdict: c.get("verdictd").verdict.verdict }));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
`;
const fetchApp = `const handle = withVerdict((request, visit) => Response.json({ verdict: visit.verdict.verdict }), ${options});
serve({ fetch: (request) => handle(request), port: Number(process.env.PORT), hostname: "127.0.0.1" });
`;

/** By file: sites that answer every path with the verdict, on `PORT`. */
export const programs: Readonly<Record<string, string>> = {
  "express.mjs": `import express from "express";\nimport { verdictd } from "verdictd-client/express";\n${expressApp}`,
  "express.cjs": `const express = require("express");\nconst { verdictd } = require("verdictd-client/express");\n${expressApp}`,
  "fastify.mjs": `import Fastify from "fastify";\nimport { verdictd } from "verdictd-client/fastify";\n${fastifyApp}`,
  "fastify.cjs": `const Fastify = require("fastify");\nconst { verdictd } = require("verdictd-client/fastify");\n${fastifyApp}`,
  "hono.mjs": `import { serve } from "@hono/node-server";\nimport { Hono } from "hono";\nimport { honoVerdictd } from "verdictd-client/fetch";\n${honoApp}`,
  "hono.cjs": `const { serve } = require("@hono/node-server");\nconst { Hono } = require("hono");\nconst { honoVerdictd } = require("verdictd-client/fetch");\n${honoApp}`,
  "fetch.mjs": `import { serve } from "@hono/node-server";\nimport { withVerdict } from "verdictd-client/fetch";\n${fetchApp}`,
};
