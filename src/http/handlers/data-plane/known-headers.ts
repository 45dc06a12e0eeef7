/**
 * Header lines that are known again. What counts of a browser's lines (header-parts.ts) is the same request after request, so what they are read into, and
 * what is remembered with it (`HeaderMemo`), is found by that alone: by the bytes of its JSON, or by a proxy's lines. Lines are kept from their second
 * coming on, in the one slot that a keyed hash gives them: nothing grows, and what comes once takes nobody's place. Lines that are used are given up only
 * after others wanted their slot as often.
 * To read and to score a body costs half as much then: 4 us instead of 8, of a browser's lines. Most bodies fit a template (header-templates.ts) of such
 * lines, which saves the walk: 1 us more.
 */
import { isAscii } from "node:buffer";
import { randomInt } from "node:crypto";
import { hashBytes, mix } from "../../../contract/values/hashes.js";
import type { HeaderMemo } from "../../../contract/verdicts/judged-request.js";
import { isNavigationOf } from "../../../contract/verdicts/navigation.js";
import { mayBePlatforms } from "../../../detections/platform-fetchers.js";
import { limits } from "../../../limits.js";
import { space } from "./ascii.js";
import { collected, firstOf, type HeaderLine, type ToldHeaders, type Trimming, toldHeaders } from "./header-lines.js";
import { CountedHeaders, countedPart, headerParts } from "./header-parts.js";
import { HeaderTemplates } from "./header-templates.js";

const slots = limits.knownHeaders;
const textBytes = limits.knownHeadersBytesMax;
/** Lines that came once are told from new ones by as many hashes. */
const seenMax = 4 * slots;
/** Uses that count for lines when others want their slot. */
const usesMax = 7;

/** One entry in each slot. */
class Slots<Entry> {
  readonly #entries = new Array<Entry | undefined>(slots).fill(undefined);
  readonly #uses = new Uint8Array(slots);
  readonly #seen = new Int32Array(seenMax);

  of(hash: number): number {
    return hash & (slots - 1);
  }

  at(slot: number): Entry | undefined {
    return this.#entries[slot];
  }

  use(slot: number): void {
    if (this.#uses[slot]! < usesMax) this.#uses[slot]!++;
  }

  /** Whether what has this hash came before, and its slot is to be had. */
  isOpen(hash: number): boolean {
    const seenAt = (hash >>> 8) & (seenMax - 1);
    if (this.#seen[seenAt] !== hash) {
      this.#seen[seenAt] = hash;
      return false;
    }
    const slot = this.of(hash);
    if (this.#uses[slot] === 0) return true;
    this.#uses[slot]!--;
    return false;
  }

  /** Of two that come in turns, the one that is kept stays. */
  keep(slot: number, entry: Entry): void {
    this.#entries[slot] = entry;
    this.#uses[slot] = 1;
  }
}

/** What a body says, with headers that are known. */
interface FoundHeaders {
  readonly told: ToldHeaders;
  /** The body's text with `mark` in place of the headers. */
  readonly rest: string;
  /** A number that nobody else can know, so that no other value is taken for it. */
  readonly mark: number;
}

const name = Buffer.from('"headers":');

/** By the bytes of `headers` in bodies of `POST /v1/verdict`. One per HTTP thread. */
export class KnownHeaders {
  readonly #key = randomInt(2 ** 32) | 0;
  readonly #mark = randomInt(2 ** 30);
  readonly #markText = String(this.#mark);
  /** Bytes of the texts, and their lengths; 0: the slot is free. */
  readonly #texts = Buffer.alloc(slots * textBytes);
  readonly #lengths = new Uint16Array(slots);
  readonly #slots = new Slots<ToldHeaders>();
  /** Most bodies are known by them, without a walk. */
  readonly #templates = new HeaderTemplates<ToldHeaders>(this.#key);
  readonly #counted = new CountedHeaders(textBytes);
  readonly #view = new DataView(this.#counted.bytes.buffer, this.#counted.bytes.byteOffset, textBytes);

  /** Null: the body's headers are not known, all of them counts, or it has none in the usual form. */
  find(body: Buffer): FoundHeaders | null {
    const at = body.indexOf(name);
    if (at < 0) return null;
    let start = at + name.length;
    if (body[start] === space) start++;
    let told: ToldHeaders | null | undefined = this.#templates.find(body, start);
    let { end } = this.#templates;
    if (told === undefined) {
      if (!this.#counted.read(body, start)) return null;
      told = this.#told();
      if (told === null) return null;
      end = this.#counted.end;
      this.#templates.keep(start, end, this.#counted.holes, told);
    }
    // V8 parses what is read so in half of the time.
    const encoding = isAscii(body) ? "latin1" : "utf8";
    const rest = body.toString(encoding, 0, start) + this.#markText + body.toString(encoding, end);
    return { told, rest, mark: this.#mark };
  }

  /** Of what was read last. */
  #told(): ToldHeaders | null {
    const { bytes, length } = this.#counted;
    const hash = hashBytes(this.#view, 0, length, this.#key);
    const slot = this.#slots.of(hash);
    const from = slot * textBytes;
    if (this.#lengths[slot] === length && bytes.compare(this.#texts, from, from + length, 0, length) === 0) {
      this.#slots.use(slot);
      return this.#slots.at(slot)!;
    }
    if (!this.#slots.isOpen(hash)) return null;
    const told = read(bytes.toString("utf8", 0, length));
    if (told === null) return null;
    bytes.copy(this.#texts, from, 0, length);
    this.#lengths[slot] = length;
    this.#slots.keep(slot, told);
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
  return { ...told, memo: memoOf(told.headers) };
}

interface KeptLines {
  readonly lines: readonly HeaderLine[];
  readonly told: Pick<ToldHeaders, "headers" | "memo">;
  readonly isCut: boolean;
}

/** By a proxy's lines. One per HTTP thread. */
export class KnownLines {
  readonly #key = randomInt(2 ** 32) | 0;
  readonly #slots = new Slots<KeptLines>();

  /** As `collected`, but that known lines are those that count alone: a proxy's order says nothing. */
  read(sent: readonly HeaderLine[], trimming: Trimming): Pick<ToldHeaders, "headers" | "memo"> {
    const lines = countedLines(sent, trimming);
    if (lines === null) return collected(sent, trimming);
    const hash = hashLines(lines, this.#key);
    const slot = this.#slots.of(hash);
    let kept = this.#slots.at(slot);
    if (kept !== undefined && areSame(kept.lines, lines)) this.#slots.use(slot);
    else {
      if (!this.#slots.isOpen(hash)) return collected(sent, trimming);
      const own: Trimming = { isCut: false, isOver: false, isIgnored: false };
      const { headers } = collected(lines, own);
      kept = { lines, told: { headers, memo: memoOf(headers) }, isCut: own.isCut };
      this.#slots.keep(slot, kept);
    }
    if (kept.isCut) trimming.isCut = true;
    return kept.told;
  }
}

/** What counts of the lines; null for lines that are not kept. */
function countedLines(sent: readonly HeaderLine[], trimming: Trimming): readonly HeaderLine[] | null {
  if (sent.length > limits.requestHeadersMax) return null;
  const lines: HeaderLine[] = [];
  let characters = 0;
  let isCut = false;
  for (const line of sent) {
    const [name, value] = line;
    const part = headerParts.get(name);
    if (part === undefined) {
      if (value.length > limits.contextValueMax || name.length > limits.contextValueMax) isCut = true;
      continue;
    }
    const counted = countedPart(part, value);
    if (counted === null) return null;
    characters += name.length + counted.length;
    lines.push(counted === value ? line : [name, counted]);
  }
  if (characters > textBytes) return null;
  if (isCut) trimming.isCut = true;
  return lines;
}

/** Of a value at most 32 characters, evenly: what is found is compared whole. */
function hashLines(lines: readonly HeaderLine[], key: number): number {
  let hash = key ^ lines.length;
  for (const [name, value] of lines) {
    hash = mix(hash, (name.length << 16) ^ value.length ^ (name.charCodeAt(0) << 8));
    const step = (value.length >> 5) + 1;
    for (let at = value.length - 1; at >= 0; at -= step) hash = Math.imul(hash ^ value.charCodeAt(at), 0x85ebca6b);
  }
  return mix(hash, key);
}

function areSame(one: readonly HeaderLine[], other: readonly HeaderLine[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) {
    const [name, value] = one[index]!;
    const line = other[index]!;
    if (value !== line[1] || name !== line[0]) return false;
  }
  return true;
}

function memoOf(headers: ToldHeaders["headers"]): HeaderMemo {
  return {
    isNavigation: isNavigationOf(headers),
    isPlatforms: mayBePlatforms(firstOf(headers, "user-agent") ?? ""),
    declared: null,
    scores: [],
  };
}
