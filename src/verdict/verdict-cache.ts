/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. A table of fixed size
 * in flat memory, a cache line a place: a `Map` would hash the token of each request, a new string, and its entries would be the
 * collector's work.
 */
import { fnv1a, spread } from "../contract/hashes.js";
import type { RequestContext } from "../contract/verdict.js";
import type { VerdictText } from "./finding.js";

/** What an answer was given to. */
export interface VerdictKey {
  readonly projectId: number;
  readonly settingsRevision: number;
  readonly token: string;
  readonly context: RequestContext;
}

/** What the cache keeps of an answer. */
export interface CachedVerdict {
  readonly text: VerdictText;
  /** What the session's `stateStamp` was then. */
  readonly stateStamp: number;
}

/**
 * | at | what of a place                        |
 * |----|----------------------------------------|
 * | 0  | f64 expires at, ms; 0: nothing is here |
 * | 8  | f64 state stamp of the session         |
 * | 16 | u32 project, u32 settings revision     |
 * | 24 | u32 bytes that the entry counts for    |
 * | 28 | u8 1: there is a context               |
 * | 29 | u8 characters of the token, then these |
 */
const placeBytes = 64;
const tokenAt = 30;
/** Ours have 33 characters; longer ones are not kept. */
const tokenMax = placeBytes - tokenAt;
/** The table has at most 2 to this power of places: 256 MiB, beside arrays that V8 still holds flat. */
const bitsMax = 22;
/** Bytes of an entry as most are, to have about two places for each. */
const usualBytes = 512;
/** What a context takes beside its characters. */
const contextBytes = 160;

/** An entry has two places to be in; the one that expires sooner is taken. Beyond its bytes the table is emptied place by place, in turn. */
export class VerdictCache {
  readonly #bytesMax: number;
  readonly #mask: number;
  /** What leaves of a hash of 32 bits the topmost ones, as many as number the places. */
  readonly #shift: number;
  readonly #bytes: Uint8Array;
  /** The same memory, by fours and eights. */
  readonly #integers: Uint32Array;
  readonly #times: Float64Array;
  readonly #texts: (VerdictText | null)[];
  readonly #contexts: (RequestContext | null)[];
  #used = 0;
  #hand = 0;

  constructor(bytesMax: number) {
    const bits = Math.min(bitsMax, Math.ceil(Math.log2(Math.max(2, (2 * bytesMax) / usualBytes))));
    const places = 2 ** bits;
    const memory = new ArrayBuffer(places * placeBytes);
    this.#bytesMax = bytesMax;
    this.#mask = places - 1;
    this.#shift = 32 - bits;
    this.#bytes = new Uint8Array(memory);
    this.#integers = new Uint32Array(memory);
    this.#times = new Float64Array(memory);
    this.#texts = new Array(places).fill(null);
    this.#contexts = new Array(places).fill(null);
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const first = this.#placeOf(key);
    const place = this.#isAt(first, key, nowMs) ? first : first ^ 1;
    if (place !== first && !this.#isAt(place, key, nowMs)) return null;
    return { text: this.#texts[place]!, stateStamp: this.#times[place * 8 + 1]! };
  }

  set(key: VerdictKey, { text, stateStamp }: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    if (key.token.length > tokenMax) return;
    const first = this.#placeOf(key);
    const second = first ^ 1;
    const place = this.#times[first * 8]! <= this.#times[second * 8]! ? first : second;
    // Of two with one key the older could be found first.
    if (this.#isAt(place ^ 1, key, nowMs)) this.#empty(place ^ 1);
    const size = 2 * placeBytes + bytesOf(key.context) + text.body.length;
    this.#used += size - this.#integers[place * 16 + 6]!;
    this.#times[place * 8] = expiresAtMs;
    this.#times[place * 8 + 1] = stateStamp;
    this.#integers[place * 16 + 4] = key.projectId;
    this.#integers[place * 16 + 5] = key.settingsRevision;
    this.#integers[place * 16 + 6] = size;
    this.#putToken(place * placeBytes, key.token);
    this.#putContext(place, key.context);
    this.#texts[place] = text;
    while (this.#used > this.#bytesMax) {
      this.#hand = (this.#hand + 1) & this.#mask;
      this.#empty(this.#hand);
    }
  }

  #isAt(place: number, key: VerdictKey, nowMs: number): boolean {
    return (
      this.#times[place * 8]! > nowMs &&
      this.#hasToken(place * placeBytes, key.token) &&
      this.#integers[place * 16 + 4] === key.projectId &&
      this.#integers[place * 16 + 5] === key.settingsRevision &&
      (this.#bytes[place * placeBytes + 28] === 0
        ? isEmpty(key.context)
        : isSameContext(this.#contexts[place]!, key.context))
    );
  }

  #putToken(start: number, token: string): void {
    this.#bytes[start + 29] = token.length;
    for (let at = 0; at < token.length; at++) this.#bytes[start + tokenAt + at] = token.charCodeAt(at);
  }

  /** From the end: there tokens differ. */
  #hasToken(start: number, token: string): boolean {
    if (this.#bytes[start + 29] !== token.length) return false;
    for (let at = token.length - 1; at >= 0; at--) {
      if (this.#bytes[start + tokenAt + at] !== token.charCodeAt(at)) return false;
    }
    return true;
  }

  /** Contexts lie elsewhere and are not touched where there is none. */
  #putContext(place: number, context: RequestContext): void {
    const flagAt = place * placeBytes + 28;
    const kept = isEmpty(context) ? null : context;
    if (kept !== null || this.#bytes[flagAt] !== 0) this.#contexts[place] = kept;
    this.#bytes[flagAt] = kept === null ? 0 : 1;
  }

  #empty(place: number): void {
    this.#used -= this.#integers[place * 16 + 6]!;
    this.#integers[place * 16 + 6] = 0;
    this.#times[place * 8] = 0;
    this.#putContext(place, noContext);
    this.#texts[place] = null;
  }

  /** The last characters of a token are random. */
  #placeOf({ token, context, projectId, settingsRevision }: VerdictKey): number {
    let hash = fnv1a(projectId, settingsRevision);
    for (let at = token.length - 4; at < token.length; at++) hash = (hash << 6) ^ token.charCodeAt(at);
    const { path, method, host, ip, userAgent } = context;
    hash = hashOn(hashOn(hashOn(hashOn(hashOn(hash, path), ip), userAgent), method), host);
    return spread(hash) >>> this.#shift;
  }
}

/** Goes on with a hash by a text's length and some of its characters: those behind each other come from its end, where most texts differ. */
function hashOn(before: number, text: string | undefined): number {
  if (text === undefined) return fnv1a(before, 0);
  const { length } = text;
  let hash = fnv1a(before, length + 1);
  for (let at = Math.max(0, length - hashedMax); at < length; at++) hash = fnv1a(hash, text.charCodeAt(at));
  return hash;
}

/** Characters of a text that count for its hash: who makes others that agree in them only has two places for all of them. */
const hashedMax = 16;

const noContext: RequestContext = {};

function isEmpty(context: RequestContext): boolean {
  return isSameContext(context, noContext);
}

/** What differs most is compared first. */
function isSameContext(one: RequestContext, other: RequestContext): boolean {
  return (
    one.path === other.path &&
    one.ip === other.ip &&
    one.userAgent === other.userAgent &&
    one.method === other.method &&
    one.host === other.host
  );
}

function bytesOf({ path = "", ip = "", userAgent = "", method = "", host = "" }: RequestContext): number {
  const characters = path.length + ip.length + userAgent.length + method.length + host.length;
  return characters === 0 ? 0 : contextBytes + characters;
}
