/**
 * Header lines by the bytes of their JSON. A browser's lines are the same text request after request, so what they are read into, and what is remembered
 * with it (`HeaderMemo`), is found by the text alone. A text is kept from its second coming on, in the one slot that a keyed hash gives it: nothing
 * grows, and texts that come once take nobody's place. A text that is used is given up only after as many others wanted its slot.
 */
import { randomInt } from "node:crypto";
import { hashBytes } from "../../../contract/hashes.js";
import { isNavigationOf } from "../../../contract/navigation.js";
import { mayBePlatforms } from "../../../detections/platform-fetchers.js";
import { limits } from "../../../limits.js";
import { type ToldHeaders, toldHeaders } from "./header-lines.js";

/** What a body says, with headers that are known. */
export interface FoundHeaders {
  readonly told: ToldHeaders;
  /** The body's text with `mark` in place of the headers. */
  readonly rest: string;
  /** A number that nobody else can know, so that no other value is taken for it. */
  readonly mark: number;
}

const slots = limits.knownHeaders;
const textBytes = limits.knownHeadersBytesMax;
/** Texts that came once are told from new ones by as many hashes. */
const seenMax = 4 * slots;
/** Uses that count for a text when others want its slot. */
const usesMax = 7;

const name = Buffer.from('"headers":');
const ends = { list: Buffer.from("]]"), object: Buffer.from("}") };
const space = 0x20;
const bracket = 0x5b;
const brace = 0x7b;

/** One per HTTP thread. */
export class KnownHeaders {
  readonly #key = randomInt(2 ** 32) | 0;
  readonly #mark = randomInt(2 ** 30);
  readonly #markText = String(this.#mark);
  /** Bytes of the texts, and their lengths; 0: the slot is free. */
  readonly #texts = Buffer.alloc(slots * textBytes);
  readonly #lengths = new Uint16Array(slots);
  readonly #told = new Array<ToldHeaders | undefined>(slots).fill(undefined);
  readonly #uses = new Uint8Array(slots);
  readonly #seen = new Int32Array(seenMax);

  /** Null: the body's headers are not known, or it has none in the usual form. */
  find(body: Buffer): FoundHeaders | null {
    const at = body.indexOf(name);
    if (at < 0) return null;
    let start = at + name.length;
    if (body[start] === space) start++;
    const first = body[start];
    const last = first === bracket ? ends.list : first === brace ? ends.object : null;
    if (last === null) return null;
    // The first end may lie within a value: then the text is no JSON, and not kept.
    const end = body.indexOf(last, start) + last.length;
    const length = end - start;
    if (length < last.length || length > textBytes) return null;
    const told = this.#toldBy(body, start, end);
    if (told === null) return null;
    const rest = body.toString("utf8", 0, start) + this.#markText + body.toString("utf8", end);
    return { told, rest, mark: this.#mark };
  }

  #toldBy(body: Buffer, start: number, end: number): ToldHeaders | null {
    const hash = hashBytes(new DataView(body.buffer, body.byteOffset, body.length), start, end, this.#key);
    const slot = hash & (slots - 1);
    const from = slot * textBytes;
    const length = end - start;
    if (this.#lengths[slot] === length && body.compare(this.#texts, from, from + length, start, end) === 0) {
      if (this.#uses[slot]! < usesMax) this.#uses[slot]!++;
      return this.#told[slot]!;
    }
    const seenAt = (hash >>> 8) & (seenMax - 1);
    if (this.#seen[seenAt] !== hash) {
      this.#seen[seenAt] = hash;
      return null;
    }
    if (this.#uses[slot]! > 0) {
      this.#uses[slot]!--;
      return null;
    }
    const told = read(body.toString("utf8", start, end));
    if (told === null) return null;
    body.copy(this.#texts, from, start, end);
    this.#lengths[slot] = length;
    this.#told[slot] = told;
    // Of two that come in turns, one stays.
    this.#uses[slot] = 1;
    return told;
  }
}

/** Null for what is no JSON. */
function read(text: string): ToldHeaders | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const told = toldHeaders(value);
  const { headers } = told;
  const maySign = headers.some(([each]) => each.toLowerCase() === "signature-input");
  const isPlatforms = mayBePlatforms(told.userAgent ?? "");
  return { ...told, memo: { isNavigation: isNavigationOf(headers), maySign, isPlatforms, declared: null, scores: [] } };
}
