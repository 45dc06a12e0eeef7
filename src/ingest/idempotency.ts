/**
 * First contacts by `Idempotency-Key`: a retry of a batch with a lost answer finds the session that the batch minted. Retries within a session are
 * known by their request ids: see `seen-ids.ts`.
 */
import { createHash } from "node:crypto";
import type { IngestBatch } from "../contract/events/events.js";
import { mintedAtMs, tokenBytes } from "../contract/sessions/session-token.js";
import { refuse } from "../errors.js";
import { limits } from "../limits.js";
import { idempotencyDay, idempotencyKey } from "../store/keys.js";
import type { UnitOfWork } from "./unit-of-work.js";

/** The answer to a key of another length, 422; HTTP threads and scoring threads use the same. */
export const badIdempotencyKey = refuse(
  "invalidPayload",
  `Idempotency-Key must have 1 to ${limits.idempotencyKeyMax} characters`,
);

/** True for a valid length, and for null, which means that the header was not sent. */
export function isIdempotencyKey(key: string | null): boolean {
  return key === null || (key.length > 0 && key.length <= limits.idempotencyKeyMax);
}

/** The key of a batch: its request's header, else what a beacon has in its body; null for neither. */
export function idempotencyKeyOf(header: string | null, batch: IngestBatch): string | null {
  return header ?? batch.idempotency_key ?? null;
}

/** SHA-256; the store uses its first bytes as the key. Clients choose these keys, so no client may find one that collides with another's. */
export function hashIdempotencyKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/**
 * Returns the token bytes of the session minted in the last 24 hours, or in those of `agesMs` (by the token's time, to a second), for the key of this hash,
 * or null.
 */
export function findIdempotent(
  unit: Pick<UnitOfWork, "idempotent">,
  projectId: number,
  hash: Buffer,
  nowMs: number,
  agesMs: number = limits.idempotencyKeptMs,
): Buffer | null {
  for (const key of idempotencyKeysOf(projectId, hash, nowMs)) {
    const token = unit.idempotent(key);
    if (token === undefined || token.length !== tokenBytes) continue;
    if (nowMs - mintedAtMs(token) < agesMs) return token;
  }
  return null;
}

/** The rows that may have the key of this hash: of today and of yesterday. */
export function idempotencyKeysOf(projectId: number, hash: Buffer, nowMs: number): readonly [Buffer, Buffer] {
  const today = idempotencyDay(nowMs);
  return [idempotencyKey(today, projectId, hash), idempotencyKey((today - 1) & 0xffff, projectId, hash)];
}

/** Records the session that was minted for the contact at `nowMs`, for a retry to find; returns the key of the row, which the session keeps. */
export function rememberIdempotent(
  unit: UnitOfWork,
  projectId: number,
  hash: Buffer,
  token: Buffer,
  nowMs: number,
): Buffer {
  const key = idempotencyKey(idempotencyDay(nowMs), projectId, hash);
  unit.putIdempotent(key, token);
  return key;
}
