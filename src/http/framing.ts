/**
 * Decides where a request's body ends. Refuses requests on which a proxy in front and this server could disagree. uWebSockets uses the first of several
 * lengths or hosts and treats an empty one as none, so every route checks here before anything else.
 */
import type { HttpRequest } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { type Reply, refusal } from "./reply.js";

/** `close` among the words of a `Connection` header. */
const closeOption = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** A length that is a number, exactly. */
const decimal = /^[0-9]{1,15}$/;

/** Collects the framing of a request during the walk over its headers. One object serves any number of requests, one after another. */
export class Framing {
  #hosts = 0;
  #lengths = 0;
  #length = "";
  #codings = 0;
  #coding = "";
  #connection = "";
  readonly #take = (name: string, value: string): void => this.take(name, value);

  /** Walks the headers of a request. */
  read(req: HttpRequest): this {
    this.begin();
    req.forEach(this.#take);
    return this;
  }

  /** Resets the state for the next request. */
  begin(): void {
    this.#hosts = 0;
    this.#lengths = 0;
    this.#length = "";
    this.#codings = 0;
    this.#coding = "";
    this.#connection = "";
  }

  /** Reads one header. Names are in lower case. */
  take(name: string, value: string): void {
    switch (name.length) {
      case 4:
        if (name === "host") this.#hosts++;
        return;
      case 10:
        if (name === "connection") this.#connection += this.#connection === "" ? value : `,${value}`;
        return;
      case 14:
        if (name !== "content-length") return;
        this.#lengths++;
        this.#length = value;
        return;
      case 17:
        if (name !== "transfer-encoding") return;
        this.#codings++;
        this.#coding = value;
    }
  }

  /** The announced length of the body, bytes; 0 if none is announced. */
  get bodyBytes(): number {
    return Number(this.#length) || 0;
  }

  /** Whether the client asks for the connection to be closed after the answer: alone, which uWebSockets does by itself, or beside other words. */
  get asksClose(): "no" | "alone" | "listed" {
    if (this.#connection === "" || this.#connection === "keep-alive") return "no";
    if (!closeOption.test(this.#connection)) return "no";
    return this.#connection.length === "close".length ? "alone" : "listed";
  }

  /** Whether the body is chunked. */
  get isChunked(): boolean {
    return this.#codings > 0;
  }

  /** True for more than one length, coding or host, a length that is no number, or a coding other than chunked. */
  get isAmbiguous(): boolean {
    if (this.#hosts > 1) return true;
    if (this.#lengths + this.#codings === 0) return false;
    if (this.#lengths + this.#codings > 1) return true;
    return this.#lengths === 1 ? !decimal.test(this.#length) : this.#coding.toLowerCase() !== "chunked";
  }
}

/** The answer to an ambiguous request; nothing more is read from its connection. */
export const ambiguous: Reply = {
  ...refusal(
    refuse(
      "invalidPayload",
      "a request must have exactly one Host; a body must have exactly one Content-Length, or the coding chunked",
    ),
  ),
  closes: true,
};

/** The answer to a GET with a chunked body: its end is only known after reading all of it, and nothing reads it. */
export const chunkedGet: Reply = {
  ...refusal(refuse("invalidPayload", "a GET must not have a chunked body")),
  closes: true,
};
