/** Holds the Express middleware to what every middleware has to do, with the real Express. */
import { createServer } from "node:http";
import express from "express";
import t from "tap";
import { verdictd } from "../../src/middleware/express.js";
import { listening } from "../support/listening.js";
import { type AppOptions, checkMiddleware, checkOutage, type StartApp, seenOf } from "./claims.js";
import { startVerdictd } from "./verdictd-process.js";

const start: StartApp = async (t, { challenge, hooks, ...options }) => {
  const app = express();
  app.use(
    verdictd<express.Request, express.Response>({
      ...options,
      ...challengeOption(challenge),
      ...(hooks === "throws" && {
        clientIp: () => {
          throw new Error("no address");
        },
      }),
    }),
  );
  app.post("/login", async (req, res) => {
    res.json(await req.verdictd?.loggedIn());
  });
  app.use((req, res) => {
    res.json(seenOf(req.path, req.verdictd));
  });
  return `http://${await listening(t, createServer(app))}`;
};

function challengeOption(challenge: AppOptions["challenge"]) {
  if (challenge === undefined || challenge === "allow" || challenge === "page") return challenge ? { challenge } : {};
  const hooks = {
    own: (_req: express.Request, res: express.Response) => res.status(418).send("prove it"),
    passes: (_req: express.Request, _res: express.Response, next: () => void) => next(),
    throws: () => Promise.reject(new Error("the challenge is broken")),
  };
  return { challenge: hooks[challenge] };
}

const running = await startVerdictd(t);
t.test("express", (t) => checkMiddleware(t, start, running));
t.test("express while verdictd is down", (t) => checkOutage(t, start, running));
