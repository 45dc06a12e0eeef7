/**
 * Session tokens that are handed out before the SDK's first report, with the answer to a visitor's navigation. Nothing is stored for them: the 16
 * bytes after the time are one block of AES-128 under a key of the project, of 64 random bits and the time itself. So the server recognises its own
 * tokens, and nobody without the key can guess or make one. The first report makes the session under this token.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { limits } from "../../limits.js";
import { encodeSessionToken, mintSessionToken, tokenBytes } from "./session-token.js";

/** The project that a token is issued for: its key is derived from what only the store knows. A rotated private key ends tokens not used yet. */
interface TokenIssuer {
  readonly id: number;
  readonly privateKeyHash?: string | null;
}

const blockBytes = 16;
/** Bytes of the time in a token, which the second half of the block repeats, and of the random half. */
const timeBytes = tokenBytes - blockBytes;
const randomHalf = 8;
/** The clocks of hosts may differ. */
const aheadMsMax = 60_000;

/** Returns a new token of this project, in the clients' form; null for a project without keys. About 5 µs. */
export function issueToken(issuer: TokenIssuer, nowMs: number): string | null {
  const key = keyOf(issuer);
  if (key === null) return null;
  const token = mintSessionToken(nowMs, () => {});
  const block = Buffer.alloc(blockBytes);
  randomBytes(randomHalf).copy(block);
  token.copy(block, randomHalf, 0, timeBytes);
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  cipher.update(block).copy(token, timeBytes);
  return encodeSessionToken(token);
}

/** Whether the token was issued for this project in the last 24 hours. About 5 µs; reads nothing. */
export function isIssuedToken(issuer: TokenIssuer, token: Buffer, nowMs: number): boolean {
  const ageMs = nowMs - 1000 * token.readUInt32BE(0);
  if (ageMs > limits.issuedTokenMs || ageMs < -aheadMsMax) return false;
  const key = keyOf(issuer);
  if (key === null) return false;
  const decipher = createDecipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  const block = decipher.update(token.subarray(timeBytes));
  for (let at = 0; at < blockBytes - randomHalf; at++) {
    if (block[randomHalf + at] !== (at < timeBytes ? token[at] : 0)) return false;
  }
  return true;
}

/** Keys by what they are derived from; few projects issue tokens at once. */
const keys = new LRUCache<string, Buffer>({ max: 1000 });

function keyOf({ id, privateKeyHash }: TokenIssuer): Buffer | null {
  if (privateKeyHash === null || privateKeyHash === undefined) return null;
  const name = `${id} ${privateKeyHash}`;
  let key = keys.get(name);
  if (key === undefined) {
    key = createHmac("sha256", privateKeyHash).update(`verdictd session tokens ${id}`).digest().subarray(0, blockBytes);
    keys.set(name, key);
  }
  return key;
}
