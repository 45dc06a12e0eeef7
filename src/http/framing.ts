/**
 * Where a request's body ends: requests on which a proxy in front and this server could disagree are refused, not read. uWebSockets takes
 * the first of several lengths or hosts and lets an empty one pass for none, so every route looks here before anything is done.
 */
import type { HttpRequest } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { type Reply, refusal } from "./reply.js";

/** A length that is a number, exactly. */
const decimal = /^[0-9]{1,15}$/;

/** Collects what frames a request while its headers are walked. Good for any number of requests, one after the other. */
export class Framing {
  #hosts = 0;
  #lengths = 0;
  #length = "";
  #codings = 0;
  #coding = "";
  readonly #take = (name: string, value: string): void => this.take(name, value);

  /** Walks the headers of a request. */
  read(req: HttpRequest): this {
    this.begin();
    req.forEach(this.#take);
    return this;
  }

  /** Forgets the request before. */
  begin(): void {
    this.#hosts = 0;
    this.#lengths = 0;
    this.#length = "";
    this.#codings = 0;
    this.#coding = "";
  }

  /** Looks at one header. Names come in lower case. */
  take(name: string, value: string): void {
    switch (name.length) {
      case 4:
        if (name === "host") this.#hosts++;
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

  /** Bytes of the body that are announced; 0 where none are. */
  get bodyBytes(): number {
    return Number(this.#length) || 0;
  }

  /** Whether the body comes in chunks. */
  get isChunked(): boolean {
    return this.#codings > 0;
  }

  /** More than one length, coding or host, a length that is no number, or a coding other than chunked. */
  get isAmbiguous(): boolean {
    if (this.#hosts > 1) return true;
    if (this.#lengths + this.#codings === 0) return false;
    if (this.#lengths + this.#codings > 1) return true;
    return this.#lengths === 1 ? !decimal.test(this.#length) : this.#coding.toLowerCase() !== "chunked";
  }
}

/** The answer to such a request; nothing more is read from its connection. */
export const ambiguous: Reply = {
  ...refusal(
    refuse(
      "invalidPayload",
      "a request must have exactly one Host; a body must have exactly one Content-Length, or the coding chunked",
    ),
  ),
  closes: true,
};

/** The answer to a GET with a body in chunks: where that ends is not known before all of it was read, and nobody reads it. */
export const chunkedGet: Reply = {
  ...refusal(refuse("invalidPayload", "a GET must not have a chunked body")),
  closes: true,
};
