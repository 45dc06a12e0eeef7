/**
 * What stands before the shop instead of verdictd, each as its documentation shows it: `isbot` on the user agent with a limit of requests, BotD in the page, and an
 * ALTCHA gate before everything.
 */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createChallenge, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { buildSync } from "esbuild";
import type { Express, NextFunction, Request, Response } from "express";
import type { Gate, OpenVisit } from "./shop.js";

const require = createRequire(import.meta.url);

type VisitOf = Parameters<Gate["install"]>[1];

/** Requests of a whole visit: at least as strict as a shop's rate limit of as many a minute. */
const requestsMax = 60;

/** Says no, or lets on, and notes it. */
function decide(
  visitOf: VisitOf,
  actionOf: (visit: OpenVisit, req: Request) => "allow" | "block" | "challenge",
  answer: (res: Response) => void,
) {
  return (req: Request, res: Response, next: NextFunction) => {
    const visit = visitOf(req);
    if (visit === null || /\.(css|svg|js)$/.test(req.path)) return next();
    const action = actionOf(visit, req);
    visit.note({
      request: `${req.method} ${req.path}`,
      action,
      band: null,
      score: 0,
      detectionIds: [],
      isAgent: false,
    });
    if (action === "allow") return next();
    res.status(403);
    answer(res);
  };
}

const deny = (res: Response) => void res.send("Not for you");

function isbotGate(): Gate {
  const { isbot } = require("isbot") as { isbot(userAgent: string | undefined): boolean };
  return {
    origin: null,
    script: "",
    install(app, visitOf) {
      const isRefused = (visit: OpenVisit, req: Request) =>
        isbot(req.headers["user-agent"]) || visit.judged.length >= requestsMax;
      app.use(decide(visitOf, (visit, req) => (isRefused(visit, req) ? "block" : "allow"), deny));
    },
  };
}

/** A module as one file, with the packages that it imports. */
function bundled(contents: string): string {
  const stdin = { contents, resolveDir: dirname(fileURLToPath(import.meta.url)) };
  return buildSync({ stdin, bundle: true, format: "esm", write: false, minify: true }).outputFiles[0]!.text;
}

/** The page's word is believed from the next request on: nothing binds a visitor to it but his address. */
function botdGate(): Gate {
  const code = bundled(`import { load } from "@fingerprintjs/botd";
const detector = await load({ monitoring: false });
navigator.sendBeacon("/botd", JSON.stringify(detector.detect()));`);
  return {
    origin: null,
    script: '<script type="module" src="/botd.js"></script>',
    install(app, visitOf) {
      app.get("/botd.js", (_, res) => void res.type("js").send(code));
      app.post("/botd", (req, res) => {
        const chunks: Buffer[] = [];
        req.on("data", (chunk: Buffer) => chunks.push(chunk));
        req.on("end", () => {
          const { bot } = JSON.parse(Buffer.concat(chunks).toString()) as { bot: boolean };
          if (bot) visitOf(req)?.marks.add("bot");
          res.status(204).end();
        });
      });
      app.use(decide(visitOf, ({ marks }) => (marks.has("bot") ? "block" : "allow"), deny));
    },
  };
}

/** A page that computes before anything else is shown; who passed has a cookie. About a second of a desktop's processor. */
function altchaGate(): Gate {
  const secrets = { hmacSignatureSecret: "gate", hmacKeySignatureSecret: "keys" };
  const passes = new Set<string>();
  const code = bundled(`import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
const challenge = await (await fetch("/gate/challenge.js")).json();
const solution = await solveChallenge({ challenge, deriveKey });
await fetch("/gate/solution.js", { method: "POST", body: JSON.stringify({ challenge, solution }) });
location.reload();`);
  const hasPassed = ({ headers }: Request) => passes.has(/gate=(\w+)/.exec(headers.cookie ?? "")?.[1] ?? "");
  return {
    origin: null,
    script: "",
    install(app, visitOf) {
      installAltcha(app, visitOf, code, secrets, passes);
      const page = '<!doctype html><title>One moment</title><script type="module" src="/gate/run.js"></script>';
      app.use(
        decide(
          visitOf,
          (_, req) => (hasPassed(req) ? "allow" : "challenge"),
          (res) => void res.send(page),
        ),
      );
    },
  };
}

function installAltcha(
  app: Express,
  visitOf: VisitOf,
  code: string,
  secrets: { readonly hmacSignatureSecret: string; readonly hmacKeySignatureSecret: string },
  passes: Set<string>,
): void {
  app.get("/gate/run.js", (_, res) => void res.type("js").send(code));
  app.get("/gate/challenge.js", async (_, res) => {
    const expiresAt = Math.floor(Date.now() / 1000) + 600;
    const work = { algorithm: "PBKDF2/SHA-256", cost: 5000, counter: Math.floor(Math.random() * 300) } as const;
    res.json(await createChallenge({ ...work, expiresAt, deriveKey, ...secrets }));
  });
  app.post("/gate/solution.js", (req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", async () => {
      const told = JSON.parse(Buffer.concat(chunks).toString());
      const { verified } = await verifySolution({ ...told, deriveKey, ...secrets });
      if (!verified) return void res.status(403).end();
      const pass = randomBytes(8).toString("hex");
      passes.add(pass);
      const visit = visitOf(req);
      if (visit !== null) visit.passes++;
      res.set("Set-Cookie", `gate=${pass}; Path=/`).status(204).end();
    });
  });
}

/** By the name that the table shows. */
export const peers = { isbot: isbotGate, BotD: botdGate, ALTCHA: altchaGate } as const;

export type PeerName = keyof typeof peers;
