/**
 * Header lines as they came, with holes where what doesn't count changes from one request of a browser to the next: the page that a Referer names, a trace id.
 * Lines that fit are known without a walk through them, in a fifth of its time. A template is found by a hash of the user agent with what follows it and of the
 * body's end, where the languages usually are; of those that share it, four at most are kept, each until others wanted its place as often as it
 * was used. Whoever fills all places makes others walk, and no more.
 */
import { hashBytes } from "../../../contract/values/hashes.js";
import { limits } from "../../../limits.js";
import { backslash, quote, space } from "./ascii.js";
import type { Hole } from "./header-parts.js";

const ways = 4;
const sets = limits.knownHeaders / ways;
const textBytes = limits.knownHeadersBytesMax;
const [beginBytes, endBytes] = [160, 64];
/** Uses that count for a template when others want its place. */
const usesMax = 7;
/** As browsers' user agents begin; where there is none, the lines' beginning stands for it. */
const agent = Buffer.from("Mozilla/");

/** `Entry` is what is known of the lines. */
interface Template<Entry> {
  readonly hash: number;
  readonly text: DataView;
  readonly holes: readonly Hole[];
  readonly entry: Entry;
  uses: number;
}

/** One per HTTP thread. */
export class HeaderTemplates<Entry> {
  readonly #key: number;
  readonly #templates = new Array<Template<Entry> | undefined>(ways * sets).fill(undefined);
  /** By set, the hash that came last without a template: what comes once gets no place. */
  readonly #seen = new Int32Array(sets);
  #hash = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Where the lines end that were found last. */
  end = 0;

  /** `key`: random, so that nobody can aim at a place. */
  constructor(key: number) {
    this.#key = key;
  }

  /** Looks for the lines that begin at `start`. */
  find(body: Buffer, start: number): Entry | undefined {
    const { length } = body;
    const view = new DataView(body.buffer, body.byteOffset, length);
    this.#view = view;
    const begin = Math.max(start, body.indexOf(agent, start));
    const beginEnd = Math.min(length, begin + beginBytes);
    const hashOfBegin = hashBytes(view, begin, beginEnd, this.#key);
    const hash = hashBytes(view, Math.max(beginEnd, length - endBytes), length, hashOfBegin);
    this.#hash = hash;
    const first = setOf(hash) * ways;
    for (let at = first; at < first + ways; at++) {
      const template = this.#templates[at];
      if (template?.hash !== hash) continue;
      const end = fittingEnd(template, view, start);
      if (end < 0) continue;
      if (template.uses < usesMax) template.uses++;
      this.end = end;
      return template.entry;
    }
    return undefined;
  }

  /** Keeps the lines that `find` did not find, if they are to have a place. `holes` in their order, by place in the body. */
  keep(start: number, end: number, holes: readonly Hole[], entry: Entry): void {
    const length = end - start;
    if (length > textBytes) return;
    const hash = this.#hash;
    const set = setOf(hash);
    if (this.#seen[set] !== hash) {
      this.#seen[set] = hash;
      return;
    }
    const place = this.#placeIn(set);
    if (place < 0) return;
    const text = new Uint8Array(length);
    text.set(new Uint8Array(this.#view.buffer, this.#view.byteOffset + start, length));
    const own = holes.map(({ from, to, bytesMax, isPage }) => ({
      from: from - start,
      to: to - start,
      bytesMax,
      isPage,
    }));
    this.#templates[place] = { hash, text: new DataView(text.buffer), holes: own, entry, uses: 1 };
  }

  /** A free place, or the least used one if it has been wanted as often as it was used; -1 for none. */
  #placeIn(set: number): number {
    let [place, least] = [-1, Number.POSITIVE_INFINITY];
    for (let at = set * ways; at < (set + 1) * ways; at++) {
      const uses = this.#templates[at]?.uses ?? -1;
      if (uses < least) [place, least] = [at, uses];
    }
    if (least <= 0) return place;
    this.#templates[place]!.uses--;
    return -1;
  }
}

function setOf(hash: number): number {
  return hash & (sets - 1);
}

/** Where lines that fit end; -1: they don't fit, or it takes a walk to say. */
function fittingEnd<Entry>({ text, holes }: Template<Entry>, body: DataView, start: number): number {
  let [from, at] = [0, start];
  for (const { from: holeAt, to, bytesMax, isPage } of holes) {
    if (!areSame(text, from, holeAt, body, at)) return -1;
    at += holeAt - from;
    const end = holeEnd(body, at, bytesMax);
    if (end < 0 || (isPage && mayBeScript(body, at, end))) return -1;
    from = to;
    at = end;
  }
  const { byteLength } = text;
  return areSame(text, from, byteLength, body, at) ? at + byteLength - from : -1;
}

function areSame(text: DataView, from: number, to: number, body: DataView, start: number): boolean {
  if (start + to - from > body.byteLength) return false;
  let [at, other] = [from, start];
  for (; at + 4 <= to; at += 4, other += 4) if (text.getInt32(at, true) !== body.getInt32(other, true)) return false;
  for (; at < to; at++, other++) if (text.getUint8(at) !== body.getUint8(other)) return false;
  return true;
}

/** Where a text without escapes ends; -1 for others, and for one that is too long. */
function holeEnd(body: DataView, start: number, bytesMax: number): number {
  const max = Math.min(body.byteLength, start + bytesMax + 1);
  for (let at = start; at < max; at++) {
    const byte = body.getUint8(at);
    if (byte === quote) return at;
    if (byte === backslash || byte < space) return -1;
  }
  return -1;
}

/** Whether "js" is anywhere in a path: a script's has it. */
function mayBeScript(body: DataView, from: number, to: number): boolean {
  for (let at = from + 1; at < to; at++) if (body.getUint8(at) === 0x73 && body.getUint8(at - 1) === 0x6a) return true;
  return false;
}
