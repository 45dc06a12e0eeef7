/**
 * Remembers for a day that the session of an issued token was erased, so that a visitor who still sends the token is a new one: nothing else of it is
 * stored. It is a row like those of an `Idempotency-Key`, under a name that no client can send, and it does not hold the token.
 */
import { createHash } from "node:crypto";
import { mintSessionToken } from "../contract/sessions/session-token.js";

/** The bytes that say the shard of a cluster, of an `Idempotency-Key`'s hash and of a token: see `cluster-store/keys.ts`. */
const [hashShardAt, tokenShardAt] = [10, 4];

/** The hash that stands for such a row, in place of that of an `Idempotency-Key`. On a cluster it leads to the shard of the session. */
export function erasedTokenHash(token: Uint8Array): Buffer {
  // No header holds a line feed.
  const hash = createHash("sha256").update("\nerased\n").update(token).digest();
  // A session can be erased while other shards are away.
  hash[hashShardAt] = token[tokenShardAt]!;
  return hash;
}

/** What the row holds: when the session was erased, in the form of a token. */
export function erasedTokenValue(nowMs: number): Buffer {
  return mintSessionToken(nowMs, () => {});
}
