/**
 * The site that the visitors of a live measurement come to: one page with the SDK, in front of verdictd as a customer's own
 * proxy would be. Each visit has a path of its own, so that its batches, headers and session are known without asking the tool.
 * Passes bodies and headers on untouched, but for the visitor's address.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { IngestBatch } from "../../src/contract/events/events.js";
import { sitePage } from "./site-page.js";
import { Waiters } from "./waiters.js";

/** One batch as it arrived, and verdictd's answer. */
interface SeenBatch {
  readonly headers: IncomingHttpHeaders;
  readonly batch: IngestBatch;
  readonly status: number;
}

/** Where the page and its fields are, as the page itself reports it: CSS pixels, the window's frame included. */
export interface PagePlace {
  readonly outerHeight: number;
  readonly innerHeight: number;
  readonly innerWidth: number;
  /** Boxes by element id: left, top, width, height in the viewport. */
  readonly boxes: Readonly<Record<string, readonly [number, number, number, number]>>;
}

/** One visit: a page address that only this visitor gets, and what came from it. */
export interface SiteVisit {
  readonly url: string;
  /** `POST` address for clients without a browser. */
  readonly eventsUrl: string;
  readonly siteKey: string;
  readonly batches: SeenBatch[];
  /** The session's token as the site's backend reads it from the cookie; clients without a page: from the answer. */
  token: string | null;
  /** What the page's own script does besides; set before the page is opened. */
  pageScript: string;
  place: PagePlace | null;
  /** Challenges that were passed, and refused passes. */
  passes: number;
  refusals: number;
  /** Resolves once `test` holds; asked again after every request of this visit. Rejects after `ms`. */
  until(test: (visit: SiteVisit) => boolean, what: string, ms: number): Promise<void>;
}

/** A running site. */
export interface LiveSite {
  readonly origin: string;
  /** Opens a visit whose requests come from an address of its own. */
  open(): SiteVisit;
  close(): Promise<void>;
}

interface OpenVisit extends SiteVisit {
  readonly address: string;
  readonly waiters: Waiters;
}

/** Starts the site on a free port of loopback, in front of `service`. */
export async function startSite(service: { origin: string; siteKey: string }): Promise<LiveSite> {
  const visits = new Map<string, OpenVisit>();
  const server = createServer((incoming, response) => {
    const [, id = "", rest = ""] = /^\/visit\/(\w+)(\/.*)?$/.exec(incoming.url ?? "") ?? [];
    const visit = visits.get(id);
    const address = incoming.url ?? "";
    if (sdkFiles.includes(address)) {
      forward(service.origin, address, incoming, response);
    } else if (visit === undefined) response.writeHead(404).end();
    else if (visitorPaths.includes(rest)) forward(service.origin, rest, incoming, response, visit);
    else if (rest === "/place") takePlace(incoming, response, visit);
    else if (rest === "") {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
      response.end(sitePage(`${origin}/visit/${id}`, service.siteKey, visit.pageScript));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    open() {
      const id = `v${visits.size + 1}`;
      const visit = openVisit(`${origin}/visit/${id}`, service.siteKey, visitorAddress(visits.size));
      visits.set(id, visit);
      return visit;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Served beside the site, as a proxy does. */
const sdkFiles: readonly string[] = ["/sdk.js", "/sdk-probes.js", "/sdk-agents.js"];
/** What a visitor's browser asks of verdictd, below the address of the visit. */
const visitorPaths = ["/v1/events", "/v1/start-tickets", "/challenge.js", "/v1/challenges", "/v1/challenges/solution"];

/** The nth visitor's address, of 198.18.0.0/15 (for benchmarks): they are different visitors, not one busy network. */
function visitorAddress(n: number): string {
  return `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`;
}

function openVisit(url: string, siteKey: string, address: string): OpenVisit {
  const waiters = new Waiters();
  const visit: OpenVisit = {
    url,
    eventsUrl: `${url}/v1/events`,
    siteKey,
    address,
    waiters,
    batches: [],
    token: null,
    pageScript: "",
    place: null,
    passes: 0,
    refusals: 0,
    until: (test, what, ms) => waiters.until(() => test(visit), what, ms),
  };
  return visit;
}

function forward(
  target: string,
  path: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  visit?: OpenVisit,
): void {
  bodyOf(incoming, (body) => {
    const headers = { ...incoming.headers, ...(visit && { "x-forwarded-for": visit.address }) };
    const outgoing = request(target + path, { method: incoming.method, headers }, (answer) => {
      bodyOf(answer, (answered) => {
        const status = answer.statusCode ?? 0;
        if (visit && path === "/v1/events" && incoming.method === "POST") {
          record(visit, incoming.headers, body, status, answered);
        } else if (visit && path.startsWith("/v1/challenges")) {
          if (status === 403) visit.refusals++;
          else if (status === 200 && path.endsWith("/solution")) visit.passes++;
          visit.waiters.check();
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(answered);
      });
    });
    outgoing.on("error", () => response.destroy());
    outgoing.end(body);
  });
}

function record(visit: OpenVisit, headers: IncomingHttpHeaders, body: Buffer, status: number, answered: Buffer): void {
  if (status === 202) {
    visit.batches.push({ headers, batch: JSON.parse(body.toString()) as IngestBatch, status });
    const { session_token } = JSON.parse(answered.toString()) as { session_token: string };
    visit.token ??= session_token;
  }
  visit.waiters.check();
}

/** The page's own requests carry its cookie: the session that a customer's backend would ask about. */
function takePlace(incoming: IncomingMessage, response: ServerResponse, visit: OpenVisit): void {
  bodyOf(incoming, (body) => {
    visit.place = JSON.parse(body.toString()) as PagePlace;
    visit.token = /service_session=(sess_[\w-]+)/.exec(incoming.headers.cookie ?? "")?.[1] ?? visit.token;
    response.writeHead(204).end();
    visit.waiters.check();
  });
}

function bodyOf(message: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => done(Buffer.concat(chunks)));
}
