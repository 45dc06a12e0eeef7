/**
 * HalfSipHash-2-4 with 64 bits of key and of result (Aumasson and Bernstein): a keyed hash of few words, so that nobody can choose addresses that
 * collide without knowing the key.
 */

const result: [number, number] = [0, 0];

/** The hash of four words, as two signed words; the same array each time. */
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
  // Four words of message, the length of 16 bytes in the last block, then the two ends.
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
