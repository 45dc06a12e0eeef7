/**
 * The shop of the jobs: Express behind a gate (verdictd's middleware, or a peer's), in front of verdictd as a customer's own server would be. A visit has a
 * loopback address of its own to come to, by which its requests are known, and a visitor's address of its own to come from.
 */
import { request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Request, type Response } from "express";
import { batchHeaders } from "../../src/contract/evidence/header-facts.js";
import type { Band } from "../../src/contract/verdicts/verdict.js";
import type { PagePlace } from "../live/site.js";
import { Waiters } from "../live/waiters.js";
import { postPaths, shopPage, stylesheet } from "./shop-pages.js";

/** What the gate said of one request. `band` and `score` are verdictd's. */
interface Judged {
  readonly atMs: number;
  readonly request: string;
  readonly action: string;
  readonly band: Band | null;
  readonly score: number;
  readonly detectionIds: readonly number[];
  /** Whether the verdict named an agent. */
  readonly isAgent: boolean;
}

/** Where things are on the page that is shown. */
interface ShownPage extends PagePlace {
  /** The page's own `performance.timeOrigin`: another page has another. */
  readonly loadedAt: number;
}

/** One visit, and all that the shop saw of it. */
export interface ShopVisit {
  readonly url: string;
  readonly judged: Judged[];
  /** The SDK's reports: the status that each was answered with, when it came, and what was in it. */
  readonly reports: ReportSeen[];
  /** Requests that the shop answered itself: `POST /login`. */
  readonly served: Set<string>;
  /** Whether a challenge of the visit was refused a pass. */
  isRefused: boolean;
  passes: number;
  token: string | null;
  /** Behind a peer. */
  readonly isWithoutSdk: boolean;
  place: ShownPage | null;
  /** Path and query of the page that is shown; null before the first one, and where a block or a challenge took its place. */
  shownPath: string | null;
  /** The SDK's reports, as they came. */
  readonly batches: RecordedBatch[];
  /** Resolves once `test` holds; asked again after every request of this visit. Rejects after `ms`. */
  until(test: (visit: ShopVisit) => boolean, what: string, ms: number): Promise<void>;
}

/** Of one report: ms since the first verdict of the visit, and the types of its events, each once. */
interface ReportSeen {
  readonly status: number;
  readonly atMs: number;
  readonly types: readonly string[];
}

/** One report of the SDK, with the header lines that scoring reads. */
export interface RecordedBatch {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A visit as a gate knows it. */
export interface OpenVisit extends ShopVisit {
  /** The address that the visitor comes from. */
  readonly address: string;
  /** Marks of a peer's gate. */
  readonly marks: Set<string>;
  /** ms since the first verdict of the visit; 0 before it. */
  elapsedMs(): number;
  /** Notes what the gate said of a request. */
  note(judged: Omit<Judged, "atMs">): void;
}

/** What stands before the shop's pages. */
export interface Gate {
  /** What goes into the head of every page. */
  readonly script: string;
  /** Routes of its own and the middleware, installed before the pages. */
  install(app: express.Express, visitOf: (req: IncomingMessage) => OpenVisit | null): void;
  /** Where the browser's requests to `/v1/…` and the scripts go; null for a gate without such. */
  readonly origin: string | null;
}

export interface Shop {
  open(options: { readonly tellsPlaces: boolean }): ShopVisit;
  close(): Promise<void>;
}

/** What a visitor's browser asks of verdictd. */
const forwarded = [
  "/sdk.js",
  "/sdk-probes.js",
  "/sdk-agents.js",
  "/challenge.js",
  "/v1/events",
  "/v1/start-tickets",
  "/v1/challenges",
  "/v1/challenges/solution",
];

interface KnownVisit extends OpenVisit {
  readonly tellsPlaces: boolean;
  readonly waiters: Waiters;
}

/** Starts the shop on a free port of all loopback addresses. Visits of several shops have different addresses if their `number` differs. */
export async function startShop(gate: Gate, number: number): Promise<Shop> {
  const visits = new Map<string, KnownVisit>();
  const visitOf = ({ socket }: IncomingMessage) =>
    visits.get(socket.localAddress?.replace("::ffff:", "") ?? "") ?? null;
  const app = express();
  app.disable("x-powered-by");
  // A request that is stopped is never served, and may be the first that brings the token.
  app.use((req, _res, next) => {
    const visit = visitOf(req);
    if (visit !== null) visit.token = tokenOf(req) ?? visit.token;
    next();
  });
  for (const path of forwarded) app.all(path, (req, res) => forward(gate.origin, req, res, visitOf(req)));
  app.post("/place", (req, res) => {
    bodyOf(req, (body) => {
      const visit = visitOf(req);
      if (visit !== null) {
        visit.place = JSON.parse(body.toString()) as ShownPage;
        visit.waiters.check();
      }
      res.status(204).end();
    });
  });
  gate.install(app, visitOf);
  app.use((req, res) => serve(req, res, gate, visitOf(req)));
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, "0.0.0.0", () => resolve(listening));
  });
  const { port } = server.address() as AddressInfo;
  return {
    open({ tellsPlaces }) {
      const index = visits.size + 1;
      const local = `127.${20 + number}.${(index >> 8) & 255}.${index & 255}`;
      const addresses = { url: `http://${local}:${port}/`, address: `198.18.${index >> 8}.${index & 255}` };
      const visit = newVisit({ ...addresses, tellsPlaces, isWithoutSdk: gate.origin === null });
      visits.set(local, visit);
      return visit;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function newVisit(known: Pick<KnownVisit, "url" | "address" | "tellsPlaces" | "isWithoutSdk">): KnownVisit {
  const waiters = new Waiters();
  let startedAt: number | null = null;
  const visit: KnownVisit = {
    ...known,
    waiters,
    judged: [],
    reports: [],
    served: new Set(),
    marks: new Set(),
    isRefused: false,
    passes: 0,
    token: null,
    place: null,
    shownPath: null,
    batches: [],
    elapsedMs: () => Math.round(performance.now() - (startedAt ?? performance.now())),
    note(judged) {
      startedAt ??= performance.now();
      visit.judged.push({ atMs: visit.elapsedMs(), ...judged });
      if (judged.action === "block" || judged.action === "challenge") visit.shownPath = null;
      visit.waiters.check();
    },
    until: (test, what, ms) => waiters.until(() => test(visit), what, ms),
  };
  return visit;
}

function serve(req: Request, res: Response, { script }: Gate, visit: KnownVisit | null): void {
  const { pathname, search, searchParams } = new URL(req.originalUrl, "http://shop.invalid");
  const picture = /^\/img\/\d+\.svg$/.test(pathname);
  if (pathname === "/style.css") return void res.type("css").send(stylesheet);
  if (picture) return void res.type("svg").send('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2"/>');
  const done = () => {
    if (visit === null) return;
    visit.served.add(`${req.method} ${pathname}${search}`);
    if (req.method === "GET") visit.shownPath = pathname + search;
    visit.waiters.check();
  };
  if (req.method === "POST" && postPaths.includes(pathname)) {
    req.resume();
    done();
    return void res.redirect(303, pathname === "/cart" ? "/checkout" : "/thanks");
  }
  const html = shopPage(pathname, searchParams, { script, tellsPlaces: visit?.tellsPlaces ?? false });
  if (html === null) return void res.status(404).send("Not found");
  done();
  res.set("Cache-Control", "no-store").send(html);
}

function tokenOf({ headers }: IncomingMessage): string | null {
  return /service_session=(sess_[\w-]+)/.exec(headers.cookie ?? "")?.[1] ?? null;
}

function scoredHeaders({ headers }: Request): Record<string, string> {
  const named = batchHeaders.map(({ name }) => [name, headers[name]]);
  return Object.fromEntries(named.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

function typesIn(body: Buffer): string[] {
  return [...new Set([...body.toString().matchAll(/"type":"(\w+)"/g)].map(([, type]) => type!))];
}

function forward(origin: string | null, incoming: Request, response: ServerResponse, visit: KnownVisit | null): void {
  if (origin === null || visit === null) return void response.writeHead(404).end();
  bodyOf(incoming, (body) => {
    const atMs = visit.elapsedMs();
    const headers = { ...incoming.headers, "x-forwarded-for": visit.address };
    const outgoing = httpRequest(origin + incoming.originalUrl, { method: incoming.method, headers }, (answer) => {
      bodyOf(answer, (answered) => {
        const status = answer.statusCode ?? 502;
        if (incoming.path === "/v1/events") {
          visit.reports.push({ status, atMs, types: typesIn(body) });
          if (status === 202) visit.batches.push({ headers: scoredHeaders(incoming), body: body.toString() });
        }
        if (incoming.path === "/v1/challenges/solution" || incoming.path === "/v1/challenges") {
          if (status === 403) visit.isRefused = true;
          else if (status === 200 && incoming.path.endsWith("solution")) visit.passes++;
          visit.waiters.check();
        }
        response.writeHead(status, answer.headers).end(answered);
      });
    });
    outgoing.on("error", () => response.destroy());
    outgoing.end(body);
  });
}

function bodyOf(message: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => done(Buffer.concat(chunks)));
}
