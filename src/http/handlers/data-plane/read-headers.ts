/**
 * Reads the headers that a verdict read needs, in one walk. uWebSockets makes new strings each time a header is read, and the framing check needs the
 * walk anyway.
 */
import type { HttpRequest } from "uWebSockets.js";
import { bearerOf } from "../../exchange.js";
import { Framing } from "../../framing.js";

/** The first line of a name counts; "" for a missing one. One object serves any number of requests, one after another. */
export class ReadHeaders {
  readonly framing = new Framing();
  path = "";
  method = "";
  host = "";
  ip = "";
  userAgent = "";
  #authorization = "";
  #privateKey = "";
  /** A bit for each name that was sent. */
  #seen = 0;
  readonly #take = (name: string, value: string): void => this.#line(name, value);

  /** Call in the synchronous callback. */
  read(req: HttpRequest): this {
    this.framing.begin();
    this.path = this.method = this.host = this.ip = this.userAgent = this.#authorization = this.#privateKey = "";
    this.#seen = 0;
    req.forEach(this.#take);
    return this;
  }

  /** The private key: `Authorization: Bearer`, or else `X-Service-Private-Key`. */
  get privateKey(): string {
    return bearerOf(this.#authorization) || this.#privateKey;
  }

  #isFirst(bit: number): boolean {
    const isFirst = (this.#seen & bit) === 0;
    this.#seen |= bit;
    return isFirst;
  }

  /** Names come in lower case. */
  #line(name: string, value: string): void {
    switch (name.length) {
      case 13:
        if (name === "authorization" && this.#isFirst(1)) this.#authorization = value;
        return;
      case 19:
        if (name === "x-service-client-ip" && this.#isFirst(2)) this.ip = value;
        else if (name === "x-service-client-ua" && this.#isFirst(4)) this.userAgent = value;
        return;
      case 21:
        if (name === "x-service-private-key" && this.#isFirst(8)) this.#privateKey = value;
        return;
      case 22:
        if (name === "x-service-request-path" && this.#isFirst(16)) this.path = value;
        else if (name === "x-service-request-host" && this.#isFirst(32)) this.host = value;
        return;
      case 24:
        if (name === "x-service-request-method" && this.#isFirst(64)) this.method = value;
        return;
      default:
        this.framing.take(name, value);
    }
  }
}
