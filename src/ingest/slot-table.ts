/** A growing hash table in typed arrays: which 32-bit hash and session stand in a slot. Holds what `replays.ts` has not stored in buckets yet. */

const sizeMin = 256;

/** Slots are integers from 0; at most half of the table is taken, so that probes stay short. */
export class SlotTable {
  /** Three words an entry: slot + 1 (0: free), hash, session. */
  #words = new Uint32Array(3 * sizeMin);
  #mask = sizeMin - 1;
  #count = 0;

  /** Slots that hold something. */
  get count(): number {
    return this.#count;
  }

  /** Where the slot's entry is, for `hashAt` and `sessionAt`; -1 when it has none. Good until the next `set`. */
  find(slot: number): number {
    const words = this.#words;
    let at = 3 * (slot & this.#mask);
    while (words[at] !== 0) {
      if (words[at] === slot + 1) return at;
      at += 3;
      if (at === words.length) at = 0;
    }
    return -1;
  }

  hashAt(position: number): number {
    return this.#words[position + 1]!;
  }

  sessionAt(position: number): number {
    return this.#words[position + 2]!;
  }

  /** Puts hash and session in the slot, over what was there. */
  set(slot: number, hash: number, session: number): void {
    if (2 * this.#count > this.#mask) this.#grow();
    const words = this.#words;
    let at = 3 * (slot & this.#mask);
    while (words[at] !== 0 && words[at] !== slot + 1) {
      at += 3;
      if (at === words.length) at = 0;
    }
    if (words[at] === 0) this.#count++;
    words[at] = slot + 1;
    words[at + 1] = hash;
    words[at + 2] = session;
  }

  /** Calls `each` for all entries, in no order that means anything. */
  forEach(each: (slot: number, hash: number, session: number) => void): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at += 3) {
      if (words[at] !== 0) each(words[at]! - 1, words[at + 1]!, words[at + 2]!);
    }
  }

  clear(): void {
    this.#words = new Uint32Array(3 * sizeMin);
    this.#mask = sizeMin - 1;
    this.#count = 0;
  }

  #grow(): void {
    const smaller = this.#words;
    this.#words = new Uint32Array(2 * smaller.length);
    this.#mask = 2 * this.#mask + 1;
    this.#count = 0;
    for (let at = 0; at < smaller.length; at += 3) {
      if (smaller[at] !== 0) this.set(smaller[at]! - 1, smaller[at + 1]!, smaller[at + 2]!);
    }
  }
}
