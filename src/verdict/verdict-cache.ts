/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. Nearly all time of
 * a look-up is waiting for memory, so it reads few objects, and the table has only as many slots as its entries need.
 *
 * Effect on whole reads by HTTP (10 interleaved rounds): if each read has a new key, a `Map` in order of insertion takes 3.4 times the CPU and
 * `lru-cache` 1.07 times, with 1.4 times the p99. If keys repeat, both take 0.93 to 0.96: above half of the bytes, one in eight entries here has lost
 * its two slots to others. Held by the bench's scenarios `verdict-cached` and `verdict-uncached` (src/docs/decisions/016-shared-verdict-texts.md).
 */
import { fnv1a, spreadBits } from "../contract/values/hashes.js";
import type { RequestContext } from "../contract/verdicts/verdict.js";
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

/** The cached part of an answer. */
export interface CachedVerdict {
  readonly text: VerdictText;
  /** The session's `stateStamp` at that time. */
  readonly stateStamp: number;
}

/** A cached answer with all parts of its key in one object: each object that a look-up reads is likely to miss the processor's caches. */
interface Entry extends CachedVerdict, Readonly<SentContext> {
  readonly token: string;
  readonly projectId: number;
  readonly settingsRevision: number;
}

/**
 * What a look-up reads before an entry, 16 bytes, so that a key's two slots share a cache line:
 *
 * | word | what of a slot                                  |
 * |------|-------------------------------------------------|
 * | 0    | the hash of the entry's key                     |
 * | 1    | expires at, ms after the table's start          |
 * | 2    | bytes that the entry counts for                 |
 * | 3    | nothing                                         |
 */
const slotWords = 4;
/** Longer tokens are not cached: ours have 33 characters. */
const tokenMax = 64;
/** The table has at most 2 to this power of slots: an array of a length that V8 still stores flat. */
const bitsMax = 22;
/** It begins with so many, and has four times as many after each growth. */
const firstBits = 12;
const growthBits = 2;
/** The table grows when more than one in so many new entries takes the place of one that has not expired. */
const entriesOfLoss = 16;
/** Bytes of a typical entry; the largest table has about two slots for each. */
const usualBytes = 512;
/** Bytes of an entry with its token and two slots, besides its context and text. */
const entryBytes = 256;
/** Bytes of a context besides its characters. */
const contextBytes = 128;
/** Longer contexts are not cached: no real pages have them. */
const sentCharactersMax = 4096;
/** A power of two: so many texts are shared, of at most so many characters. */
const sharedBits = 10;
const sharedTexts = 2 ** sharedBits;
const sharedCharactersMax = 512;
/** A table in use for longer, ms, begins anew, so that its times fit into 32 bits. */
const tableMsMax = 2 ** 30;

/** An entry has two possible slots; it takes the one that expires sooner. Above the maximum of bytes, the table is emptied slot by slot. */
export class VerdictCache {
  readonly #bytesMax: number;
  readonly #bitsMax: number;
  #bits: number;
  #mask = 0;
  /** The shift that reduces a 32-bit hash to its topmost bits, as many as number the slots. */
  #shift = 0;
  #words = new Int32Array();
  #entries: (Entry | null)[] = [];
  readonly #shared = new SharedTexts();
  #startMs = 0;
  #used = 0;
  #hand = 0;
  /** New entries since this was last 0, up to the number of slots, and those that took the place of one that had not expired. */
  #added = 0;
  #lost = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#bitsMax = Math.min(bitsMax, Math.ceil(Math.log2(Math.max(2, (2 * bytesMax) / usualBytes))));
    this.#bits = Math.min(firstBits, this.#bitsMax);
    this.#clear(0);
  }

  /** Slots of the table now. */
  get slots(): number {
    return this.#mask + 1;
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const hash = hashOf(key);
    const first = hash >>> this.#shift;
    return this.#at(first, hash, key, nowMs) ?? this.#at(first ^ 1, hash, key, nowMs);
  }

  set(key: VerdictKey, answer: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    const { token, projectId, settingsRevision, sent } = key;
    const { text, stateStamp } = answer;
    const characters = charactersOf(sent);
    if (token.length > tokenMax || characters > sentCharactersMax) return;
    if (Math.abs(nowMs - this.#startMs) > tableMsMax) this.#clear(nowMs);
    const hash = hashOf(key);
    const slot = this.#slotFor(hash, key, nowMs);
    const size = entryBytes + (characters === 0 ? 0 : contextBytes + characters) + text.body.length;
    const { path, ip, userAgent, method, host, query } = sent;
    const at = slot * slotWords;
    this.#used += size - this.#words[at + 2]!;
    this.#words[at] = hash;
    this.#words[at + 1] = expiresAtMs - this.#startMs;
    this.#words[at + 2] = size;
    this.#entries[slot] = {
      token,
      ip,
      path: this.#shared.of(path),
      userAgent: this.#shared.of(userAgent),
      host: this.#shared.of(host),
      method: this.#shared.of(method),
      query,
      projectId,
      settingsRevision,
      text,
      stateStamp,
    };
    while (this.#used > this.#bytesMax) {
      this.#hand = (this.#hand + 1) & this.#mask;
      this.#empty(this.#hand);
    }
    this.#fit();
  }

  /** The slot that has the key, or else the one that expires sooner. */
  #slotFor(hash: number, key: VerdictKey, nowMs: number): number {
    const first = hash >>> this.#shift;
    const second = first ^ 1;
    if (this.#at(first, hash, key, nowMs) !== null) return first;
    if (this.#at(second, hash, key, nowMs) !== null) return second;
    const slot = this.#expiry(first) <= this.#expiry(second) ? first : second;
    if (this.#isLive(slot, nowMs)) this.#lost++;
    return slot;
  }

  /** Makes a table that loses too many entries larger. It begins empty: moving a large one's entries would make requests wait. */
  #fit(): void {
    if (this.#lost * entriesOfLoss > this.slots && this.#bits < this.#bitsMax) {
      this.#bits = Math.min(this.#bits + growthBits, this.#bitsMax);
      this.#clear(this.#startMs);
    } else if (++this.#added > this.#mask) this.#added = this.#lost = 0;
  }

  #clear(startMs: number): void {
    const slots = 2 ** this.#bits;
    this.#mask = slots - 1;
    this.#shift = 32 - this.#bits;
    this.#words = new Int32Array(slots * slotWords);
    this.#entries = new Array(slots).fill(null);
    this.#startMs = startMs;
    this.#used = this.#hand = this.#added = this.#lost = 0;
  }

  #at(slot: number, hash: number, key: VerdictKey, nowMs: number): Entry | null {
    if (this.#words[slot * slotWords] !== hash) return null;
    const entry = this.#entries[slot] ?? null;
    return entry !== null && this.#isLive(slot, nowMs) && isOf(entry, key) ? entry : null;
  }

  #isLive(slot: number, nowMs: number): boolean {
    return this.#expiry(slot) > nowMs - this.#startMs;
  }

  /** Ms after the table's start; for an empty slot, before any other. */
  #expiry(slot: number): number {
    return this.#words[slot * slotWords + 1]!;
  }

  #empty(slot: number): void {
    const at = slot * slotWords;
    this.#used -= this.#words[at + 2]!;
    this.#words[at] = this.#words[at + 1] = this.#words[at + 2] = 0;
    this.#entries[slot] = null;
  }
}

/** Texts of recent entries: equal ones are kept once, so that many entries have the same few in the processor's caches. */
class SharedTexts {
  readonly #kept: (string | undefined)[] = new Array(sharedTexts).fill(undefined);

  /** Returns an equal text that was kept, or else this one. */
  of(text: string | undefined): string | undefined {
    if (text === undefined || text.length > sharedCharactersMax) return text;
    const slot = spreadBits(hashOn(0, text)) >>> (32 - sharedBits);
    const kept = this.#kept[slot];
    if (kept === text) return kept;
    this.#kept[slot] = text;
    return text;
  }
}

/** The last characters of a token are random. */
function hashOf({ token, sent, projectId, settingsRevision }: VerdictKey): number {
  let hash = fnv1a(projectId, settingsRevision);
  for (let at = token.length - 4; at < token.length; at++) hash = (hash << 6) ^ token.charCodeAt(at);
  const { path, method, host, ip, userAgent, query } = sent;
  hash = hashOn(hashOn(hashOn(hashOn(hashOn(hash, path), ip), userAgent), method), host);
  if (query !== undefined) hash = hashOn(hashCharacters(hash, query, 0, queryStartMax), query);
  return spreadBits(hash);
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
function isOf(entry: Entry, { token, sent, projectId, settingsRevision }: VerdictKey): boolean {
  return (
    entry.token === token &&
    entry.ip === sent.ip &&
    entry.path === sent.path &&
    entry.query === sent.query &&
    entry.userAgent === sent.userAgent &&
    entry.host === sent.host &&
    entry.method === sent.method &&
    entry.projectId === projectId &&
    entry.settingsRevision === settingsRevision
  );
}

function charactersOf({ query = "", path = "", ip = "", userAgent = "", method = "", host = "" }: SentContext): number {
  return query.length + path.length + ip.length + userAgent.length + method.length + host.length;
}
