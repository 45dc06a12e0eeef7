/**
 * Reads what matters of an ingest request's headers. uWebSockets shows each as two new strings, and a visitor's batches bring the same
 * ones again and again: one reader serves all requests, and values that were seen before are not looked at twice.
 */
import type { HttpRequest } from "uWebSockets.js";
import { type HeaderFacts, noHeaders } from "../../../contract/header-facts.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { Framing } from "../../framing.js";

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

export interface IngestHeaders {
  readonly siteKey: string;
  /** null: not sent, which is not the same as sent empty. */
  readonly idempotencyKey: string | null;
  /** All lines of `X-Forwarded-For`, joined. */
  readonly forwardedFor: string;
  /** More than one body could be meant: see `framing.ts`. */
  readonly isAmbiguous: boolean;
  /** Whether the body comes in chunks. */
  readonly isChunked: boolean;
  /** Bytes of the body that are announced; 0 where none are. */
  readonly bodyBytes: number;
  readonly facts: HeaderFacts;
}

/** User agents whose latest header lines are kept, unless one is longer than what is looked at: at most 2 MB. */
const keptMax = 256;

/** Good for any number of requests, one after the other. */
export class IngestHeaderReader {
  #siteKey = "";
  #idempotencyKey: string | null = null;
  #forwardedFor = "";
  #framing = new Framing();
  #lines = noLines();
  readonly #known = new Map<string, { readonly lines: HeaderFacts; readonly facts: HeaderFacts }>();
  readonly #take = (name: string, value: string): void => this.#line(name, value);

  /** Call in the synchronous callback. */
  read(req: HttpRequest): IngestHeaders {
    this.#siteKey = "";
    this.#idempotencyKey = null;
    this.#forwardedFor = "";
    this.#framing.begin();
    clear(this.#lines);
    req.forEach(this.#take);
    return {
      siteKey: this.#siteKey,
      idempotencyKey: this.#idempotencyKey,
      forwardedFor: this.#forwardedFor,
      isAmbiguous: this.#framing.isAmbiguous,
      isChunked: this.#framing.isChunked,
      bodyBytes: this.#framing.bodyBytes,
      facts: this.#facts(),
    };
  }

  #facts(): HeaderFacts {
    const lines = this.#lines;
    const known = this.#known.get(lines.userAgent);
    if (known !== undefined && isSame(known.lines, lines)) return known.facts;
    const facts = bounded(lines);
    if (names.some((name) => lines[name].length > limits.contextValueMax)) return facts;
    if (this.#known.size >= keptMax) this.#known.clear();
    this.#known.set(lines.userAgent, { lines, facts });
    this.#lines = noLines();
    return facts;
  }

  /** By length first: to compare a name with all that are known, or to look it up, takes longer. Names come in lower case. */
  #line(name: string, value: string): void {
    const lines = this.#lines;
    switch (name.length) {
      case 6:
        if (name === "accept") lines.accept = value;
        else if (name === "origin") lines.origin = value;
        return;
      case 7:
        if (name === "referer") lines.referer = value;
        return;
      case 9:
        if (name === "sec-ch-ua") lines.secChUa = value;
        return;
      case 10:
        if (name === "user-agent") lines.userAgent = value;
        return;
      case 12:
        if (name === "content-type") lines.contentType = value;
        return;
      case 14:
        if (name === "sec-fetch-site") lines.secFetchSite = value;
        else if (name === "sec-fetch-mode") lines.secFetchMode = value;
        else if (name === "sec-fetch-dest") lines.secFetchDest = value;
        else this.#framing.take(name, value);
        return;
      case 15:
        if (name === "accept-language") lines.acceptLanguage = value;
        else if (name === "accept-encoding") lines.acceptEncoding = value;
        else if (name === "idempotency-key") this.#idempotencyKey = value;
        else if (name === "x-forwarded-for") this.#forwardedFor += this.#forwardedFor === "" ? value : `, ${value}`;
        return;
      case 16:
        if (name === "sec-ch-ua-mobile") lines.secChUaMobile = value;
        return;
      case 18:
        if (name === "x-service-site-key") this.#siteKey = value;
        else if (name === "sec-ch-ua-platform") lines.secChUaPlatform = value;
        return;
      default:
        this.#framing.take(name, value);
    }
  }
}

function noLines(): Writable<HeaderFacts> {
  return { ...noHeaders };
}

const names = Object.keys(noHeaders) as readonly (keyof HeaderFacts)[];

function clear(lines: Writable<HeaderFacts>): void {
  lines.userAgent = "";
  lines.acceptLanguage = "";
  lines.accept = "";
  lines.acceptEncoding = "";
  lines.origin = "";
  lines.referer = "";
  lines.secChUa = "";
  lines.secChUaMobile = "";
  lines.secChUaPlatform = "";
  lines.secFetchSite = "";
  lines.secFetchMode = "";
  lines.secFetchDest = "";
  lines.contentType = "";
}

function isSame(one: HeaderFacts, other: HeaderFacts): boolean {
  return (
    one.userAgent === other.userAgent &&
    one.acceptLanguage === other.acceptLanguage &&
    one.accept === other.accept &&
    one.acceptEncoding === other.acceptEncoding &&
    one.origin === other.origin &&
    one.referer === other.referer &&
    one.secChUa === other.secChUa &&
    one.secChUaMobile === other.secChUaMobile &&
    one.secChUaPlatform === other.secChUaPlatform &&
    one.secFetchSite === other.secFetchSite &&
    one.secFetchMode === other.secFetchMode &&
    one.secFetchDest === other.secFetchDest &&
    one.contentType === other.contentType
  );
}

function bounded(lines: HeaderFacts): HeaderFacts {
  const facts = noLines();
  for (const name of names) facts[name] = boundedValue(lines[name]);
  return facts;
}
