/**
 * Which environment a batch is for, where sessions are split over several: its token says, or for a first contact its `Idempotency-Key`,
 * so that a retry finds the session that the first try minted. Pure.
 */
import { decodeSessionToken, placeOfToken, type TokenPlace } from "../contract/session-token.js";
import { pushHash64 } from "./hash.js";

/** As much of a store's environment as says how many there are. */
interface Counted {
  readonly others: readonly unknown[];
}

/** What the tokens minted in an environment are to say. */
export function tokenPlaceOf({ place, others }: Counted & { readonly place: number }): TokenPlace {
  return { place, of: 1 + others.length };
}

/** Where the first contact with this key belongs; null: anywhere, without a key. About 0.2 us. */
export function placeOfKey(key: string | null, { others }: Counted): number | null {
  if (key === null || others.length === 0) return null;
  const words: number[] = [];
  pushHash64(key, words);
  return (words[0]! >>> 0) % (1 + others.length);
}

/** Where a batch is to be looked for first; null: anywhere. `token` is the one it was sent with, which may be anything. */
export function placeOfBatch(token: string | null, key: string | null, counted: Counted): number | null {
  const bytes = token === null ? null : decodeSessionToken(token);
  return bytes === null ? placeOfKey(key, counted) : placeOfToken(bytes, 1 + counted.others.length);
}

const front = Buffer.from('{"session_token":"sess_');
/** Letters of base64url, by their character; 255 for what is none. */
const sextets = new Uint8Array(256).fill(255);
for (const [value, letter] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].entries()) {
  sextets[letter.charCodeAt(0)] = value;
}

/**
 * The same from a body's first bytes, where the SDK puts the token: a guess that costs nothing and groups batches of one environment. A
 * scoring thread, which reads the body, puts right what it misses. `stores` is how many environments there are.
 */
export function placeAtFront(body: Uint8Array, key: string | null, counted: Counted): number | null {
  // Of the 28 letters behind the prefix the fifth to eighth are the bytes 3 to 5; the place is in byte 4.
  const fifth = front.length + 4;
  const isThere = body[18] === front[18] && body[0] === front[0] && body.length > fifth + 2;
  if (!isThere) return placeOfKey(key, counted);
  const high = sextets[body[fifth + 1]!]!;
  const low = sextets[body[fifth + 2]!]!;
  return (((high & 15) << 4) | ((low & 63) >> 2)) % (1 + counted.others.length);
}
