/** One request and its answer: what a handler may still use after the synchronous callback in which uWebSockets shows the request. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { limits } from "../limits.js";
import { readBody } from "./body.js";
import type { OpenWork } from "./open-work.js";
import { jsonType, type Reply, refusal, writeReply } from "./reply.js";

/** Told of every request twice; must not throw. What `started` returns is handed to `finished`. */
export interface RequestMeter {
  started(): number;
  /** `status` is `clientGone` when there was nobody left to answer. */
  finished(status: number, started: number): void;
}

/** The status of a request whose client went before its answer. */
export const clientGone = 0;

export class Exchange {
  readonly requestId: string;
  readonly #res: HttpResponse;
  readonly #meter: RequestMeter;
  readonly #work: OpenWork;
  readonly #started: number;
  readonly #toHead: boolean;
  #over = false;
  #waits = false;

  /** `toHead`: the request is a HEAD, so no body may follow the headers of its answer. */
  constructor(res: HttpResponse, requestId: string, meter: RequestMeter, work: OpenWork, toHead = false) {
    this.#res = res;
    this.#meter = meter;
    this.#work = work;
    work.requests++;
    this.#started = meter.started();
    this.#toHead = toHead;
    this.requestId = requestId;
  }

  /**
   * Call in the synchronous callback of a request that is not answered in it: the client may go in the meantime. What is answered at once
   * does without, and without a cork, which uWebSockets holds around its callback.
   */
  wait(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#res.onAborted(() => {
      if (this.#over) return;
      this.#over = true;
      this.#work.requests--;
      this.#meter.finished(clientGone, this.#started);
    });
  }

  /** True when the client has gone or has its answer. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Answers; does nothing when the client has gone. */
  send(reply: Reply): void {
    if (this.#over) return;
    this.#over = true;
    const written = this.#toHead ? withoutBody(reply) : reply;
    const isLast = reply.closes === true || this.#work.isClosing;
    if (this.#waits) this.#res.cork(() => writeReply(this.#res, this.requestId, written, isLast));
    else writeReply(this.#res, this.requestId, written, isLast);
    this.#work.requests--;
    this.#meter.finished(reply.status, this.#started);
  }

  /** Answers 200 with JSON text, in the synchronous callback: the shortest way, for the verdict read. */
  sendJsonText(body: string): void {
    this.#over = true;
    // As in `writeReply`, without a reply.
    this.#res.writeHeader("X-Request-Id", `${this.requestId}\r\nContent-Type: ${jsonType}`);
    this.#res.end(body, this.#work.isClosing);
    this.#work.requests--;
    this.#meter.finished(200, this.#started);
  }

  /** Reads the body; one over the bound is answered 422 with these headers. */
  readBody(bytesMax: number, onBody: (body: Buffer) => void, headers: Reply["headers"] = []): void {
    this.wait();
    readBody(this.#res, bytesMax, {
      onBody,
      onOversize: () => {
        this.send({ ...refusal(refuse("invalidPayload", `the body is over ${bytesMax} bytes`)), headers });
      },
    });
  }

  /** The peer's address as text; call in the synchronous callback. */
  get socketAddress(): string {
    return this.#work.peers.of(this.#res);
  }
}

function withoutBody({ status, headers }: Reply): Reply {
  return headers === undefined ? { status } : { status, headers };
}

const scheme = "Bearer ";

/** The value of `Authorization: Bearer …`, or "". */
export function bearer(req: HttpRequest): string {
  const header = req.getHeader("authorization");
  if (header.length <= scheme.length || header.length > limits.contextValueMax) return "";
  const isBearer = header.startsWith(scheme) || header.slice(0, scheme.length).toLowerCase() === scheme.toLowerCase();
  return isBearer ? header.slice(scheme.length).trim() : "";
}
