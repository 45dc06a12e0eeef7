/** Session tokens: `sess_` and 28 characters of base64url for 4 bytes of time and 17 random ones. Text and bytes, both ways. */

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

/** A new token's bytes. `random` fills 17 bytes (136 bits) from a cryptographic source. */
export function mintSessionToken(nowMs: number, random: (into: Uint8Array) => void): Buffer {
  const bytes = Buffer.alloc(bytesOfToken);
  bytes.writeUInt32BE(Math.floor(nowMs / 1000) >>> 0, 0);
  random(bytes.subarray(4));
  return bytes;
}
