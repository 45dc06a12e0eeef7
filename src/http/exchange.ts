/** One request and its answer: what a handler may still use after the synchronous callback in which uWebSockets shows the request. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { limits } from "../limits.js";
import { BodyReader } from "./body.js";
import type { Framing } from "./framing.js";
import type { Holder } from "./held-bytes.js";
import type { OpenWork } from "./open-work.js";
import { hasNoLength, headerLines, jsonHeaderLines, type Reply, refusal, statusLine } from "./reply.js";

/** Told of every request twice; must not throw. What `started` returns is handed to `finished`. */
export interface RequestMeter {
  started(): number;
  /** `status` is `clientGone` when there was nobody left to answer. */
  finished(status: number, started: number): void;
}

/** The status of a request whose client went before its answer. */
const clientGone = 0;

/** Made by the server for each request. Methods that say so read what uWebSockets shows only during its callback. */
export class Exchange implements Holder {
  readonly requestId: string;
  readonly #res: HttpResponse;
  readonly #meter: RequestMeter;
  readonly #work: OpenWork;
  readonly #started: number;
  readonly #toHead: boolean;
  #body: BodyReader | null = null;
  /** The handler has answered, or the client has gone. */
  #isOver = false;
  /** Nothing of it is left: the answer is with uWebSockets, or the client has gone and `#res` with it. */
  #isDone = false;
  #waits = false;
  #isLate = false;
  #isLast = false;
  #announcedBytes = 0;

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
  deferResponse(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#res.onAborted(() => {
      if (!this.#isOver) this.#meter.finished(clientGone, this.#started);
      this.#isOver = true;
      this.#body?.leave();
      this.#finish();
    });
  }

  /**
   * Call in the synchronous callback to have the answer go out when this tick of the event loop is over. If another request was read behind this
   * one, uWebSockets finds it unanswered and closes the connection.
   */
  answerNextTick(): void {
    this.#isLate = true;
    this.deferResponse();
  }

  /**
   * Call in the synchronous callback with the request's framing, when it is clear. Nothing that follows a body in chunks on its connection is
   * looked at: uWebSockets reads their sizes, ends and trailers more freely than others do.
   */
  framedBy({ bodyBytes, isChunked }: Pick<Framing, "bodyBytes" | "isChunked">): void {
    this.#announcedBytes = bodyBytes;
    if (!isChunked) return;
    this.#isLast = true;
    this.deferResponse();
  }

  /** True when the client has gone or has its answer. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Answers; does nothing when the client has gone. */
  send(reply: Reply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#meter.finished(reply.status, this.#started);
    if (this.#isLate) this.#afterTick(() => this.#give(reply));
    else this.#give(reply);
  }

  #give(reply: Reply): void {
    const sent = this.#toHead ? withoutBody(reply) : reply;
    if (reply.closes === true && !this.#toHead) this.#sendAndClose(sent, flushingSpace);
    else if (reply.closes === true || this.#isLast || (sent.body === undefined && this.#work.isLastWithoutBody()))
      this.#sendLast(sent);
    else if (this.#waits) this.#res.cork(() => this.#write(sent));
    else this.#write(sent);
  }

  /** Answers 200 with JSON text, in the synchronous callback: the shortest way, for the verdict read. */
  sendJsonText(body: string): void {
    if (this.#isLast || this.#isLate || this.#work.isClosing) {
      this.send({ status: 200, body });
      return;
    }
    this.#isOver = true;
    this.#res.writeHeader("X-Request-Id", jsonHeaderLines(this.requestId));
    this.#writeBody(body);
    this.#meter.finished(200, this.#started);
  }

  /**
   * Reads the body. One over the bound, or announced to be, is answered 422 with these headers; one
   * that is given up because too many are on their way, as `onCrowded` says.
   */
  readBody({ bytesMax, isAnonymous, headers = [], onCrowded, onBody }: BodyRequest): void {
    const refuseOversize = (): void => {
      this.send({ ...refusal(refuse("invalidPayload", `the body is over ${bytesMax} bytes`)), headers });
    };
    if (this.#announcedBytes > bytesMax) {
      refuseOversize();
      return;
    }
    this.deferResponse();
    this.#body = new BodyReader(this.#res, {
      bytesMax,
      held: isAnonymous ? this.#work.anonymousBodies : this.#work.bodies,
      onBody,
      onOversize: refuseOversize,
      onDropped: () => this.send(onCrowded()),
    });
  }

  /** The peer's address as text; call in the synchronous callback. */
  get socketAddress(): string {
    return this.#work.peers.of(this.#res);
  }

  /** Too many answers wait to be read, and this one has waited longest. Not closed in the midst of another request's callback. */
  drop(): void {
    this.#afterTick(() => this.#res.close());
  }

  /** Unless nothing is left of the exchange by then. */
  #afterTick(act: () => void): void {
    setImmediate(() => {
      if (!this.#isDone) act();
    });
  }

  #write(reply: Reply): void {
    const { status, body } = reply;
    const isLast = this.#work.isClosing;
    this.#res.writeStatus(statusLine(status));
    this.#res.writeHeader("X-Request-Id", headerLines(this.requestId, reply));
    if (body !== undefined && (!isLast || body.length > corkBytes)) {
      if (isLast) this.#res.writeHeader("Connection", "close");
      this.#writeBody(body);
      return;
    }
    // Given any argument, `endWithoutBody` would say a length of 2^63 bytes.
    if (body === undefined && hasNoLength(status) && !isLast) this.#res.endWithoutBody();
    else this.#res.end(body, isLast);
    this.#finish();
  }

  /**
   * Hands over as much as the connection takes, and the rest when it takes more; `end` would keep a copy of everything that a client
   * does not read. A client that asks again in the meantime is one that does not read: uWebSockets closes its connection.
   */
  #writeBody(body: string | Uint8Array): void {
    const [, isWritten] = this.#res.tryEnd(body, 0);
    if (isWritten) {
      this.#finish();
      return;
    }
    this.deferResponse();
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    this.#res.onWritable((offset) => {
      const [isTaken, isWritten] = this.#res.tryEnd(bytes.subarray(offset), bytes.length);
      if (isWritten) this.#finish();
      return isTaken;
    });
    // Bytes are a file, which all its answers share.
    if (typeof body === "string") this.#work.unreadAnswers.hold(this, bytes.length);
  }

  /**
   * Answers and closes when the callback in which the request came is over. If another request was read behind it, uWebSockets finds this one
   * unanswered and closes at once.
   */
  #sendLast(reply: Reply): void {
    this.deferResponse();
    this.#afterTick(() => {
      if (reply.body === undefined || (typeof reply.body === "string" && reply.body.length <= corkBytes)) {
        this.#sendAndClose(reply, "");
        return;
      }
      this.#res.cork(() => {
        this.#res.writeStatus(statusLine(reply.status));
        this.#res.writeHeader("X-Request-Id", headerLines(this.requestId, reply));
        this.#res.end(reply.body, true);
      });
      this.#finish();
    });
  }

  /**
   * Sends the answer as far as the connection takes it, then closes. Not by `end`, which says that the request is done with: uWebSockets forgets
   * to close when another request is in its hands already. `space` makes the body longer.
   */
  #sendAndClose(reply: Reply, space: string): void {
    const { status, body } = reply;
    const text = body === undefined ? "" : `${body}${space}`;
    // uWebSockets ends a header with a line end: the blank line, or the last two bytes of the body.
    const length = hasNoLength(status)
      ? ""
      : `\r\nContent-Length: ${body === undefined ? 0 : Buffer.byteLength(text) + 2}`;
    const rest = body === undefined ? "\r\n" : `\r\n\r\n${text}`;
    this.#res.cork(() => {
      this.#res.writeStatus(statusLine(status));
      const lines = headerLines(this.requestId, reply);
      this.#res.writeHeader("X-Request-Id", `${lines}\r\nConnection: close${length}${rest}`);
    });
    this.#res.close();
    this.#finish();
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#work.requests--;
    this.#work.unreadAnswers.release(this);
  }
}

/** How a body is to be read. */
export interface BodyRequest {
  readonly bytesMax: number;
  /** Whether it has named no valid key or token yet: less is held of these. */
  readonly isAnonymous: boolean;
  readonly headers?: Reply["headers"];
  /** The answer where too many bodies are on their way. */
  readonly onCrowded: () => Reply;
  /** The whole body, for the time of the call. */
  readonly onBody: (body: Buffer) => void;
}

/** What uWebSockets collects of one callback before it sends anything. */
const corkBytes = 16 * 1024;
/** An answer with it is sent at once, in the callback. White space behind JSON means nothing. */
const flushingSpace = " ".repeat(corkBytes);

function withoutBody({ body: _, ...reply }: Reply): Reply {
  return reply;
}

const scheme = "Bearer ";

/** The value of `Authorization: Bearer …`, or "". */
export function bearer(req: HttpRequest): string {
  return bearerOf(req.getHeader("authorization"));
}

/** The same of the header's value. */
export function bearerOf(header: string): string {
  if (header.length <= scheme.length || header.length > limits.contextValueMax) return "";
  const isBearer = header.startsWith(scheme) || header.slice(0, scheme.length).toLowerCase() === scheme.toLowerCase();
  return isBearer ? header.slice(scheme.length).trim() : "";
}
