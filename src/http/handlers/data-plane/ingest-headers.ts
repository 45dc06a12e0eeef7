/**
 * Reads the relevant headers of an ingest request. uWebSockets shows each header as two new strings, and a visitor's batches repeat the same ones. So one
 * reader serves all requests, and values that it has seen before are not parsed twice.
 */
import type { HttpRequest } from "uWebSockets.js";
import { batchHeaders, type HeaderFacts, headerFactsOf } from "../../../contract/evidence/header-facts.js";
import { boundedValue } from "../../../ingest/frame.js";
import { limits } from "../../../limits.js";
import { Framing } from "../../framing.js";

/** The headers of one ingest request. A text is "" if its header was not sent, unless the field says null. */
export interface IngestHeaders {
  readonly siteKey: string;
  /** `null` means not sent, which differs from sent empty. */
  readonly idempotencyKey: string | null;
  /** All lines of `X-Forwarded-For`, joined. */
  readonly forwardedFor: string;
  /** The end of the body is ambiguous: see `framing.ts`. */
  readonly isAmbiguous: boolean;
  /** Whether the body is chunked. */
  readonly isChunked: boolean;
  /** The announced length of the body, bytes; 0 if none is announced. */
  readonly bodyBytes: number;
  /** Whether the connection is to be closed after the answer: see `framing.ts`. */
  readonly asksClose: Framing["asksClose"];
  readonly facts: HeaderFacts;
}

/** Number of user agents with cached header lines, unless a line is too long to be checked: at most 2 MB. */
const keptMax = 256;

/**
 * The table's names by length and one character, which together identify each of them: a name is compared with one entry at most. A look-up in a map
 * takes longer.
 */
const slots: ({ readonly name: string; readonly position: number } | undefined)[] = Array.from({ length: 32 * 32 });
for (const [position, { name }] of batchHeaders.entries()) {
  if (slots[slotOf(name)] !== undefined)
    throw new Error(`${name} uses the slot of another header: choose another character`);
  slots[slotOf(name)] = { name, position };
}

function slotOf(name: string): number {
  const { length } = name;
  return length < 32 ? (length << 5) | (name.charCodeAt(length - 4) & 31) : 0;
}

const agentPosition = batchHeaders.findIndex(({ field }) => field === "userAgent");

/** Serves any number of requests, one after another. */
export class IngestHeaderReader {
  #siteKey = "";
  #idempotencyKey: string | null = null;
  #forwardedFor = "";
  #framing = new Framing();
  /** Values by position in the table; "" for a missing header. */
  #lines = noLines();
  readonly #known = new Map<string, { readonly lines: readonly string[]; readonly facts: HeaderFacts }>();
  readonly #take = (name: string, value: string): void => this.#line(name, value);

  /** Call in the synchronous callback. */
  read(req: HttpRequest): IngestHeaders {
    this.#siteKey = "";
    this.#idempotencyKey = null;
    this.#forwardedFor = "";
    this.#framing.begin();
    this.#lines.fill("");
    req.forEach(this.#take);
    return {
      siteKey: this.#siteKey,
      idempotencyKey: this.#idempotencyKey,
      forwardedFor: this.#forwardedFor,
      isAmbiguous: this.#framing.isAmbiguous,
      isChunked: this.#framing.isChunked,
      bodyBytes: this.#framing.bodyBytes,
      asksClose: this.#framing.asksClose,
      facts: this.#facts(),
    };
  }

  #facts(): HeaderFacts {
    const lines = this.#lines;
    const agent = lines[agentPosition]!;
    const known = this.#known.get(agent);
    if (known !== undefined && isSame(known.lines, lines)) return known.facts;
    const facts = headerFactsOf((position) => boundedValue(lines[position]!));
    if (lines.some((line) => line.length > limits.contextValueMax)) return facts;
    if (this.#known.size >= keptMax) this.#known.clear();
    this.#known.set(agent, { lines, facts });
    this.#lines = noLines();
    return facts;
  }

  /** Names come in lower case. */
  #line(name: string, value: string): void {
    const slot = slots[slotOf(name)];
    if (slot !== undefined && slot.name === name) {
      this.#lines[slot.position] = value;
      return;
    }
    switch (name.length) {
      case 15:
        if (name === "idempotency-key") this.#idempotencyKey = value;
        else if (name === "x-forwarded-for") this.#forwardedFor += this.#forwardedFor === "" ? value : `, ${value}`;
        return;
      case 18:
        if (name === "x-service-site-key") this.#siteKey = value;
        return;
      default:
        this.#framing.take(name, value);
    }
  }
}

function noLines(): string[] {
  return batchHeaders.map(() => "");
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  for (let position = 0; position < one.length; position++) if (one[position] !== other[position]) return false;
  return true;
}
