/**
 * All non-cryptographic hash functions of the project, each for a purpose that the others don't fit. Never for secrets: those use SHA-256
 * (`node:crypto`). A function with stored hashes must not change, or stored sessions would no longer match. The rolling hash of pointer paths is not
 * here, because it is inseparable from its window's ring (src/engines/path-shingles.ts).
 */

/** The initial value of `fnv1a`. */
export const fnvBasis = 0x811c9dc5 | 0;
const fnvPrime = 0x01000193;

/**
 * A step of FNV-1a: adds one character, byte or number of 32 bits to the hash; a signed integer. It chooses slots of tables in memory. The fastest
 * here; anyone who chooses the texts can make them collide.
 */
export function fnv1a(hash: number, word: number): number {
  return Math.imul(hash ^ word, fnvPrime);
}

/**
 * FNV-1a of a text's UTF-16 units, 0 to 2^32 - 1: tells whether a text is the same as before. Stored in features (`userAgentHash`, `networkHash`).
 */
export function hashText(text: string): number {
  let hash = fnvBasis;
  for (let at = 0; at < text.length; at++) hash = fnv1a(hash, text.charCodeAt(at));
  return hash >>> 0;
}

/**
 * Spreads a number over 32 bits, its topmost ones best (Knuth's multiplicative hashing); a signed integer. Different numbers below 2^32 have
 * different results. Stored: in keys of the store, which fold a project's number into a hash.
 */
export function spreadBits(number: number): number {
  return Math.imul(number, 0x9e3779b1);
}

/** A step of MurmurHash3 with its finish: neighbouring cells of a grid have unrelated hashes; a signed integer. Stored: in the path-reuse index. */
export function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ value, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/**
 * Two interleaved 32-bit lanes, MurmurHash3's finaliser at their end (the public-domain "cyrb53" construction): about 1e-11 chance that
 * any two of 20 000 texts collide. Stored: request ids seen, cross-session counts, start tickets' keys.
 */
export class Hash64 {
  // Signed, as all later values are: the engine then keeps both as small integers.
  #high = 0xdeadbeef | 0;
  #low = 0x41c6ce57;

  /** Adds 32 bits. */
  add(word: number): void {
    this.#high = Math.imul(this.#high ^ word, 2654435761);
    this.#low = Math.imul(this.#low ^ word, 1597334677);
  }

  addText(text: string): void {
    // Local variables, because fields take half as long again.
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

  /** As `addText` with a text of these bytes. */
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

  /** All bits of the number count: 1 and 1.5 differ. */
  addNumber(value: number): void {
    if (value === (value | 0)) {
      this.add(value);
      return;
    }
    doubles[0] = value;
    this.add(halves[0]!);
    this.add(halves[1]!);
  }

  /** Appends the two words of the hash, as signed 32-bit integers. */
  push(words: number[]): void {
    const high = this.#high;
    const low = this.#low;
    const mixed = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    words.push(mixed, Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(mixed ^ (mixed >>> 13), 3266489909));
  }
}

// Marked for removal from the SDK's bundle.
const numberBytes = /* @__PURE__ */ new ArrayBuffer(8);
const doubles = /* @__PURE__ */ new Float64Array(numberBytes);
const halves = /* @__PURE__ */ new Int32Array(numberBytes);

/** Appends the two words of a text's hash to `words`. */
export function pushHash64(text: string, words: number[]): void {
  const hash = new Hash64();
  hash.addText(text);
  hash.push(words);
}

/** The same for a text given as ASCII bytes, from `from` to `to`: no string is needed. */
export function pushHash64OfAscii(bytes: Uint8Array, from: number, to: number, words: number[]): void {
  const hash = new Hash64();
  hash.addAscii(bytes, from, to);
  hash.push(words);
}

const result: [number, number] = [0, 0];

/**
 * HalfSipHash-2-4 with 64 bits of key and of result (Aumasson and Bernstein) over four words; returns two signed words, in the same array each time.
 * Without the key, no one can choose addresses that collide. Not stored: the key lives as long as the process.
 */
export function halfSipHash(
  key: readonly [number, number],
  word0: number,
  word1: number,
  word2: number,
  word3: number,
): readonly [number, number] {
  let v0 = key[0];
  let v1 = key[1] ^ 0xee;
  let v2 = 0x6c796765 ^ key[0];
  let v3 = 0x74656462 ^ key[1];
  // Four words of message, the length of 16 bytes in the last block, then finalisation.
  for (let step = 0; step < 7; step++) {
    const word =
      step === 0 ? word0 : step === 1 ? word1 : step === 2 ? word2 : step === 3 ? word3 : step === 4 ? 16 << 24 : 0;
    let rounds = 4;
    if (step < 5) {
      v3 ^= word;
      rounds = 2;
    } else if (step === 5) v2 ^= 0xee;
    else v1 ^= 0xdd;
    for (let round = 0; round < rounds; round++) {
      v0 = (v0 + v1) | 0;
      v1 = (v1 << 5) | (v1 >>> 27);
      v1 ^= v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = (v3 << 8) | (v3 >>> 24);
      v3 ^= v2;
      v0 = (v0 + v3) | 0;
      v3 = (v3 << 7) | (v3 >>> 25);
      v3 ^= v0;
      v2 = (v2 + v1) | 0;
      v1 = (v1 << 13) | (v1 >>> 19);
      v1 ^= v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    if (step < 5) v0 ^= word;
    else if (step === 5) result[0] = v1 ^ v3;
    else result[1] = v1 ^ v3;
  }
  return result;
}

/**
 * A keyed hash of bytes, four at a time; a signed integer. Chooses slots of tables in memory for texts of visitors, about 0.3 µs a kilobyte: whoever does
 * not know the key can't aim at a slot, but it is no proof against more than that.
 */
export function hashBytes(bytes: DataView, from: number, to: number, key: number): number {
  let hash = key ^ (to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    hash = Math.imul(hash ^ bytes.getInt32(at, true), 0x85ebca6b);
    hash = (hash << 13) | (hash >>> 19);
  }
  for (; at < to; at++) hash = Math.imul(hash ^ bytes.getUint8(at), 0x85ebca6b);
  return mix(hash, key);
}
