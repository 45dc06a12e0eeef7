/** The verdict cache: answers by project, settings, session and request context, for a short time, bounded in bytes. */

/** What the cache keeps of an answer. `body` is the JSON text. */
export interface CachedVerdict {
  readonly body: string;
  readonly expiresAtMs: number;
}

/** Bytes an entry costs beside its texts: map slot, object, string headers. Measured as about 200 on 64-bit V8. */
const overheadBytes = 200;

/**
 * Two generations: entries go into the young one; when that is full the old one is dropped and the young becomes old. Eviction
 * costs nothing per read, and nothing outlives two fillings.
 */
export class VerdictCache<Entry extends CachedVerdict> {
  readonly #bytesMax: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;

  /** `bytesMax` bounds both generations together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string, nowMs: number): Entry | null {
    const entry = this.#young.get(key) ?? this.#old.get(key);
    return entry !== undefined && entry.expiresAtMs > nowMs ? entry : null;
  }

  set(key: string, entry: Entry): void {
    this.#young.set(key, entry);
    this.#youngBytes += overheadBytes + key.length + entry.body.length;
    if (this.#youngBytes > this.#bytesMax / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
  }
}
