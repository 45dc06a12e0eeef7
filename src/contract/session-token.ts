/** Session tokens: `sess_` and 28 characters of base64url for 5 bytes of time and 16 random ones. Text and bytes, both ways. */

export const tokenPrefix = "sess_";
/** A token that may be asked for; only `decodeSessionToken` says whether it can be one of ours. */
export const wellFormedToken = /^sess_[A-Za-z0-9_-]{1,128}$/;

const bytesOfToken = 21;
const charactersOfToken = tokenPrefix.length + 28;

/** Bytes of a token that could have been minted here, or null. No read of the store: 28 characters hold the 21 bytes exactly. */
export function decodeSessionToken(text: string): Buffer | null {
  if (text.length !== charactersOfToken || !wellFormedToken.test(text)) return null;
  return Buffer.from(text.slice(tokenPrefix.length), "base64url");
}

export function encodeSessionToken(bytes: Uint8Array): string {
  return tokenPrefix + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

/**
 * A new token's bytes: the second, its 256th part, and 128 bits of `random`, which fills 16 bytes from a cryptographic source. The finer
 * time keeps sessions in the order they came in, so that the store appends them to full pages.
 */
export function mintSessionToken(nowMs: number, random: (into: Uint8Array) => void): Buffer {
  const bytes = Buffer.alloc(bytesOfToken);
  bytes.writeUInt32BE(Math.floor(nowMs / 1000) >>> 0, 0);
  bytes[4] = Math.floor(((nowMs % 1000) * 256) / 1000);
  random(bytes.subarray(5));
  return bytes;
}

/** Not after any token minted at this time or later. */
export function earliestToken(atMs: number): Buffer {
  return mintSessionToken(atMs, () => {});
}
