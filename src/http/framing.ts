/** Where a request's body ends: requests on which a proxy in front and this server could disagree are refused, not read. */
import type { HttpRequest } from "uWebSockets.js";
import { refuse } from "../errors.js";
import { type Reply, refusal } from "./reply.js";

/** Collects what frames a body while a request's headers are walked. uWebSockets itself refuses both kinds together. */
export class Framing {
  #lengths = 0;
  #length = "";
  #coding = "chunked";

  /** Forgets the request before. */
  begin(): void {
    this.#lengths = 0;
    this.#length = "";
    this.#coding = "chunked";
  }

  /** Whether the header was one of framing. Names come in lower case. */
  take(name: string, value: string): boolean {
    if (name === "content-length") {
      this.#lengths++;
      this.#length = value;
    } else if (name === "transfer-encoding") this.#coding = value.trim().toLowerCase();
    else return false;
    return true;
  }

  /** Bytes of the body that are announced; 0 where none are. */
  get bodyBytes(): number {
    return Number(this.#length) || 0;
  }

  /** More than one length, or a coding other than chunked, which uWebSockets would read as chunked. */
  get isAmbiguous(): boolean {
    return this.#lengths > 1 || this.#coding !== "chunked";
  }
}

/** Walks the headers of a request that has a body; cheap for one that has none. */
export function isAmbiguous(req: HttpRequest): boolean {
  if (req.getHeader("content-length") === "" && req.getHeader("transfer-encoding") === "") return false;
  const framing = new Framing();
  req.forEach((name, value) => {
    framing.take(name, value);
  });
  return framing.isAmbiguous;
}

/** The answer to such a request; nothing more is read from its connection. */
export const ambiguous: Reply = {
  ...refusal(refuse("invalidPayload", "the body must have one Content-Length, or be chunked")),
  closes: true,
};
