/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. A table in flat memory, with one
 * cache line per slot. It has only as many slots as its entries need, because look-ups in a large one miss the processor's caches.
 *
 * Effect on whole reads by HTTP (10 interleaved rounds): if each read has a new key, a `Map` in order of insertion takes 3.4 times the CPU and
 * `lru-cache` 1.07 times, with 1.4 times the p99. If keys repeat, both take 0.93 to 0.96: above half of the bytes, one in eight entries here has lost
 * its two slots to others. Held by the bench's scenarios `verdict-cached` and `verdict-uncached` (src/docs/decisions/016-shared-verdict-texts.md).
 */
import { fnv1a, spreadBits } from "../contract/hashes.js";
import type { RequestContext } from "../contract/verdict.js";
import type { VerdictText } from "./verdict-text.js";

/**
 * A request context as sent, with undefined for each value that was not sent. It is not parsed: equal raw values parse to equal contexts, so a hit
 * needs no parsing. A context that was already parsed is used directly.
 */
export type SentContext = { readonly [Part in keyof RequestContext]?: string | undefined } & {
  /** The text after the `?`. */
  readonly query?: string | undefined;
};

/** What an answer depends on. */
export interface VerdictKey {
  readonly projectId: number;
  readonly settingsRevision: number;
  readonly token: string;
  readonly sent: SentContext;
}

/** The cached part of an answer, and what was asked. */
export interface CachedVerdict {
  readonly text: VerdictText;
  readonly sent: SentContext;
  /** `sent`, parsed. */
  readonly context: RequestContext;
  /** The session's `stateStamp` at that time. */
  readonly stateStamp: number;
}

/**
 * | at | what of a slot                        |
 * |----|----------------------------------------|
 * | 0  | f64 expires at, ms; 0: nothing is here |
 * | 8  | u32 project, u32 settings revision     |
 * | 16 | u32 bytes that the entry counts for    |
 * | 20 | u8 characters of the token, then these |
 */
const slotBytes = 64;
const tokenAt = 21;
/** Our tokens have 33 characters; longer ones are not cached. */
const tokenMax = slotBytes - tokenAt;
/** The table has at most 2 to this power of slots: 256 MiB, besides an array of a length that V8 still stores flat. */
const bitsMax = 22;
/** It begins with so many, and has four times as many after each growth. */
const firstBits = 12;
const growthBits = 2;
/** The table grows when more than one in so many new entries takes the place of one that has not expired. */
const entriesOfLoss = 16;
/** Bytes of a typical entry; the largest table has about two slots for each. */
const usualBytes = 512;
/** Bytes of a context besides its characters, as sent and as parsed. */
const contextBytes = 320;
/** Longer contexts are not cached: no real pages have them. */
const sentCharactersMax = 4096;

/** An entry has two possible slots; it takes the one that expires sooner. Above the maximum of bytes, the table is emptied slot by slot. */
export class VerdictCache {
  readonly #bytesMax: number;
  readonly #bitsMax: number;
  #bits: number;
  #mask = 0;
  /** The shift that reduces a 32-bit hash to its topmost bits, as many as number the slots. */
  #shift = 0;
  #bytes = new Uint8Array();
  /** The same memory, as four-byte and eight-byte words. */
  #integers = new Uint32Array();
  #times = new Float64Array();
  #entries: (CachedVerdict | null)[] = [];
  #used = 0;
  #hand = 0;
  /** New entries since this was last 0, up to the number of slots, and those that took the place of one that had not expired. */
  #added = 0;
  #lost = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#bitsMax = Math.min(bitsMax, Math.ceil(Math.log2(Math.max(2, (2 * bytesMax) / usualBytes))));
    this.#bits = Math.min(firstBits, this.#bitsMax);
    this.#clear();
  }

  /** Slots of the table now. */
  get slots(): number {
    return this.#mask + 1;
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const first = this.#slotOf(key);
    return this.#at(first, key, nowMs) ?? this.#at(first ^ 1, key, nowMs);
  }

  set(key: VerdictKey, entry: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    const { sent, context, text } = entry;
    const characters = charactersOf(sent);
    if (key.token.length > tokenMax || characters > sentCharactersMax) return;
    const slot = this.#slotFor(key, nowMs);
    const held = characters === 0 ? 0 : contextBytes + characters + (context === sent ? 0 : charactersOf(context));
    const size = 2 * slotBytes + held + text.body.length;
    this.#used += size - this.#integers[slot * 16 + 4]!;
    this.#times[slot * 8] = expiresAtMs;
    this.#integers[slot * 16 + 2] = key.projectId;
    this.#integers[slot * 16 + 3] = key.settingsRevision;
    this.#integers[slot * 16 + 4] = size;
    this.#putToken(slot * slotBytes, key.token);
    this.#entries[slot] = entry;
    while (this.#used > this.#bytesMax) {
      this.#hand = (this.#hand + 1) & this.#mask;
      this.#empty(this.#hand);
    }
    this.#fit();
  }

  /** The slot that has the key, or else the one that expires sooner. */
  #slotFor(key: VerdictKey, nowMs: number): number {
    const first = this.#slotOf(key);
    const second = first ^ 1;
    if (this.#at(first, key, nowMs) !== null) return first;
    if (this.#at(second, key, nowMs) !== null) return second;
    const slot = this.#times[first * 8]! <= this.#times[second * 8]! ? first : second;
    if (this.#times[slot * 8]! > nowMs) this.#lost++;
    return slot;
  }

  /** Makes a table that loses too many entries larger. It begins empty: moving a large one's entries would make requests wait. */
  #fit(): void {
    if (this.#lost * entriesOfLoss > this.slots && this.#bits < this.#bitsMax) {
      this.#bits = Math.min(this.#bits + growthBits, this.#bitsMax);
      this.#clear();
    } else if (++this.#added > this.#mask) this.#added = this.#lost = 0;
  }

  #clear(): void {
    const slots = 2 ** this.#bits;
    const memory = new ArrayBuffer(slots * slotBytes);
    this.#mask = slots - 1;
    this.#shift = 32 - this.#bits;
    this.#bytes = new Uint8Array(memory);
    this.#integers = new Uint32Array(memory);
    this.#times = new Float64Array(memory);
    this.#entries = new Array(slots).fill(null);
    this.#used = this.#hand = this.#added = this.#lost = 0;
  }

  #at(slot: number, key: VerdictKey, nowMs: number): CachedVerdict | null {
    const isKept =
      this.#times[slot * 8]! > nowMs &&
      this.#hasToken(slot * slotBytes, key.token) &&
      this.#integers[slot * 16 + 2] === key.projectId &&
      this.#integers[slot * 16 + 3] === key.settingsRevision;
    if (!isKept) return null;
    const entry = this.#entries[slot]!;
    return isSameContext(entry.sent, key.sent) ? entry : null;
  }

  #putToken(start: number, token: string): void {
    this.#bytes[start + tokenAt - 1] = token.length;
    for (let at = 0; at < token.length; at++) this.#bytes[start + tokenAt + at] = token.charCodeAt(at);
  }

  /** Compares from the end, where tokens differ. */
  #hasToken(start: number, token: string): boolean {
    if (this.#bytes[start + tokenAt - 1] !== token.length) return false;
    for (let at = token.length - 1; at >= 0; at--) {
      if (this.#bytes[start + tokenAt + at] !== token.charCodeAt(at)) return false;
    }
    return true;
  }

  #empty(slot: number): void {
    this.#used -= this.#integers[slot * 16 + 4]!;
    this.#integers[slot * 16 + 4] = 0;
    this.#times[slot * 8] = 0;
    this.#entries[slot] = null;
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

/** Continues a hash with a text's length and some of its characters: the consecutive ones come from its end, where most texts differ. */
function hashOn(before: number, text: string | undefined): number {
  if (text === undefined) return fnv1a(before, 0);
  const { length } = text;
  return hashCharacters(fnv1a(before, length + 1), text, Math.max(0, length - hashedMax), length);
}

/** Continues a hash with the characters from `from` up to, but excluding, `to`. */
function hashCharacters(before: number, text: string, from: number, to: number): number {
  const end = Math.min(text.length, to);
  let hash = before;
  for (let at = from; at < end; at++) hash = fnv1a(hash, text.charCodeAt(at));
  return hash;
}

/** Characters of a query that count besides its last ones: most clients have the path at its start. */
const queryStartMax = 64;

/** Characters of a text that count for its hash: someone who makes texts that agree in them only gets two slots for all of them. */
const hashedMax = 16;

/** The most different parts are compared first. */
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
