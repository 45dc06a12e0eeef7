/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. A table of fixed size
 * in flat memory, a cache line a slot.
 *
 * What it saves, in whole reads by HTTP (10 interleaved rounds): where each read has a new key, a `Map` in order of insertion takes 3.4
 * times the CPU and `lru-cache` 1.07 times, with 1.4 times the p99. Where keys come again, both take 0.93 to 0.96: beyond half of the bytes
 * one in eight entries here has lost its two slots to others. Held by the bench's scenarios `verdict-cached` and
 * `verdict-uncached` (src/docs/decisions/016-shared-verdict-texts.md).
 */
import { fnv1a, spreadBits } from "../contract/hashes.js";
import type { RequestContext } from "../contract/verdict.js";
import type { VerdictText } from "./finding.js";

/**
 * A request context as it was sent, each value undefined where it was not; not parsed: equal raw values parse to equal contexts, so a
 * hit needs no parsing. One that was parsed already stands for itself.
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
 * | at | what of a slot                        |
 * |----|----------------------------------------|
 * | 0  | f64 expires at, ms; 0: nothing is here |
 * | 8  | f64 state stamp of the session         |
 * | 16 | u32 project, u32 settings revision     |
 * | 24 | u32 bytes that the entry counts for    |
 * | 28 | u8 1: a context was sent               |
 * | 29 | u8 characters of the token, then these |
 */
const slotBytes = 64;
const tokenAt = 30;
/** Ours have 33 characters; longer ones are not kept. */
const tokenMax = slotBytes - tokenAt;
/** The table has at most 2 to this power of slots: 256 MiB, beside arrays that V8 still holds flat. */
const bitsMax = 22;
/** Bytes of an entry as most are, to have about two slots for each. */
const usualBytes = 512;
/** What a context takes beside its characters, as it was sent and as it was read. */
const contextBytes = 320;
/** Longer contexts are not kept: nobody's pages have such. */
const sentCharactersMax = 4096;

/** An entry has two slots to be in; the one that expires sooner is taken. Beyond its bytes the table is emptied slot by slot. */
export class VerdictCache {
  readonly #bytesMax: number;
  readonly #mask: number;
  /** What leaves of a hash of 32 bits the topmost ones, as many as number the slots. */
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
    const slots = 2 ** bits;
    const memory = new ArrayBuffer(slots * slotBytes);
    this.#bytesMax = bytesMax;
    this.#mask = slots - 1;
    this.#shift = 32 - bits;
    this.#bytes = new Uint8Array(memory);
    this.#integers = new Uint32Array(memory);
    this.#times = new Float64Array(memory);
    this.#texts = new Array(slots).fill(null);
    this.#sent = new Array(slots).fill(null);
    this.#contexts = new Array(slots).fill(null);
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const first = this.#slotOf(key);
    const slot = this.#isAt(first, key, nowMs) ? first : first ^ 1;
    if (slot !== first && !this.#isAt(slot, key, nowMs)) return null;
    return {
      text: this.#texts[slot]!,
      context: this.#contexts[slot] ?? noContext,
      stateStamp: this.#times[slot * 8 + 1]!,
    };
  }

  set(key: VerdictKey, { text, context, stateStamp }: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    const characters = charactersOf(key.sent);
    if (key.token.length > tokenMax || characters > sentCharactersMax) return;
    const first = this.#slotOf(key);
    const second = first ^ 1;
    const slot = this.#times[first * 8]! <= this.#times[second * 8]! ? first : second;
    // Of two with one key the older could be found first.
    if (this.#isAt(slot ^ 1, key, nowMs)) this.#empty(slot ^ 1);
    const held = characters === 0 ? 0 : contextBytes + characters + (context === key.sent ? 0 : charactersOf(context));
    const size = 2 * slotBytes + held + text.body.length;
    this.#used += size - this.#integers[slot * 16 + 6]!;
    this.#times[slot * 8] = expiresAtMs;
    this.#times[slot * 8 + 1] = stateStamp;
    this.#integers[slot * 16 + 4] = key.projectId;
    this.#integers[slot * 16 + 5] = key.settingsRevision;
    this.#integers[slot * 16 + 6] = size;
    this.#putToken(slot * slotBytes, key.token);
    this.#putContext(slot, key.sent, context);
    this.#texts[slot] = text;
    while (this.#used > this.#bytesMax) {
      this.#hand = (this.#hand + 1) & this.#mask;
      this.#empty(this.#hand);
    }
  }

  #isAt(slot: number, key: VerdictKey, nowMs: number): boolean {
    return (
      this.#times[slot * 8]! > nowMs &&
      this.#hasToken(slot * slotBytes, key.token) &&
      this.#integers[slot * 16 + 4] === key.projectId &&
      this.#integers[slot * 16 + 5] === key.settingsRevision &&
      (this.#bytes[slot * slotBytes + 28] === 0 ? isEmpty(key.sent) : isSameContext(this.#sent[slot]!, key.sent))
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
  #putContext(slot: number, sent: SentContext, context: RequestContext): void {
    const flagAt = slot * slotBytes + 28;
    const isKept = !isEmpty(sent);
    if (isKept || this.#bytes[flagAt] !== 0) {
      this.#sent[slot] = isKept ? sent : null;
      this.#contexts[slot] = isKept ? context : null;
    }
    this.#bytes[flagAt] = isKept ? 1 : 0;
  }

  #empty(slot: number): void {
    this.#used -= this.#integers[slot * 16 + 6]!;
    this.#integers[slot * 16 + 6] = 0;
    this.#times[slot * 8] = 0;
    this.#putContext(slot, noContext, noContext);
    this.#texts[slot] = null;
  }

  /** The last characters of a token are random. */
  #slotOf({ token, sent, projectId, settingsRevision }: VerdictKey): number {
    let hash = fnv1a(projectId, settingsRevision);
    for (let at = token.length - 4; at < token.length; at++) hash = (hash << 6) ^ token.charCodeAt(at);
    const { path, method, host, ip, userAgent, query } = sent;
    hash = hashOn(hashOn(hashOn(hashOn(hashOn(hash, path), ip), userAgent), method), host);
    if (query !== undefined) hash = hashOn(hashCharacters(hash, query, 0, queryStartMax), query);
    return spreadBits(hash) >>> this.#shift;
  }
}

/** Goes on with a hash by a text's length and some of its characters: those behind each other come from its end, where most texts differ. */
function hashOn(before: number, text: string | undefined): number {
  if (text === undefined) return fnv1a(before, 0);
  const { length } = text;
  return hashCharacters(fnv1a(before, length + 1), text, Math.max(0, length - hashedMax), length);
}

/** Goes on with a hash by the characters from `from` on, before `to`. */
function hashCharacters(before: number, text: string, from: number, to: number): number {
  const end = Math.min(text.length, to);
  let hash = before;
  for (let at = from; at < end; at++) hash = fnv1a(hash, text.charCodeAt(at));
  return hash;
}

/** Characters of a query that count beside its last ones: its start is where most clients have the path. */
const queryStartMax = 64;

/** Characters of a text that count for its hash: who makes others that agree in them only has two slots for all of them. */
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
