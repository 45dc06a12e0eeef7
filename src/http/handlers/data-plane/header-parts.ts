/**
 * What of a visitor's header lines counts for a verdict: all that scoring, visits, preflights and the host are read from. Lines that are the same in these
 * parts get the same answers, so known lines (known-headers.ts) are found by them alone: a Referer that changes from page to page, an ETag or a trace id
 * makes no new lines.
 */
import { judgedHeaders } from "../../../contract/evidence/header-facts.js";
import { preflightNames } from "../../../contract/verdicts/judged-request.js";
import { navigationNames } from "../../../contract/verdicts/navigation.js";
import { limits } from "../../../limits.js";
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  dash,
  dot,
  openList,
  openObject,
  question,
  quote,
  semicolon,
  slash,
  space,
} from "./ascii.js";

/**
 * - `whole`: the value;
 * - `presence`: whether it is empty;
 * - `page`: of an address its origin, and whether it is a script's;
 * - `type`: a media type without its parameters;
 * - `origin`: the value, which has no path;
 * - `signature`: a signature may cover any line, so that all of them count;
 * - `none`: of other lines' values nothing, of their names order and letter case.
 */
type HeaderPart = "whole" | "presence" | "page" | "type" | "origin" | "signature" | "none";

const partial: readonly (readonly [name: string, part: HeaderPart])[] = [
  ["referer", "page"],
  ["origin", "origin"],
  ["range", "presence"],
  ["content-type", "type"],
  ["signature-input", "signature"],
];

/** By name in lower case; of other names `none`. */
export const headerParts: ReadonlyMap<string, HeaderPart> = new Map<string, HeaderPart>([
  ...[...judgedHeaders.map(({ name }) => name), ...navigationNames, ...preflightNames, ":authority"].map(
    (name): [string, HeaderPart] => [name, "whole"],
  ),
  ...partial,
]);

/** A longer value is cut, which the answer says: such a one counts whole. */
const valueMax = limits.contextValueMax;
const script = /\.m?js(?:$|\?)/;

/** What counts of a value; null: all lines of the request do. */
export function countedPart(part: HeaderPart, value: string): string | null {
  if (part === "signature") return null;
  if (part === "origin") return slashesOf(value) > 2 ? null : value;
  if (part === "whole" || value.length > valueMax) return value;
  if (part === "page") return pageOf(value);
  if (part === "type") return value.slice(0, typeEnd(value.indexOf(";"), value.length));
  return part === "presence" && value !== "" ? "-" : "";
}

function slashesOf(value: string): number {
  let count = 0;
  for (let at = value.indexOf("/"); at !== -1; at = value.indexOf("/", at + 1)) count++;
  return count;
}

function pageOf(address: string): string {
  let end = 0;
  for (let count = 0; count < 3; count++) {
    end = address.indexOf("/", end) + 1;
    if (end === 0) return address;
  }
  return `${address.slice(0, end)}${script.test(address.slice(end)) ? ".js" : ""}`;
}

function typeEnd(semicolon: number, length: number): number {
  return semicolon > 0 ? semicolon : length;
}

const [letterJ, letterM, letterS] = [0x6a, 0x6d, 0x73];
/** What JSON writes with a backslash; a code point in digits is none of it. */
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

/** By a hash of the name: whatever else has that hash counts as much, which is never too little. */
const partsByHash = new Map<number, HeaderPart>();
for (const [name, part] of headerParts) {
  let hash = 0;
  for (const byte of Buffer.from(name)) hash = hashed(hash, byte);
  if (partsByHash.has(hash)) throw new Error("two headers' names have one hash");
  partsByHash.set(hash, part);
}

/** With one byte more of a name, in any letter case. */
function hashed(hash: number, byte: number): number {
  return Math.imul(hash ^ (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte), 0x01000193);
}

/** Part of a body that may have any text without escapes, of so many bytes at most, and in a page's address none of a script: what counts stays the same. */
export interface Hole {
  readonly from: number;
  readonly to: number;
  readonly bytesMax: number;
  readonly isPage: boolean;
}

/** Bytes that close a line behind its value, at most. */
const closingMax = 4;

/**
 * Reads the JSON of `headers` in bodies of `POST /v1/verdict`, and writes what counts of it as JSON. Of an object's lines, whose order may be anybody's, those
 * that don't count are left out. One walk, two to three nanoseconds a byte.
 */
export class CountedHeaders {
  /** The text, up to `length`. */
  readonly bytes: Buffer;
  length = 0;
  /** Where the headers end in the body. */
  end = 0;
  /** In what was read last. */
  holes: Hole[] = [];
  #body: Buffer = Buffer.alloc(0);
  #at = 0;
  /** From here on, what was read is not written yet. */
  #unwritten = 0;
  #lines = 0;
  /** Of the string that was read last: where it begins and ends, whether it is surely JSON, whether it has escapes. */
  #begin = 0;
  #finish = 0;
  #isGood = true;
  #isEscaped = false;

  constructor(bytesMax: number) {
    this.bytes = Buffer.alloc(bytesMax);
  }

  /** False if there are no lines in a usual form, if all of them count whole, or if what counts is too long. What is written may be no JSON, if the body is none. */
  read(body: Buffer, start: number): boolean {
    this.#body = body;
    this.#unwritten = start;
    this.#at = start;
    this.#lines = 0;
    this.length = 0;
    this.holes = [];
    const isRead = this.#take(openList) ? this.#list() : this.#take(openObject) && this.#object();
    if (!isRead) return false;
    this.end = this.#at;
    this.#write(this.end, this.end);
    return this.length <= this.bytes.length;
  }

  /** `["Name","value"],…]` */
  #list(): boolean {
    do {
      if (!this.#take(openList)) return false;
      const part = this.#name();
      if (part === null || !this.#take(comma) || !this.#value(part) || !this.#take(closeList)) return false;
      if (part !== "none" || !this.#isLeftOut()) continue;
      this.#addHole(this.#begin, false);
      this.#write(this.#begin, this.#at - 2);
    } while (this.#take(comma));
    return this.#take(closeList);
  }

  /** `"name":["value",…],…}` or `"name":"value",…}` */
  #object(): boolean {
    let isFirst = true;
    let from = this.#at;
    for (;;) {
      const part = this.#name();
      if (part === null || !this.#take(colon)) return false;
      const isLeftOut = this.#values(part);
      if (isLeftOut === null) return false;
      if (isLeftOut) this.#write(from, this.#at);
      const end = this.#at;
      if (this.#take(closeObject)) return true;
      if (!this.#take(comma)) return false;
      // The comma between two lines goes with one that is left out.
      if (isLeftOut && isFirst) this.#unwritten = this.#at;
      else isFirst = false;
      from = isFirst ? this.#at : end;
    }
  }

  /** Whether nothing of them counts; null for what is no text or a list of texts. */
  #values(part: HeaderPart): boolean | null {
    let isLeftOut = part === "none";
    const isList = this.#take(openList);
    const { length } = this.holes;
    do {
      if (!this.#value(part)) return null;
      isLeftOut &&= this.#isLeftOut();
      if (isLeftOut) this.#addHole(this.#begin, false);
    } while (isList && this.#take(comma));
    if (part === "none" && !isLeftOut) this.holes.length = length;
    return isList && !this.#take(closeList) ? null : isLeftOut;
  }

  /** Of the value that was read last, of a line that doesn't count. */
  #isLeftOut(): boolean {
    return this.#isGood && this.#at - this.#begin <= valueMax;
  }

  /** Passes a byte, and a space before it. */
  #take(byte: number): boolean {
    const body = this.#body;
    let at = this.#at;
    if (at < body.length && body[at] === space) at++;
    if (at >= body.length || body[at] !== byte) return false;
    this.#at = at + 1;
    return true;
  }

  /** Writes what was read up to `to`, and goes on at `next`. */
  #write(to: number, next: number): void {
    const from = this.#unwritten;
    if (to > from && this.length < this.bytes.length) this.#body.copy(this.bytes, this.length, from, to);
    this.length += to - from;
    this.#unwritten = next;
  }

  #writeByte(byte: number): void {
    if (this.length < this.bytes.length) this.bytes[this.length] = byte;
    this.length++;
  }

  /** Null for a name that is none, that may be another than its bytes say, or of a signature. */
  #name(): HeaderPart | null {
    if (!this.#take(quote)) return null;
    const body = this.#body;
    const begin = this.#at;
    const max = Math.min(body.length, begin + valueMax);
    let hash = 0;
    let at = begin;
    for (; at < max; at++) {
      const byte = body[at]!;
      if (byte === quote) break;
      // Letters outside ASCII may have small forms within.
      if (byte === backslash || byte < space || byte > 0x7e) return null;
      hash = hashed(hash, byte);
    }
    if (at === begin || at === max) return null;
    this.#at = at + 1;
    const part = partsByHash.get(hash) ?? "none";
    return part === "signature" ? null : part;
  }

  /** Reads a value, and writes what counts of a part of it. */
  #value(part: HeaderPart): boolean {
    if (++this.#lines > limits.requestHeadersMax || !this.#string()) return false;
    if (part === "whole" || part === "none") return true;
    const begin = this.#begin;
    const end = this.#at - 1;
    if (part === "origin") return !this.#isEscaped && this.#pathAt(begin, end, 3) === -1;
    if (!this.#isGood || end === begin || end - begin > valueMax) return true;
    if (part === "presence") {
      this.#write(begin, end);
      this.#writeByte(dash);
    } else if (part === "type") {
      this.#write(begin + typeEnd(this.#body.subarray(begin, end).indexOf(semicolon), end - begin), end);
    } else if (!this.#isEscaped) {
      const path = this.#pathAt(begin, end, 3);
      if (path === -1) return true;
      this.#write(path, end);
      if (this.#isScript(path, end)) for (const byte of [dot, letterJ, letterS]) this.#writeByte(byte);
      else this.#addHole(path, true);
    }
    return true;
  }

  /** To the end of the string that was read last, which has no escapes. */
  #addHole(from: number, isPage: boolean): void {
    const bytesMax = valueMax - closingMax - (from - this.#begin);
    if (!this.#isEscaped) this.holes.push({ from, to: this.#finish, bytesMax, isPage });
  }

  /** Behind the slash of that number; -1 if there are less. */
  #pathAt(from: number, to: number, slashes: number): number {
    let left = slashes;
    for (let at = from; at < to; at++) if (this.#body[at] === slash && --left === 0) return at + 1;
    return -1;
  }

  /** As `script` says it of the path of an address. */
  #isScript(from: number, to: number): boolean {
    const body = this.#body;
    for (let at = from + 3; at <= to; at++) {
      if (at !== to && body[at] !== question) continue;
      if (body[at - 1] !== letterS || body[at - 2] !== letterJ) continue;
      if (body[at - 3] === dot) return true;
      if (body[at - 3] === letterM && at - 4 >= from && body[at - 4] === dot) return true;
    }
    return false;
  }

  #string(): boolean {
    if (!this.#take(quote)) return false;
    const body = this.#body;
    const end = body.length;
    let at = this.#at;
    this.#begin = at;
    this.#isGood = true;
    this.#isEscaped = false;
    for (; at < end; at++) {
      const byte = body[at]!;
      if (byte === quote) break;
      if (byte === backslash) {
        this.#isEscaped = true;
        at++;
        if (at >= end || !escapes.has(body[at]!)) this.#isGood = false;
      } else if (byte < space) this.#isGood = false;
    }
    if (at >= end) return false;
    this.#finish = at;
    this.#at = at + 1;
    return true;
  }
}
