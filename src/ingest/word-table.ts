/** Finds which word of a fixed list occurs in some bytes, without making a string of them. */

import { fnv1a, fnvBasis } from "../contract/values/hashes.js";

const quote = 0x22;
const slotsMin = 512;

/** Words of ASCII, each at most 255 characters. */
export class WordTable {
  readonly words: readonly string[];
  readonly #bytes: readonly Uint8Array[];
  /** Positions in the list by hash; -1 is free. At most half of it is taken. */
  readonly #slots: Int16Array;

  constructor(words: readonly string[]) {
    this.words = words;
    this.#bytes = words.map((word) => Uint8Array.from(word, (letter) => letter.charCodeAt(0)));
    let slots = slotsMin;
    while (slots < 2 * words.length) slots *= 2;
    this.#slots = new Int16Array(slots).fill(-1);
    for (const [position, bytes] of this.#bytes.entries()) {
      let hash = fnvBasis;
      for (const byte of bytes) hash = fnv1a(hash, byte);
      let slot = hash & (slots - 1);
      while (this.#slots[slot] !== -1) slot = (slot + 1) & (slots - 1);
      this.#slots[slot] = position;
    }
  }

  /** Returns the position in the list of the word that starts at `at` and ends before a quote; -1 when it is none. */
  find(bytes: Uint8Array, at: number): number {
    let hash = fnvBasis;
    let to = at;
    while (to < bytes.length) {
      const byte = bytes[to]!;
      if (byte === quote) break;
      hash = fnv1a(hash, byte);
      to++;
    }
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const position = this.#slots[slot]!;
      if (position === -1) return -1;
      if (isAt(this.#bytes[position]!, bytes, at, to)) return position;
    }
  }

  /** The characters of a word. */
  lengthOf(position: number): number {
    return this.#bytes[position]!.length;
  }
}

function isAt(word: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (word.length !== to - from) return false;
  for (let index = 0; index < word.length; index++) if (word[index] !== bytes[from + index]) return false;
  return true;
}
