/** First contacts by `Idempotency-Key`: a retry of a batch whose answer was lost resolves to the session it minted. */
import { createHash } from "node:crypto";
import { refuse } from "../errors.js";
import { limits } from "../limits.js";
import { idempotencyDay, idempotencyKey, tokenBytes } from "../store/keys.js";
import type { SessionStore } from "../store/session-store.js";

export const badIdempotencyKey = refuse(
  "invalidPayload",
  `Idempotency-Key must have 1 to ${limits.idempotencyKeyMax} characters`,
);

/** Whether the header may be as it is; null: it was not sent. */
export function isIdempotencyKey(key: string | null): boolean {
  return key === null || (key.length > 0 && key.length <= limits.idempotencyKeyMax);
}

/** What the store knows a key by, 16 bytes of SHA-256: clients choose these keys, so they must not be able to make two collide. */
export function hashIdempotencyKey(key: string): Buffer {
  return createHash("sha256").update(key).digest().subarray(0, 16);
}

/** Token bytes of the session minted in the last 24 hours for the key of this hash, or null. */
export function findIdempotent(store: SessionStore, projectId: number, hash: Buffer, nowMs: number): Buffer | null {
  const today = idempotencyDay(nowMs);
  for (const day of [today, (today - 1) & 0xffff]) {
    const bytes = store.idempotency.getBinary(idempotencyKey(day, projectId, hash));
    if (bytes === undefined || bytes.length !== 8 + tokenBytes) continue;
    if (nowMs - bytes.readDoubleLE(0) < limits.idempotencyKeptMs) return bytes.subarray(8);
  }
  return null;
}

export function rememberIdempotent(
  store: SessionStore,
  projectId: number,
  hash: Buffer,
  token: Buffer,
  nowMs: number,
): void {
  const bytes = Buffer.allocUnsafe(8 + tokenBytes);
  bytes.writeDoubleLE(nowMs, 0);
  bytes.set(token, 8);
  store.idempotency.putSync(idempotencyKey(idempotencyDay(nowMs), projectId, hash), bytes);
}
