/**
 * How the client's requests reach verdictd: by Node's `http` where the program runs on Node, otherwise by `fetch`. A read by `http` takes a quarter
 * of the processor time of one by Node's `fetch` (79 to 340 µs), and sends 8 header lines, not 14.
 */

import { startDeadline } from "./deadline.js";

/** A request to verdictd's API, with all its headers. */
export interface SenderRequest {
  /** Beginning with `/`. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer of any status: its whole body as text, "" for one that is too long to be verdictd's, and its `X-Request-Id`. */
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

/** No answer of verdictd to the client is longer. Something else may send without end. */
const answerCharactersMax = 65_536;

/** Requests by `fetch`. `base` is verdictd's address without a slash at its end. */
export function fetchSender(base: string, fetch: typeof globalThis.fetch): RequestSender {
  const sentByFetch = async (
    { path, method, headers, body }: SenderRequest,
    signal: AbortSignal,
  ): Promise<SenderAnswer> => {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal,
    });
    const text = await textOf(response);
    return { status: response.status, text, requestId: response.headers.get("x-request-id") };
  };
  return (request, timeoutMs) =>
    new Promise((resolve, reject) => {
      const controller = new AbortController();
      const endDeadline = startDeadline(timeoutMs, () => {
        // Before the abort, which some senders ignore.
        reject(new TimeoutError(timeoutMs));
        controller.abort();
      });
      void sentByFetch(request, controller.signal).then(resolve, reject).finally(endDeadline);
    });
}

/** Reads to the end, so that the connection can be used again. */
async function textOf(response: Response): Promise<string> {
  // Some implementations have a stream of Node's here.
  if (typeof response.body?.getReader !== "function") return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > answerCharactersMax) {
      void reader.cancel().catch(() => {});
      return "";
    }
  }
}

/** The parts of Node that this file uses. Nothing is imported, not even types: the client also runs, and is bundled, where there is no Node. */
interface NodeProcess {
  readonly versions?: Readonly<Record<string, string | undefined>>;
  readonly getBuiltinModule?: (name: string) => unknown;
}

/** `node:http` or `node:https`. */
interface NodeHttp {
  readonly Agent: new (options: NodeAgentOptions) => NodeAgent;
  readonly request: (options: NodeRequestOptions, onAnswer: (answer: NodeAnswer) => void) => NodeRequest;
}

interface NodeAgentOptions {
  readonly keepAlive: boolean;
  readonly timeout: number;
  readonly maxSockets: number;
}

interface NodeAgent {
  maxFreeSockets: number;
  /** Connections that are kept and not in use, by address. */
  readonly freeSockets: Readonly<Record<string, readonly { destroy(): unknown }[] | undefined>>;
}

interface NodeRequestOptions {
  readonly agent: NodeAgent;
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
  on(event: "close", listener: () => void): unknown;
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
/** Requests beyond wait for a connection. With 1,000 reads at once on new connections, all answers are there in half the time that no bound takes. */
const connectionsMax = 256;

/** Requests by Node's `http` or `https` on connections of its own, which are kept. Returns null where there is no Node of 20.16 or newer. */
export function nodeSender(base: string): RequestSender | null {
  const { protocol, hostname, port, pathname } = new URL(base);
  const http = nodeModule(protocol === "https:" ? "node:https" : "node:http");
  if (http === null) return null;
  const connections = new Connections(http);
  const address = { host: hostname.replace(/^\[|\]$/g, ""), ...(port !== "" && { port: Number(port) }) };
  const prefix = pathname.replace(/\/+$/, "");
  return (request, timeoutMs) => {
    const { path, method, headers, body } = request;
    return sentByNode(connections, { ...address, path: prefix + path, method, headers }, body, timeoutMs);
  };
}

/** The connections of one client. */
class Connections {
  readonly http: NodeHttp;
  #agent: NodeAgent;
  /** Answers since `drop`. */
  #answers = 0;

  constructor(http: NodeHttp) {
    this.http = http;
    this.#agent = this.#makeAgent();
  }

  get agent(): NodeAgent {
    return this.#agent;
  }

  get answers(): number {
    return this.#answers;
  }

  countAnswer(): void {
    this.#answers++;
  }

  /** Call when a kept connection of this agent turned out to be dead: the others probably are, too, as after a failover. None is used again. */
  drop(agent: NodeAgent): void {
    if (agent !== this.#agent) return;
    this.#agent = this.#makeAgent();
    this.#answers = 0;
    // Those in use are closed when they have their answer.
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
  }

  #makeAgent(): NodeAgent {
    return new this.http.Agent({ keepAlive: true, timeout: idleMsMax, maxSockets: connectionsMax });
  }
}

function nodeModule(name: string): NodeHttp | null {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const { versions = {} } = process ?? {};
  // Other runtimes name a version of Node, too. Of those that also name one of libuv, `fetch` is the fastest way.
  const isNode = versions["uv"] !== undefined && versions["bun"] === undefined && versions["deno"] === undefined;
  return isNode ? ((process?.getBuiltinModule?.(name) as NodeHttp | undefined) ?? null) : null;
}

function sentByNode(
  connections: Connections,
  options: Omit<NodeRequestOptions, "agent">,
  body: string | undefined,
  timeoutMs: number,
): Promise<SenderAnswer> {
  return new Promise((resolve, reject) => {
    let request: NodeRequest;
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      endDeadline();
      settle();
    };
    const endDeadline = startDeadline(timeoutMs, () => {
      end(() => reject(new TimeoutError(timeoutMs)));
      // A server that answers others is only slow.
      if (request.reusedSocket && connections.answers === answersBefore) connections.drop(agent);
      request.destroy();
    });
    const read = (response: NodeAnswer): void => {
      connections.countAnswer();
      let text = "";
      const answer = (): void => {
        const { statusCode: status = 0, headers } = response;
        const requestId = headers["x-request-id"];
        end(() => resolve({ status, text, requestId: typeof requestId === "string" ? requestId : null }));
      };
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
        if (text.length <= answerCharactersMax) return;
        text = "";
        answer();
        request.destroy();
      });
      response.on("end", answer);
      response.on("error", (error) => end(() => reject(error)));
    };
    let { agent } = connections;
    const answersBefore = connections.answers;
    const send = (isRepeated: boolean): void => {
      const sent = connections.http.request({ agent, ...options }, read);
      request = sent;
      sent.on("error", (error) => {
        // Of a request that was destroyed here.
        if (isOver) return;
        // A connection that was kept can be closed by the other side at the moment of use. All requests of this client may be sent twice.
        const isClosed = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        if (isClosed) connections.drop(agent);
        if (isClosed && !isRepeated) {
          agent = connections.agent;
          send(true);
        } else end(() => reject(error));
      });
      // After an answer that Node shows nobody, such as a change of the protocol.
      sent.on("close", () => {
        if (sent === request) end(() => reject(new Error("the connection was closed without an answer")));
      });
      sent.end(body);
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
