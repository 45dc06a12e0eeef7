/** Fast 64-bit hashing of short strings for de-duplication and cross-session counts. Not for secrets. */

/**
 * Two interleaved 32-bit lanes, MurmurHash3's finaliser at their end (the public-domain "cyrb53" construction): about 1e-11 chance that
 * any two of 20 000 texts collide.
 */
export class Hash64 {
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;

  /** Takes in 32 bits. */
  add(word: number): void {
    this.#high = Math.imul(this.#high ^ word, 2654435761);
    this.#low = Math.imul(this.#low ^ word, 1597334677);
  }

  addText(text: string): void {
    // In variables of its own: in the fields it takes half as long again.
    let high = this.#high;
    let low = this.#low;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    this.#high = high;
    this.#low = low;
  }

  /** As `addText` does with a text of these bytes. */
  addAscii(bytes: Uint8Array, from: number, to: number): void {
    let high = this.#high;
    let low = this.#low;
    for (let index = from; index < to; index++) {
      const code = bytes[index]!;
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    this.#high = high;
    this.#low = low;
  }

  /** All bits of the number count: 1 and 1.5 are told apart. */
  addNumber(value: number): void {
    if (value === (value | 0)) {
      this.add(value);
      return;
    }
    doubles[0] = value;
    this.add(halves[0]!);
    this.add(halves[1]!);
  }

  /** Appends the two words of the hash, of 32 bits with a sign. */
  push(words: number[]): void {
    const high = this.#high;
    const low = this.#low;
    const mixed = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    words.push(mixed, Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(mixed ^ (mixed >>> 13), 3266489909));
  }
}

const doubles = new Float64Array(1);
const halves = new Int32Array(doubles.buffer);

/** Appends the two words of a text's hash to `words`. */
export function pushHash64(text: string, words: number[]): void {
  const hash = new Hash64();
  hash.addText(text);
  hash.push(words);
}

/** The same of text that is there as bytes of ASCII, from `from` to `to`: a string need not be made of it. */
export function pushHash64OfAscii(bytes: Uint8Array, from: number, to: number, words: number[]): void {
  const hash = new Hash64();
  hash.addAscii(bytes, from, to);
  hash.push(words);
}
