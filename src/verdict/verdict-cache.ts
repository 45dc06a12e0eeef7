/**
 * The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. A table of fixed size
 * and no `Map`: that would hash the token of each request, a new string, and be built anew as it grows.
 */
import type { VerdictText } from "./finding.js";

/** What an answer was given to. */
export interface VerdictKey {
  readonly projectId: number;
  readonly settingsRevision: number;
  readonly token: string;
  /** The request context as one text, "" for none. */
  readonly context: string;
}

/** What the cache keeps of an answer. */
export interface CachedVerdict {
  readonly text: VerdictText;
  /** What the session's assertion was then, ms. */
  readonly loggedInAtMs: number;
}

interface Entry extends CachedVerdict {
  readonly key: VerdictKey;
}

/** Bytes an entry costs beside its texts: place, objects, string headers. Measured as about 200 on 64-bit V8. */
const overheadBytes = 200;
/** Bytes of an entry as most are, to have about two places for each. */
const usualBytes = 512;

/** An entry has two places to be in; the one that expires sooner is taken. Beyond its bytes the table is emptied place by place, in turn. */
export class VerdictCache {
  readonly #bytesMax: number;
  readonly #entries: (Entry | undefined)[];
  /** By place; 0 where there is none. Looked at first: most of what has expired is then never touched. */
  readonly #expiresAtMs: Float64Array;
  /** Bytes by place. */
  readonly #sizes: Uint32Array;
  readonly #mask: number;
  /** What leaves of a hash of 32 bits the topmost ones, as many as number the places. */
  readonly #shift: number;
  #bytes = 0;
  #hand = 0;

  constructor(bytesMax: number) {
    const bits = Math.ceil(Math.log2(Math.max(2, (2 * bytesMax) / usualBytes)));
    const places = 2 ** bits;
    this.#bytesMax = bytesMax;
    this.#entries = new Array(places).fill(undefined);
    this.#expiresAtMs = new Float64Array(places);
    this.#sizes = new Uint32Array(places);
    this.#mask = places - 1;
    this.#shift = 32 - bits;
  }

  get(key: VerdictKey, nowMs: number): CachedVerdict | null {
    const first = this.#placeOf(key);
    return this.#at(first, key, nowMs) ?? this.#at(first ^ 1, key, nowMs);
  }

  set(key: VerdictKey, { text, loggedInAtMs }: CachedVerdict, nowMs: number, expiresAtMs: number): void {
    const first = this.#placeOf(key);
    const second = first ^ 1;
    const place = this.#expiresAtMs[first]! <= this.#expiresAtMs[second]! ? first : second;
    // Of two with one key the older could be found first.
    if (this.#at(place ^ 1, key, nowMs) !== null) this.#empty(place ^ 1);
    const size = overheadBytes + key.token.length + key.context.length + text.body.length;
    this.#bytes += size - this.#sizes[place]!;
    this.#sizes[place] = size;
    this.#entries[place] = { key, text, loggedInAtMs };
    this.#expiresAtMs[place] = expiresAtMs;
    while (this.#bytes > this.#bytesMax) {
      this.#hand = (this.#hand + 1) & this.#mask;
      this.#empty(this.#hand);
    }
  }

  #at(place: number, key: VerdictKey, nowMs: number): CachedVerdict | null {
    return this.#expiresAtMs[place]! > nowMs && this.#isOf(place, key) ? this.#entries[place]! : null;
  }

  #isOf(place: number, key: VerdictKey): boolean {
    const kept = this.#entries[place]?.key;
    return (
      kept !== undefined &&
      kept.token === key.token &&
      kept.projectId === key.projectId &&
      kept.settingsRevision === key.settingsRevision &&
      kept.context === key.context
    );
  }

  #empty(place: number): void {
    this.#bytes -= this.#sizes[place]!;
    this.#sizes[place] = 0;
    this.#entries[place] = undefined;
    this.#expiresAtMs[place] = 0;
  }

  /** The last characters of a token are random. */
  #placeOf({ token, context, projectId, settingsRevision }: VerdictKey): number {
    let hash = Math.imul(projectId, 31) + settingsRevision;
    for (let at = token.length - 4; at < token.length; at++) hash = (hash << 6) ^ token.charCodeAt(at);
    for (let at = 0; at < context.length; at++) hash = Math.imul(hash, 31) + context.charCodeAt(at);
    return Math.imul(hash, 0x9e3779b1) >>> this.#shift;
  }
}
