/**
 * A site with the SDK on it, for the browser tests: pages, the built SDK, and an endpoint that records what arrives and
 * answers like the contract, or fails as a test asks. It stands in for the wire only; it knows nothing of scoring.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { shippedAgentMarks } from "../../src/bots/marks/catalogue.js";
import { type AgentMarkCatalogue, agentMarkQuestions } from "../../src/contract/bots/agent-marks.js";
import type { EventPayload, EventType, IngestBatch, IngestEvent } from "../../src/contract/events/events.js";
import { areIngestEvents, ingestEventsMismatch } from "../../src/contract/validators.js";
import { stepMsMax } from "../support/chromium.js";
import { listening } from "../support/listening.js";

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** One `POST /v1/events`, as it arrived. */
export interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly batch: IngestBatch;
}

/**
 * How the endpoint answers one post: a status (202 answers `token`, `interval` as `X-Verdict-Interval`, and `packing`), `drop` closes the connection;
 * `until` delays it.
 */
interface Answer {
  status: number | "drop";
  token?: string;
  interval?: number;
  packing?: number;
  until?: Promise<void>;
}

/** A running site. */
export interface Site {
  readonly origin: string;
  readonly port: number;
  readonly posts: Post[];
  /** Start tickets given. */
  tickets: number;
  /** Preflights seen. */
  readonly preflights: string[];
  /** Pages by path; a missing one is 404. */
  readonly pages: Map<string, string>;
  /** The policy sent with every page. */
  policy: string | null;
  /** Decides on the answer to the nth post, from 0. */
  answer: (post: Post, index: number) => Answer;
  /** The site is gone from the network: connections break and are refused until `comeBack`. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** The first post, past or future, that fits; fails after `stepMsMax`. */
  post(fits: (post: Post) => boolean): Promise<Post>;
  /** The first event of a type, past or future, that fits. */
  event(type: EventType, fits?: (event: IngestEvent) => boolean): Promise<IngestEvent>;
}

/** A page with the SDK; `attributes` go to its script tag. */
export function pageWith(attributes = "", body = "<p>A page.</p>", src = "/sdk.js"): string {
  return `<!doctype html><title>Test</title><script async src="${src}" data-site-key="pk_test" ${attributes}></script>${body}`;
}

/** The SDK's file that looks for marks of agents, with these marks, as the server sends it. */
export function agentsFile(marks: AgentMarkCatalogue): string {
  const code = readFileSync(join(dist, "sdk/sdk-agents.js"), "utf8");
  return `${code}export const marks=${JSON.stringify(agentMarkQuestions(marks.entries))};\n`;
}

/** Starts a site. Every batch is held against the contract's validator; a batch that does not fit fails the test. */
export async function openSite(t: Test): Promise<Site> {
  const waiting: { fits: (post: Post) => boolean; found: (post: Post) => void }[] = [];
  const site: Site & { port: number } = {
    origin: "",
    port: 0,
    posts: [],
    tickets: 0,
    preflights: [],
    pages: new Map([["/", pageWith('data-interval="250"')]]),
    policy: null,
    answer: () => ({ status: 202 }),
    async goAway() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
    comeBack: () => new Promise((resolve) => server.listen(site.port, "127.0.0.1", resolve)),
    post(fits) {
      const past = site.posts.find(fits);
      if (past) return Promise.resolve(past);
      return new Promise((found, missing) => {
        const timer = setTimeout(() => {
          const seen = site.posts.map(({ batch }) => batch.events.map(({ type }) => type).join());
          missing(new Error(`no such post within ${stepMsMax} ms, but ${JSON.stringify(seen)}`));
        }, stepMsMax).unref();
        waiting.push({
          fits,
          found(post) {
            clearTimeout(timer);
            found(post);
          },
        });
      });
    },
    async event(type, fits = () => true) {
      const among = (post: Post) => post.batch.events.find((event) => event.type === type && fits(event));
      return among(await site.post((post) => among(post) !== undefined))!;
    },
  };
  const files: Record<string, string> = {
    "/sdk.js": "sdk/sdk.js",
    "/sdk-probes.js": "sdk/sdk-probes.js",
    "/browser.js": "sdk/browser.js",
    "/demo/demo.js": "demo/demo.js",
    "/demo/demo.css": "demo/demo.css",
  };

  async function receive(headers: IncomingHttpHeaders, text: string, response: ServerResponse): Promise<void> {
    const post = { headers, text, batch: JSON.parse(text) as IngestBatch };
    const { events } = post.batch;
    if (!areIngestEvents(events)) t.fail(`a batch does not fit: ${JSON.stringify(ingestEventsMismatch(events))}`);
    if (events.length > 100) t.fail("a batch holds more than 100 events");
    const answer = site.answer(post, site.posts.length);
    site.posts.push(post);
    for (const each of waiting) if (each.fits(post)) each.found(post);
    await answer.until;
    if (answer.status === "drop") {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, {
      "Access-Control-Allow-Origin": "*",
      "Content-Type": "application/json",
      ...(answer.interval !== undefined && {
        "Access-Control-Expose-Headers": "X-Verdict-Interval, X-Verdict-Packing",
        "X-Verdict-Interval": String(answer.interval),
        ...(answer.packing !== undefined && { "X-Verdict-Packing": String(answer.packing) }),
      }),
    });
    const token = answer.token ?? post.batch.session_token ?? "sess_1";
    response.end(
      answer.status === 202
        ? JSON.stringify({ session_token: token, accepted: events.length, duplicates: 0 })
        : undefined,
    );
  }

  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const page = site.pages.get(path);
    if (request.method === "OPTIONS") {
      site.preflights.push(path);
      response.writeHead(204, {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Headers": "content-type, idempotency-key, x-service-site-key",
        "Access-Control-Allow-Methods": "POST",
      });
      response.end();
    } else if (request.method === "POST" && path === "/v1/events") {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        receive(request.headers, Buffer.concat(chunks).toString(), response).catch((error) => t.fail(error));
      });
    } else if (request.method === "POST" && path === "/v1/start-tickets") {
      response.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "application/json" });
      response.end(JSON.stringify({ start_ticket: `ticket${++site.tickets}` }));
    } else if (page !== undefined) {
      response.writeHead(200, {
        "Content-Type": path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8",
        ...(site.policy ? { "Content-Security-Policy": site.policy } : {}),
      });
      response.end(page);
    } else if (path === "/sdk-agents.js") {
      response.writeHead(200, { "Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*" });
      response.end(agentsFile(shippedAgentMarks()));
    } else if (files[path] !== undefined) {
      const type = path.endsWith(".css") ? "text/css" : "text/javascript";
      response.writeHead(200, { "Content-Type": type, "Access-Control-Allow-Origin": "*" });
      response.end(readFileSync(join(dist, files[path])));
    } else {
      response.writeHead(path === "/favicon.ico" ? 204 : 404);
      response.end();
    }
  });
  await listening(t, server);
  const { port } = server.address() as AddressInfo;
  return Object.assign(site, { port, origin: `http://127.0.0.1:${port}` });
}

/**
 * What a page's two environment reports say together, once the worker has answered. The SDK waits 3 s for it and then leaves it out, as may
 * happen on a busy machine, so the page is loaded again until it had; after ten loads the last reports are as good as any.
 */
export async function wholeEnvironment(site: Site, load: () => Promise<unknown>): Promise<EventPayload> {
  const seen = (isFirst: boolean) =>
    site.posts.flatMap(({ batch }) =>
      batch.events.filter(({ type, payload }) => type === "env" && "user_agent" in payload === isFirst),
    );
  for (let loads = 1; ; loads++) {
    await load();
    await site.post(() => seen(true).length >= loads && seen(false).length >= loads);
    const payload = { ...seen(true)[loads - 1]!.payload, ...seen(false)[loads - 1]!.payload };
    if (payload.worker_mismatch !== undefined || loads === 10) return payload;
  }
}

/** A promise and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolved) => {
    open = resolved;
  });
  return { opened, open };
}
