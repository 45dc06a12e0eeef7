/** The path that rules see is the one that the framework routes, as its own settings say; and the host is known under HTTP/2. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:http2";
import express from "express";
import { fastify } from "fastify";
import t, { type Test } from "tap";
import { verdictd as expressVerdictd } from "../../src/middleware/express.js";
import { verdictd as fastifyVerdictd } from "../../src/middleware/fastify.js";
import { listening } from "../support/listening.js";
import { startVerdictd } from "./verdictd-process.js";

const running = await startVerdictd(t);
const client = {
  baseUrl: running.baseUrl,
  privateKey: running.privateKey,
  timeoutMs: 10_000,
  onError: () => undefined,
};
const headers = { Cookie: `service_session=${running.sessionToken}` };

/** An application that serves /block in the spellings that its router takes for it. */
async function expressSite(t: Test, settings: readonly string[], more: object = {}): Promise<string> {
  const app = express();
  for (const setting of settings) app.enable(setting);
  app.use(expressVerdictd({ client, ...more }));
  app.get("/block", (_req, res) => res.send("served"));
  return `http://${await listening(t, createServer(app))}`;
}

const statusOf = async (url: string): Promise<number> => (await fetch(url, { headers })).status;

t.test("Express serves no spelling of a path that a rule blocks", async (t) => {
  const usual = await expressSite(t, []);
  for (const path of ["/block", "/BLOCK", "/block/", "/Block/", "/%42lock"])
    t.equal(await statusOf(usual + path), 403, path);
  const exact = await expressSite(t, ["case sensitive routing", "strict routing"]);
  t.equal(await statusOf(`${exact}/block`), 403);
  t.equal(await statusOf(`${exact}/BLOCK`), 404, "which it does not serve either");
  const told = await expressSite(t, [], { routerIgnores: [] });
  t.equal(await statusOf(`${told}/BLOCK`), 200, "the option outranks the settings");
});

t.test("Fastify is asked for its settings, and for the host under HTTP/2", async (t) => {
  const site = async (options: object): Promise<string> => {
    const app = fastify(options);
    await app.register(fastifyVerdictd, { client });
    for (const path of ["/block", "/by-host"]) app.get(path, async () => "served");
    t.teardown(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  };
  const usual = await site({});
  t.equal(await statusOf(`${usual}/block`), 403);
  t.equal(await statusOf(`${usual}/BLOCK`), 404);
  const loose = await site({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  for (const path of ["/BLOCK", "/block/"]) t.equal(await statusOf(loose + path), 403, path);
  const second = await site({ http2: true });
  const session = connect(second);
  t.teardown(() => session.destroy());
  const asked = session.request({ ":path": "/by-host", ":authority": "shop.example", cookie: headers.Cookie });
  const [answer] = (await once(asked, "response")) as [{ ":status": number }];
  t.equal(answer[":status"], 403, "a rule on the host holds");
});
