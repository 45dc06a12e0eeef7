/**
 * A shop with verdictd's challenge on `/c…`, for real browsers: Express with the middleware, which also serves verdictd's scripts and routes on
 * the shop's own domain as the proxies' recipes do.
 */
import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Test } from "tap";
import { verdictd } from "../../src/middleware/express.js";
import { firstTenant, startServer, type Tenant, type TestServer } from "../support/server.js";

/** What visitors' browsers ask of verdictd. */
const ownPaths = ["/sdk.js", "/challenge.js", "/v1/events", "/v1/challenges", "/v1/challenges/solution"];

export interface ChallengedSite {
  readonly server: TestServer;
  readonly tenant: Tenant;
  readonly origin: string;
}

/** A page of the shop; `head` goes before the SDK, `attributes` to its script tag. */
function pageOf(siteKey: string, body: string, attributes = ""): string {
  return `<!doctype html><html lang="en"><title>Shop</title><script async src="/sdk.js" data-site-key="${siteKey}" data-interval="250" ${attributes}></script><main><h1>Shop</h1>${body}</main>`;
}

/** Paths: `/` with the SDK, `/form` with a form to `/c/form`, `/cookieless`, `/strict` with a strict policy; `/c…` is challenged. */
export async function openChallengedSite(t: Test): Promise<ChallengedSite> {
  const server = await startServer(t, ["--verdict-ttl", "60"]);
  const tenant = await firstTenant(server);
  const configure = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await server.ask(method, `/v1/projects/${tenant.projectId}/${path}`, { token: tenant.token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  };
  await configure("PUT", "challenge", { enabled: true, difficulty: "low" });
  await configure("POST", "rules", { name: "Challenge", expression: 'path starts_with "/c/"', action: "challenge" });
  const app = express();
  app.use((req, res, next) => {
    if (!ownPaths.includes(req.path)) return next();
    const upstream = send(
      { host: "127.0.0.1", port: server.port, method: req.method, path: req.path, headers: req.headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    upstream.on("error", () => res.destroy());
    req.pipe(upstream);
  });
  const client = { baseUrl: server.address, privateKey: tenant.privateKey, timeoutMs: 5000 };
  app.use(verdictd({ client, challenge: "verdictd", siteKey: tenant.siteKey }));
  const page = (path: string, body: string, attributes = "", policy = ""): void => {
    app.get(path, (_, res) => {
      if (policy !== "") res.set("Content-Security-Policy", policy);
      res.send(pageOf(tenant.siteKey, body, attributes));
    });
  };
  page("/", "<p>Hello</p>");
  page("/form", '<form method="post" action="/c/form"><button>Send</button></form>');
  page("/cookieless", "<p>Hello</p>", 'data-cookie="off"');
  page(
    "/strict",
    "<p>Hello</p>",
    "",
    "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types verdictd",
  );
  app.get("/c/page", (_, res) => {
    res.send(pageOf(tenant.siteKey, "<p>You are in</p>"));
  });
  app.post("/c/form", (_, res) => {
    res.send(pageOf(tenant.siteKey, "<p>Your form has arrived</p>"));
  });
  app.get("/c/data", (_, res) => {
    res.json({ secret: 1 });
  });
  const listener = createServer(app).listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.teardown(() => {
    listener.closeAllConnections();
    listener.close();
  });
  return { server, tenant, origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` };
}
