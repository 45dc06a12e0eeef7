/** One request and its answer, for use after the synchronous callback in which uWebSockets shows the request. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { limits } from "../limits.js";
import { BodyReader } from "./body.js";
import type { Framing } from "./framing.js";
import type { Holder } from "./held-bytes.js";
import type { OpenWork } from "./open-work.js";
import { hasNoLength, headerLines, jsonHeaderLines, jsonType, type Reply, refusal, statusLine } from "./reply.js";

/** Called twice for every request; must not throw. `finished` gets what `started` returned. */
export interface RequestMeter {
  started(): number;
  /** `status` is `clientGone` if the client left before its answer. */
  finished(status: number, started: number): void;
}

/** The status of a request if the client left before its answer. */
const clientGone = 0;

/** The server makes one for each request. Some methods, which say so, read what uWebSockets shows only during its callback. */
export class Exchange implements Holder {
  readonly requestId: string;
  readonly #res: HttpResponse;
  readonly #meter: RequestMeter;
  readonly #work: OpenWork;
  readonly #started: number;
  readonly #toHead: boolean;
  #body: BodyReader | null = null;
  /** The handler has answered, or the client has left. */
  #isOver = false;
  /** uWebSockets has the whole answer, or the client has left; `#res` must not be used any more. */
  #isDone = false;
  #waits = false;
  /** uWebSockets holds a cork: it gives the body's bytes now. */
  #isCorked = false;
  #isLate = false;
  /** The answer is ready, and waits for the end of the tick. */
  #isReady = false;
  #isLast = false;
  #asksClose: Framing["asksClose"] = "no";
  #announcedBytes = 0;
  /** Length of the body that a GET would get, of an answer to HEAD. */
  #headBytes = 0;

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
   * Call in the synchronous callback of a request that is answered later, because the client may leave in the meantime. A request that is answered at
   * once needs neither this nor a cork, which uWebSockets holds around its callback.
   */
  deferResponse(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#res.onAborted(() => {
      if (!this.#isOver || this.#isReady) this.#meter.finished(clientGone, this.#started);
      if (this.#isReady) this.#work.tickEnd.startAnew();
      this.#isOver = true;
      this.#body?.leave();
      this.#finish();
    });
  }

  /**
   * Call in the synchronous callback to send the answer after this tick of the event loop. If the connection has pipelined another request,
   * uWebSockets finds this one unanswered and closes the connection.
   */
  answerNextTick(): void {
    this.#isLate = true;
    this.deferResponse();
  }

  /**
   * Call in the synchronous callback with the request's framing, if it is clear. Nothing after a chunked body is read on its connection, because
   * uWebSockets parses chunk sizes, ends and trailers more freely than other programs.
   */
  framedBy({ bodyBytes, isChunked, asksClose }: Pick<Framing, "bodyBytes" | "isChunked" | "asksClose">): void {
    this.#announcedBytes = bodyBytes;
    this.#asksClose = asksClose;
    if (!isChunked) return;
    this.#isLast = true;
    this.deferResponse();
  }

  /** True if the client has left or has its answer. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Answers; does nothing if the client has left. */
  send(reply: Reply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#meter.finished(reply.status, this.#started);
    if (this.#isLate) this.#afterTick(() => this.#give(reply));
    else this.#give(reply);
  }

  /**
   * As `send`, from the synchronous callback or while the body is given: at the end of this tick of the event loop if it has many answers. If the connection
   * has pipelined another request, uWebSockets finds this one unanswered and closes the connection.
   */
  sendAtTickEnd(reply: Reply): void {
    // What closes the connection does so before anything that is hidden behind this request is read.
    const isAlone = this.#isLate || this.#isLast || (this.#waits && !this.#isCorked) || reply.closes === true;
    if (this.#isOver || isAlone || !this.#mayWait()) this.send(reply);
    else this.#wait(reply);
  }

  #mayWait(): boolean {
    const { tickEnd, tick, connections } = this.#work;
    return tickEnd.takes(tick.number, connections);
  }

  #wait(reply: Reply): void {
    this.#isOver = true;
    this.#isReady = true;
    this.deferResponse();
    this.#work.tickEnd.add(() => {
      if (this.#isDone) return;
      this.#isReady = false;
      this.#meter.finished(reply.status, this.#started);
      this.#give(reply);
    });
  }

  #give(reply: Reply): void {
    const sent = this.#toHead ? withoutBody(reply) : reply;
    this.#headBytes = this.#toHead ? bytesOf(reply.body) : 0;
    if (reply.closes === true && !this.#toHead) this.#sendAndClose(sent, flushingSpace);
    else if (reply.closes === true || this.#isLast || (sent.body === undefined && this.#work.isLastWithoutBody()))
      this.#sendLast(sent);
    else if (this.#waits && !this.#isCorked) this.#res.cork(() => this.#write(sent));
    else this.#write(sent);
  }

  /** As `sendAtTickEnd`, 200 with JSON text, in the synchronous callback. The fastest way, for verdict reads. */
  sendJsonText(body: string): void {
    if (this.#isLast || this.#isLate || this.#work.isClosing || this.#asksClose !== "no") {
      this.send({ status: 200, body });
      return;
    }
    if (this.#mayWait()) {
      this.#wait({ status: 200, body });
      return;
    }
    this.#isOver = true;
    this.#res.writeHeader("X-Request-Id", jsonHeaderLines(this.requestId));
    this.#writeBody(body);
    this.#meter.finished(200, this.#started);
  }

  /**
   * Reads the body. Answers 422 with these headers if the body exceeds the bound or announces that it will. Answers as `onCrowded` says if the body is
   * dropped because too many are incomplete.
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
      onBody: (body) => {
        this.#isCorked = true;
        try {
          onBody(body);
        } finally {
          this.#isCorked = false;
        }
      },
      onOversize: refuseOversize,
      onDropped: () => this.send(onCrowded()),
    });
  }

  /** The peer's address as text; call in the synchronous callback. */
  get socketAddress(): string {
    return this.#work.peers.of(this.#res);
  }

  /** Drops this answer: too many are unread, and this one is the oldest. Does not close in the middle of another request's callback. */
  drop(): void {
    this.#afterTick(() => this.#res.close());
  }

  /** Does nothing if the exchange is over by then. */
  #afterTick(act: () => void): void {
    setImmediate(() => {
      if (!this.#isDone) act();
    });
  }

  #write(reply: Reply): void {
    const { status, body } = reply;
    // uWebSockets closes after the answer when `close` was asked for alone, but does not say so.
    const isClosedAnyway = this.#asksClose === "alone";
    const isLast = !isClosedAnyway && (this.#work.isClosing || this.#asksClose === "listed");
    // uWebSockets writes 200 by itself.
    if (status !== 200) this.#res.writeStatus(statusLine(status));
    this.#res.writeHeader("X-Request-Id", headerLines(this.requestId, reply));
    if (isClosedAnyway) this.#res.writeHeader("Connection", "close");
    if (body !== undefined && (!isLast || body.length > corkBytes)) {
      if (isLast) this.#res.writeHeader("Connection", "close");
      this.#writeBody(body);
      return;
    }
    // With any argument, `endWithoutBody` would announce a length of 2^63 bytes.
    if (body === undefined && hasNoLength(status) && !isLast) this.#res.endWithoutBody();
    else if (this.#headBytes > 0 && !isLast) {
      this.#res.writeHeader("Content-Length", String(this.#headBytes));
      this.#res.endWithoutBody();
    } else this.#res.end(body, isLast);
    this.#finish();
  }

  /**
   * Writes as much as the connection takes, and the rest when it takes more; `end` would keep a copy of everything that a client does not read. If the
   * client sends another request in the meantime, uWebSockets closes its connection.
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
    // Bytes are a file that all its answers share.
    if (typeof body === "string") this.#work.unreadAnswers.hold(this, bytes.length);
  }

  /**
   * Answers and closes after the callback in which the request came. If the connection has pipelined another request, uWebSockets finds this one
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
   * Sends as much of the answer as the connection takes, then closes. Does not use `end`, which marks the request as done: uWebSockets would not close if
   * it has read another request already. `space` makes the body longer.
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

/** How to read a body. */
interface BodyRequest {
  readonly bytesMax: number;
  /** Whether the request has named no valid key or token yet: these bodies have a smaller bound. */
  readonly isAnonymous: boolean;
  readonly headers?: Reply["headers"];
  /** The answer if too many bodies are incomplete. */
  readonly onCrowded: () => Reply;
  /** Gets the whole body; valid during the call only. */
  readonly onBody: (body: Buffer) => void;
}

/** Bytes that uWebSockets collects during one callback before it sends anything. */
const corkBytes = 16 * 1024;
/** Makes an answer so long that it is sent at once, in the callback. White space after JSON means nothing. */
const flushingSpace = " ".repeat(corkBytes);

/** Of an answer to HEAD: its headers are those of the GET. */
function withoutBody({ body, contentType, headers = [], ...reply }: Reply): Reply {
  return body === undefined
    ? { ...reply, headers }
    : { ...reply, headers: [...headers, ["Content-Type", contentType ?? jsonType]] };
}

function bytesOf(body: Reply["body"]): number {
  return typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
}

const scheme = "Bearer ";

/** The value of `Authorization: Bearer …`, or "". */
export function bearer(req: HttpRequest): string {
  return bearerOf(req.getHeader("authorization"));
}

/** As above, for the header's value. */
export function bearerOf(header: string): string {
  if (header.length <= scheme.length || header.length > limits.contextValueMax) return "";
  const isBearer = header.startsWith(scheme) || header.slice(0, scheme.length).toLowerCase() === scheme.toLowerCase();
  return isBearer ? header.slice(scheme.length).trim() : "";
}
