/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. A table of fixed size
 * in flat memory, a cache line a place.
 *
 * What it saves, in whole reads by HTTP (10 interleaved rounds): where each read has a new key, a `Map` in order of insertion takes 3.4
 * times the CPU and `lru-cache` 1.07 times, with 1.4 times the p99. Where keys come again, both take 0.93 to 0.96: beyond half of the bytes
 * one in eight entries here has lost its two places to others. Held by the bench's scenarios `verdict-cached` and
 * `verdict-uncached` (src/docs/decisions/016-shared-verdict-texts.md).
 */
import { fnv1a, spread } from "../contract/hashes.js";
import type { RequestContext } from "../contract/verdict.js";
import type { VerdictText } from "./finding.js";

/**
 * A request context as it was sent, each value undefined where it was not: unread, since what is sent alike is read alike, and a hit then
 * costs no reading. One that was read already stands for itself.
 */
export type SentContext = { readonly [Part in keyof RequestContext]?: string | undefined } & {
  /** What follows the `?`. */
  readonly query?: string | undefined;
};

/** What an answer was given to. */
export interface VerdictKey {
  readonly projectId: number;
  readonly settingsRevision: number;
  readonly token: string;
  readonly sent: SentContext;
}

/** What the cache keeps of an answer. */
export interface CachedVerdict {
  readonly text: VerdictText;
  /** What the sent context says. */
  readonly context: RequestContext;
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
 * | 28 | u8 1: a context was sent               |
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
/** What a context takes beside its characters, as it was sent and as it was read. */
const contextBytes = 320;
/** Longer contexts are not kept: nobody's pages have such. */
const sentCharactersMax = 4096;

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
  readonly #sent: (SentContext | null)[];
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
    this.#sent = new Array(places).fill(null);
    this.#contexts = new Array(places).fill(null);
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const first = this.#placeOf(key);
    const place = this.#isAt(first, key, nowMs) ? first : first ^ 1;
    if (place !== first && !this.#isAt(place, key, nowMs)) return null;
    return {
      text: this.#texts[place]!,
      context: this.#contexts[place] ?? noContext,
      stateStamp: this.#times[place * 8 + 1]!,
    };
  }

  set(key: VerdictKey, { text, context, stateStamp }: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    const characters = charactersOf(key.sent);
    if (key.token.length > tokenMax || characters > sentCharactersMax) return;
    const first = this.#placeOf(key);
    const second = first ^ 1;
    const place = this.#times[first * 8]! <= this.#times[second * 8]! ? first : second;
    // Of two with one key the older could be found first.
    if (this.#isAt(place ^ 1, key, nowMs)) this.#empty(place ^ 1);
    const held = characters === 0 ? 0 : contextBytes + characters + (context === key.sent ? 0 : charactersOf(context));
    const size = 2 * placeBytes + held + text.body.length;
    this.#used += size - this.#integers[place * 16 + 6]!;
    this.#times[place * 8] = expiresAtMs;
    this.#times[place * 8 + 1] = stateStamp;
    this.#integers[place * 16 + 4] = key.projectId;
    this.#integers[place * 16 + 5] = key.settingsRevision;
    this.#integers[place * 16 + 6] = size;
    this.#putToken(place * placeBytes, key.token);
    this.#putContext(place, key.sent, context);
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
      (this.#bytes[place * placeBytes + 28] === 0 ? isEmpty(key.sent) : isSameContext(this.#sent[place]!, key.sent))
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
  #putContext(place: number, sent: SentContext, context: RequestContext): void {
    const flagAt = place * placeBytes + 28;
    const isKept = !isEmpty(sent);
    if (isKept || this.#bytes[flagAt] !== 0) {
      this.#sent[place] = isKept ? sent : null;
      this.#contexts[place] = isKept ? context : null;
    }
    this.#bytes[flagAt] = isKept ? 1 : 0;
  }

  #empty(place: number): void {
    this.#used -= this.#integers[place * 16 + 6]!;
    this.#integers[place * 16 + 6] = 0;
    this.#times[place * 8] = 0;
    this.#putContext(place, noContext, noContext);
    this.#texts[place] = null;
  }

  /** The last characters of a token are random. */
  #placeOf({ token, sent, projectId, settingsRevision }: VerdictKey): number {
    let hash = fnv1a(projectId, settingsRevision);
    for (let at = token.length - 4; at < token.length; at++) hash = (hash << 6) ^ token.charCodeAt(at);
    const { path, method, host, ip, userAgent, query } = sent;
    hash = hashOn(hashOn(hashOn(hashOn(hashOn(hash, path), ip), userAgent), method), host);
    if (query !== undefined) hash = hashOn(hashOnStart(hash, query), query);
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

/** The same by the first characters, where the path is in the queries of most clients. */
function hashOnStart(before: number, query: string): number {
  const end = Math.min(query.length, queryStartMax);
  let hash = before;
  for (let at = 0; at < end; at++) hash = fnv1a(hash, query.charCodeAt(at));
  return hash;
}

const queryStartMax = 64;

/** Characters of a text that count for its hash: who makes others that agree in them only has two places for all of them. */
const hashedMax = 16;

const noContext: RequestContext = {};

function isEmpty(sent: SentContext): boolean {
  return isSameContext(sent, noContext);
}

/** What differs most is compared first. */
function isSameContext(one: SentContext, other: SentContext): boolean {
  return (
    one.query === other.query &&
    one.path === other.path &&
    one.ip === other.ip &&
    one.userAgent === other.userAgent &&
    one.method === other.method &&
    one.host === other.host
  );
}

function charactersOf({ query = "", path = "", ip = "", userAgent = "", method = "", host = "" }: SentContext): number {
  return query.length + path.length + ip.length + userAgent.length + method.length + host.length;
}
