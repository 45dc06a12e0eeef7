/**
 * PBKDF2 with HMAC-SHA-256 in plain JavaScript (RFC 8018, RFC 2104, FIPS 180-4), for pages on plain HTTP, where browsers have no Web Crypto.
 * One block of output: 32 bytes. Several times slower than Web Crypto.
 */

const rounds = 64;
const primes: number[] = [];
for (let candidate = 2; primes.length < rounds; candidate++) {
  if (primes.every((prime) => candidate % prime)) primes.push(candidate);
}
/** The first 32 bits of the fractional part. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;
const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

const schedule = new Int32Array(rounds);
const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Takes one block of 16 words into `state`. */
function compress(state: Int32Array, block: Int32Array): void {
  schedule.set(block);
  for (let at = 16; at < rounds; at++) {
    const early = schedule[at - 15]!;
    const late = schedule[at - 2]!;
    schedule[at] =
      schedule[at - 16]! +
      schedule[at - 7]! +
      (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) +
      (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let at = 0; at < rounds; at++) {
    const one =
      (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[at]! + schedule[at]!) | 0;
    const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  const words = [a, b, c, d, e, f, g, h];
  for (let at = 0; at < 8; at++) state[at]! += words[at]!;
}

/** Words of big-endian bytes, at most 64, in a block. */
function blockOf(bytes: Uint8Array): Int32Array {
  const block = new Int32Array(16);
  for (let at = 0; at < bytes.length; at++) block[at >> 2]! |= bytes[at]! << (24 - 8 * (at & 3));
  return block;
}

/** The state after the key's padded block. */
function keyed(key: Int32Array, pad: number): Int32Array {
  const state = Int32Array.from(initial);
  compress(
    state,
    key.map((word) => word ^ pad),
  );
  return state;
}

/** The last block of a message that has `bits` in all, behind 64 bytes of key. */
function finish(block: Int32Array, bytes: number): Int32Array {
  block[bytes >> 2]! |= 0x80 << (24 - 8 * (bytes & 3));
  block[15] = 8 * (64 + bytes);
  return block;
}

/** `password` has at most 64 bytes, `salt` at most 51. */
export function pbkdf2(password: Uint8Array, salt: Uint8Array, iterations: number): Uint8Array {
  const key = blockOf(password);
  const inner = keyed(key, 0x36363636);
  const outer = keyed(key, 0x5c5c5c5c);
  const first = new Uint8Array(salt.length + 4);
  first.set(salt);
  first[salt.length + 3] = 1;
  let message = finish(blockOf(first), first.length);
  const result = new Int32Array(8);
  for (let round = 0; round < iterations; round++) {
    let state = inner.slice();
    compress(state, message);
    message = new Int32Array(16);
    message.set(state);
    state = outer.slice();
    compress(state, finish(message, 32));
    for (let at = 0; at < 8; at++) result[at]! ^= state[at]!;
    message = new Int32Array(16);
    message.set(state);
    finish(message, 32);
  }
  return Uint8Array.from({ length: 32 }, (_, at) => result[at >> 2]! >>> (24 - 8 * (at & 3)));
}
