/**
 * The admin address: metrics and health for operators and their tools, on another address than the one for clients. It gets a few requests a minute,
 * so it uses Node's own server. The API is not served here.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { isLoopbackHost } from "../net/loopback.js";
import { isReady, type Readiness } from "./readiness.js";

/** The admin address, and its answers. */
interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** The bearer token that `/metrics` requires; "" requires none. */
  readonly token: string;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
  readonly readiness: () => Readiness;
  readonly onFailure: (error: unknown) => void;
  /** The address is taken, as in a rolling restart: told once, it is tried again every so many ms. */
  readonly onTaken: () => void;
  readonly onListening: (port: number) => void;
  readonly retryMs: number;
  /**
   * Connections at once, and requests on each. Nothing else bounds what Node buffers for clients that do not read. Beyond it the oldest connection that no
   * request has come on goes, so that nobody keeps the address by holding connections.
   */
  readonly connectionsMax: number;
  readonly requestsOfConnection: number;
  /** How long a connection may be idle in both directions. */
  readonly silenceMs: number;
  /** How long the header of a request may take, and how often that is looked at. */
  readonly headerMs: number;
  readonly lookMs: number;
}

/** A running admin address. `close` also stops retrying while another process holds the address. */
interface AdminServer {
  close(): Promise<void>;
}

/** Resolves once it listens or finds the address taken; rejects if it can't listen for any other reason. */
export async function startAdmin(options: AdminOptions): Promise<AdminServer> {
  const { headerMs, silenceMs, lookMs } = options;
  const timeouts = { headersTimeout: headerMs, requestTimeout: silenceMs, connectionsCheckingInterval: lookMs };
  const connections = new Connections(options.connectionsMax);
  const server = createServer(timeouts, (request, response) => {
    connections.answer(request.socket, response);
    answer(options, request, response).catch((error: unknown) => {
      options.onFailure(error);
      if (!response.headersSent) reply(response, request, 500, "text/plain; charset=utf-8", "failed\n");
      else response.destroy();
    });
  });
  server.on("connection", (socket: Socket) => connections.add(socket));
  server.maxRequestsPerSocket = options.requestsOfConnection;
  server.timeout = options.silenceMs;
  const retry = new AbortController();
  if (!(await listens(server, options))) {
    options.onTaken();
    void tryAgain(server, options, retry.signal);
  }
  return {
    close: async () => {
      retry.abort();
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Open connections, in the order in which they were last answered or, before that, opened. */
class Connections {
  readonly #max: number;
  /** With whether a request is being answered. */
  readonly #open = new Map<Socket, boolean>();

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    if (this.#open.size >= this.#max) {
      const idle = [...this.#open].find(([, isAnswered]) => !isAnswered);
      const oldest = idle?.[0] ?? this.#open.keys().next().value!;
      this.#open.delete(oldest);
      oldest.destroy();
    }
    this.#open.set(socket, false);
    socket.once("close", () => this.#open.delete(socket));
  }

  answer(socket: Socket, response: ServerResponse): void {
    this.#move(socket, true);
    response.once("close", () => this.#move(socket, false));
  }

  #move(socket: Socket, isAnswered: boolean): void {
    if (this.#open.delete(socket)) this.#open.set(socket, isAnswered);
  }
}

/** Resolves with false if another process has the address. */
async function listens(server: Server, { host, port, onListening }: AdminOptions): Promise<boolean> {
  server.listen(port, host);
  try {
    // Leaves no listener behind: each try would tell again that it listens.
    await once(server, "listening");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") return false;
    throw new Error(`can't listen on the admin address ${host}:${port}: ${message}`, { cause });
  }
  onListening((server.address() as AddressInfo).port);
  return true;
}

async function tryAgain(server: Server, options: AdminOptions, signal: AbortSignal): Promise<void> {
  try {
    do await wait(options.retryMs, undefined, { signal });
    while (!(await listens(server, options)));
  } catch (error) {
    if (!signal.aborted) options.onFailure(error);
  }
}

const jsonType = "application/json; charset=utf-8";

async function answer(options: AdminOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "").split("?", 1)[0];
  if (path !== "/metrics" && path !== "/healthz" && path !== "/readyz") {
    reply(
      response,
      request,
      404,
      jsonType,
      JSON.stringify({ error: "Not found", message: "see /metrics, /healthz, /readyz" }),
    );
  } else if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    reply(
      response,
      request,
      405,
      jsonType,
      JSON.stringify({ error: "Method not allowed", message: "this path accepts GET" }),
    );
  } else if (path === "/healthz") {
    reply(response, request, 200, jsonType, JSON.stringify({ status: "ok" }));
  } else if (path === "/readyz") {
    const checks = options.readiness();
    const ready = isReady(checks);
    const body = { status: ready ? "ready" : "not ready", ...checks };
    reply(response, request, ready ? 200 : 503, jsonType, JSON.stringify(body));
  } else if (!isMeantForUs(options, request)) {
    reply(
      response,
      request,
      421,
      jsonType,
      JSON.stringify({
        error: "Misdirected request",
        message: "without an admin token, metrics are served only under a loopback name or address",
      }),
    );
  } else if (!isAllowed(options.token, request)) {
    response.setHeader("WWW-Authenticate", "Bearer");
    reply(
      response,
      request,
      401,
      jsonType,
      JSON.stringify({ error: "Unauthenticated", message: "the admin token is required" }),
    );
  } else {
    reply(response, request, 200, options.metricsType, await options.metrics());
  }
}

/**
 * Refuses DNS rebinding: a web page can point its own host name at 127.0.0.1 and then read what a browser on this machine gets from here. The `Host`
 * header still has that name. With a token, or on an address that is public anyway, it does not matter.
 */
function isMeantForUs({ host, token }: AdminOptions, request: IncomingMessage): boolean {
  if (token !== "" || !isLoopbackHost(host)) return true;
  const asked = (request.headers.host ?? "").replace(/:\d*$/, "");
  return isLoopbackHost(asked) || asked.toLowerCase() === host.toLowerCase();
}

/** Compares hashes, so that the time does not depend on length or prefix. */
function isAllowed(token: string, request: IncomingMessage): boolean {
  if (token === "") return true;
  const given = /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

function reply(response: ServerResponse, request: IncomingMessage, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
