/**
 * How the client's requests reach verdictd: by Node's `http` where the program runs on Node, otherwise by `fetch`. A read by `http` takes a quarter
 * of the processor time of one by Node's `fetch` (79 to 340 µs), and sends 8 header lines, not 14.
 */

/** A request to verdictd's API, with all its headers. */
export interface SenderRequest {
  /** Beginning with `/`. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer of any status: its whole body as text, and its `X-Request-Id`. */
export interface SenderAnswer {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | null;
}

/**
 * Sends one request; follows no redirect, because the key must not travel to wherever an answer points. Rejects with an error named `TimeoutError` if
 * the whole answer is not there after `timeoutMs`, and with another error for any other failure.
 */
export type RequestSender = (request: SenderRequest, timeoutMs: number) => Promise<SenderAnswer>;

/** Requests by `fetch`. `base` is verdictd's address without a slash at its end. */
export function fetchSender(base: string, fetch: typeof globalThis.fetch): RequestSender {
  return async ({ path, method, headers, body }, timeoutMs) => {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Read to the end, so that the connection can be used again.
    const text = await response.text();
    return { status: response.status, text, requestId: response.headers.get("x-request-id") };
  };
}

/** The parts of Node that this file uses. Nothing is imported, not even types: the client also runs, and is bundled, where there is no Node. */
interface NodeProcess {
  readonly versions?: Readonly<Record<string, string | undefined>>;
  readonly getBuiltinModule?: (name: string) => unknown;
}

/** `node:http` or `node:https`. */
interface NodeHttp {
  readonly Agent: new (options: { readonly keepAlive: boolean; readonly timeout: number }) => object;
  readonly request: (options: NodeRequestOptions, onAnswer: (answer: NodeAnswer) => void) => NodeRequest;
}

interface NodeRequestOptions {
  readonly agent: object;
  readonly host: string;
  readonly port?: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

type NodeError = Error & { readonly code?: string };

interface NodeRequest {
  /** Whether its connection was used before. */
  readonly reusedSocket: boolean;
  on(event: "error", listener: (error: NodeError) => void): unknown;
  end(body?: string): unknown;
  destroy(): unknown;
}

interface NodeAnswer {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  setEncoding(encoding: "utf8"): unknown;
  on(event: "data", listener: (piece: string) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** verdictd closes a connection after 10 idle seconds. This side closes it before that, so that it does not happen just when a request is on its way. */
const idleMsMax = 4000;

/** Requests by Node's `http` or `https` on connections of its own, which are kept. Returns null where there is no Node of 20.16 or newer. */
export function nodeSender(base: string): RequestSender | null {
  const { protocol, hostname, port, pathname } = new URL(base);
  const http = nodeModule(protocol === "https:" ? "node:https" : "node:http");
  if (http === null) return null;
  const agent = new http.Agent({ keepAlive: true, timeout: idleMsMax });
  const fixed = {
    agent,
    host: hostname.replace(/^\[|\]$/g, ""),
    ...(port !== "" && { port: Number(port) }),
  };
  const prefix = pathname.replace(/\/+$/, "");
  return (request, timeoutMs) => {
    const { path, method, headers } = request;
    return sentByNode(http, { ...fixed, path: prefix + path, method, headers }, request.body, timeoutMs);
  };
}

function nodeModule(name: string): NodeHttp | null {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const { versions = {} } = process ?? {};
  // Other runtimes name a version of Node, too. Of those that also name one of libuv, `fetch` is the fastest way.
  const isNode = versions["uv"] !== undefined && versions["bun"] === undefined && versions["deno"] === undefined;
  return isNode ? ((process?.getBuiltinModule?.(name) as NodeHttp | undefined) ?? null) : null;
}

function sentByNode(
  http: NodeHttp,
  options: NodeRequestOptions,
  body: string | undefined,
  timeoutMs: number,
): Promise<SenderAnswer> {
  return new Promise((resolve, reject) => {
    let request: NodeRequest;
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    const timer = setTimeout(() => {
      end(() => reject(new TimeoutError(timeoutMs)));
      request.destroy();
    }, timeoutMs);
    const read = (response: NodeAnswer): void => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => {
        const { statusCode: status = 0, headers } = response;
        const requestId = headers["x-request-id"];
        end(() => resolve({ status, text, requestId: typeof requestId === "string" ? requestId : null }));
      });
      response.on("error", (error) => end(() => reject(error)));
    };
    const send = (isRepeated: boolean): void => {
      request = http.request(options, read);
      request.on("error", (error) => {
        // A connection that was kept can be closed by the other side at the moment of use. All requests of this client may be sent twice.
        const isClosed = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        if (isClosed && !isRepeated && !isOver) send(true);
        else end(() => reject(error));
      });
      request.end(body);
    };
    try {
      send(false);
    } catch (error) {
      end(() => reject(error));
    }
  });
}

class TimeoutError extends Error {
  override readonly name = "TimeoutError";

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}
