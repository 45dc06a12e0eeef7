/** The option `issueToken` of each middleware: the cookie goes with the page, whatever the application sets itself, and no cache may store it. */
import { createServer, type ServerResponse } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import t, { type Test } from "tap";
import { challengeResponse } from "../../src/middleware/challenge-page.js";
import { checkedCookie } from "../../src/middleware/cookie-options.js";
import { verdictd as forExpress } from "../../src/middleware/express.js";
import { verdictd as forFastify } from "../../src/middleware/fastify.js";
import { createGuard, honoVerdictd, withSessionCookie, withVerdict } from "../../src/middleware/fetch.js";
import { listening } from "../support/listening.js";
import { startVerdictd } from "./verdictd-process.js";

const running = await startVerdictd(t);
const client = { baseUrl: running.baseUrl, privateKey: running.privateKey, timeoutMs: 10_000 };
const options = { client, issueToken: true, cookieDomain: "shop.example" } as const;
const form = /^service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax; Domain=shop\.example$/;
const page = { Accept: "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate" };

async function check(t: Test, site: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const given = await fetch(site + path, { headers: page, redirect: "manual" });
    await given.arrayBuffer();
    const cookies = given.headers.getSetCookie();
    t.match(cookies.at(-1), form, path);
    t.same(cookies.slice(0, -1), path.includes("cookie") ? ["own=1"] : [], path);
    t.equal(given.headers.get("cache-control"), path.includes("no-store") ? "no-store, max-age=0" : "private", path);
    const headers = { ...page, Cookie: cookies.at(-1)!.split(";")[0]! };
    const known = await fetch(site + path, { headers, redirect: "manual" });
    await known.arrayBuffer();
    t.notMatch(known.headers.getSetCookie(), [/service_session/], `${path}, with the token`);
    t.not(known.headers.get("cache-control"), "private", path);
  }
  const fetched = await fetch(`${site}/plain`, { headers: { ...page, "Sec-Fetch-Dest": "empty" } });
  t.same(fetched.headers.getSetCookie(), [], "a fetch");
}

async function listen(t: Test, server: ReturnType<typeof createServer>): Promise<string> {
  return `http://${await listening(t, server)}`;
}

t.test("Express", async (t) => {
  const app = express();
  app.use(forExpress(options));
  app.get("/plain", (_, res) => void res.set("Cache-Control", "public, max-age=60").json({}));
  app.get("/no-store", (_, res) => void res.set("Cache-Control", "no-store, max-age=0").send("x"));
  app.get("/cookie", (_, res) => void res.set("Set-Cookie", "own=1").send("x"));
  app.get("/away", (_, res) => void res.redirect("/plain"));
  app.get("/head", (_, res) => void res.writeHead(200, { "Cache-Control": "public" }).end("x"));
  app.get(
    "/head-cookie",
    (_, res: ServerResponse) => void res.writeHead(200, "Fine", ["Set-Cookie", "own=1"]).end("x"),
  );
  app.get("/stream", (_, res) => {
    res.write("x");
    res.end("y");
  });
  const site = await listen(t, createServer(app));
  await check(t, site, ["/plain", "/no-store", "/cookie", "/away", "/head", "/head-cookie", "/stream", "/missing"]);
});

t.test("Fastify", async (t) => {
  const app = fastify();
  await app.register(forFastify, options);
  app.get("/plain", (_, reply) => reply.header("cache-control", "public").send({}));
  app.get("/no-store", (_, reply) => reply.header("Cache-Control", "no-store, max-age=0").send("x"));
  app.get("/cookie", (_, reply) => reply.header("Set-Cookie", "own=1").send("x"));
  app.get("/fails", () => Promise.reject(new Error("no page")));
  t.teardown(() => app.close());
  await check(t, await app.listen({ port: 0, host: "127.0.0.1" }), [
    "/plain",
    "/no-store",
    "/cookie",
    "/fails",
    "/missing",
  ]);
});

/** An application by Request and Response. */
function answer(url: string): Response {
  if (url.endsWith("/no-store")) return new Response("x", { headers: { "Cache-Control": "no-store, max-age=0" } });
  if (url.endsWith("/cookie")) return new Response("x", { headers: { "Set-Cookie": "own=1" } });
  return url.endsWith("/away") ? Response.redirect("http://127.0.0.1/", 302) : new Response("x");
}
const paths = ["/plain", "/no-store", "/cookie", "/away"];

t.test("Hono, withVerdict, createGuard", async (t) => {
  const app = new Hono();
  app.use(honoVerdictd({ ...options, clientIp: () => "192.0.2.1" }));
  app.get("*", (c) => answer(c.req.url));
  const guard = createGuard(options);
  const bare = async (request: Request): Promise<Response> => {
    const { visit, response } = await guard(request);
    return response ?? withSessionCookie(answer(request.url), visit);
  };
  for (const handler of [app.fetch, withVerdict((request) => answer(request.url), options), bare]) {
    const server = createAdaptorServer({ fetch: (request: Request) => handler(request) });
    await check(t, await listen(t, server as ReturnType<typeof createServer>), paths);
  }
});

t.test("the cookie is as the pages' SDK keeps it, and the challenge's page keeps it so, too", async (t) => {
  const framed = { cookieName: "visit", cookiePath: "/shop", cookieSameSite: "None", cookieMaxAge: 3600 } as const;
  const guard = createGuard({ client, issueToken: true, ...framed });
  const { visit } = await guard(new Request("http://shop.example/shop", { headers: page }));
  const cookie = withSessionCookie(new Response("x"), visit).headers.getSetCookie();
  t.match(cookie, [/^visit=sess_[\w-]{28}; Path=\/shop; Max-Age=3600; SameSite=None; Secure; Partitioned$/]);
  const { body } = challengeResponse(
    {
      siteKey: "pk_x",
      scriptOrigin: "",
      cookie: checkedCookie(framed),
      site: "",
      method: "GET",
      acceptLanguage: "",
      verdictId: "",
    },
    "text/html",
  );
  t.match(
    body,
    'data-cookie-name="visit" data-cookie-path="/shop" data-cookie-same-site="None" data-cookie-max-age="3600"></script>',
  );
});

t.test("bad options are refused at the start", async (t) => {
  t.throws(() => forExpress({ client, issueToken: "yes" as never }), /issueToken/);
  t.throws(() => forExpress({ client, cookieName: "a;b" }), /cookieName/);
  const bad = [
    { cookieDomain: "ex ample" },
    { cookiePath: "shop" },
    { cookiePath: "/a;b" },
    { cookieSameSite: "lax" },
    { cookieMaxAge: 0 },
    { cookieMaxAge: "3600" },
  ];
  for (const option of bad) {
    t.throws(
      () => forExpress({ client, ...option } as never),
      new RegExp(Object.keys(option)[0]!),
      JSON.stringify(option),
    );
  }
  for (const wait of [-1, 1001, 1.5, "400"])
    t.throws(() => forExpress({ client, waitForReport: wait as never }), /waitForReport/);
});
