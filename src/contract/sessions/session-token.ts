/** Session tokens: `sess_` and 28 characters of base64url for 5 bytes of time and 16 random ones. Converts between text and bytes. */

/** The start of every session token. */
const tokenPrefix = "sess_";

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Bytes of a session token: second of creation u32 and its 256th part u8, then 128 random bits. 28 characters of base64url, without padding. */
export const tokenBytes = 21;
const charactersOfToken = tokenPrefix.length + 28;

/** Value of each character of base64url by its code; -1 for all others. */
const valueOfCode = new Int8Array(128).fill(-1);
for (const [value, character] of [...base64url].entries()) valueOfCode[character.charCodeAt(0)] = value;

/** Returns the bytes of a token that could have been minted here, or null. No read of the store: 28 characters hold the 21 bytes exactly. */
export function decodeSessionToken(text: string): Buffer | null {
  const bytes = Buffer.allocUnsafe(tokenBytes);
  return decodeSessionTokenInto(text, bytes, 0) ? bytes : null;
}

/**
 * The same into 21 bytes of `bytes`, from `at` on. Returns false for any other text, and those bytes are undefined then. Takes a third of the time of
 * a regular expression and Node's decoder: every verdict read waits for it.
 */
export function decodeSessionTokenInto(text: string, bytes: Uint8Array, at: number): boolean {
  if (text.length !== charactersOfToken || !text.startsWith(tokenPrefix)) return false;
  for (let from = tokenPrefix.length; from < charactersOfToken; from += 4, at += 3) {
    const first = valueAt(text, from);
    const second = valueAt(text, from + 1);
    const third = valueAt(text, from + 2);
    const fourth = valueAt(text, from + 3);
    if ((first | second | third | fourth) < 0) return false;
    bytes[at] = (first << 2) | (second >> 4);
    bytes[at + 1] = (second << 4) | (third >> 2);
    bytes[at + 2] = (third << 6) | fourth;
  }
  return true;
}

function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? valueOfCode[code]! : -1;
}

/** Returns the text for a token's 21 bytes, the inverse of `decodeSessionToken`. */
export function encodeSessionToken(bytes: Uint8Array): string {
  return tokenPrefix + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

/** Position of the token's shard: on one host this byte is the 256th part of the second. */
const shardAt = 4;

/**
 * Returns a new token's bytes: the second, its 256th part, and 128 bits of `random`, which fills 16 bytes from a cryptographic source. The finer time
 * keeps sessions in their order of arrival, and the store appends them to full pages. If sessions are spread over shards, `shard` (0 to 255) replaces
 * the 256th part.
 */
export function mintSessionToken(
  nowMs: number,
  random: (into: Uint8Array) => void,
  shard: number | null = null,
): Buffer {
  const bytes = Buffer.alloc(tokenBytes);
  bytes.writeUInt32BE(Math.floor(nowMs / 1000) >>> 0, 0);
  bytes[shardAt] = shard ?? Math.floor(((nowMs % 1000) * 256) / 1000);
  random(bytes.subarray(shardAt + 1));
  return bytes;
}

/**
 * Returns when a token was minted, ms: to a 256th of a second (a second if sessions are spread over shards). Under load this is up to a second after
 * its contact.
 */
export function mintedAtMs(bytes: Buffer): number {
  return 1000 * (bytes.readUInt32BE(0) + bytes[shardAt]! / 256);
}

/**
 * When a session began, ms: at its first report; where its token came with an answer before that, in the second in which it was issued. Keys lie in
 * this order, so what lists and searches sessions by time goes by it.
 */
export function beganAtMs(firstReportMs: number, token: Buffer): number {
  const issuedMs = 1000 * token.readUInt32BE(0);
  return issuedMs + 1000 <= firstReportMs ? issuedMs : firstReportMs;
}

/** Not after any token minted at this time or later. */
export function earliestToken(atMs: number): Buffer {
  return mintSessionToken(atMs, () => {});
}
