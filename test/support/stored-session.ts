/** A session put straight into a store, as one batch long ago would have left it: for tests of what reads sessions or refers to them. */
import { newVerdictPart } from "../../src/contract/session.js";
import { decodeSessionToken, encodeSessionToken, mintSessionToken } from "../../src/contract/session-token.js";
import { sessionKey } from "../../src/store/keys.js";
import { encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";

const noBytes = Buffer.alloc(0);

/** Stores a scored session of this user agent that began at `firstSeenMs`; its token. Tokens differ by `number` as those of `putSession`. */
export function putScoredSession(
  store: Store,
  projectId: number,
  firstSeenMs: number,
  number: number,
  userAgent: string,
) {
  const token = storedToken(firstSeenMs, number);
  const bytes = decodeSessionToken(token)!;
  const fresh = newVerdictPart(firstSeenMs);
  const verdict = { ...fresh, scored: true, score: 50, eventCount: 1, last: { ...fresh.last, userAgent } };
  const record = encodeSession({ verdict, repeats: noBytes, features: noBytes });
  store.sessions.putSync(sessionKey(projectId, bytes), record);
  return token;
}

/** The token of the session that `putSession` stores for this time and number. */
export function storedToken(firstSeenMs: number, number: number): string {
  return encodeSessionToken(mintSessionToken(firstSeenMs, (into) => into.fill(number).fill(number >> 8, 0, 1)));
}

/**
 * Stores a session that began at `firstSeenMs`; its token. Tokens of one time differ by `number`, 0 to 65,535. The token's time may be
 * `aheadMs` later, as under load.
 */
export function putSession(
  store: Store,
  projectId: number,
  firstSeenMs: number,
  number = 0,
  lastSeenMs = firstSeenMs,
  aheadMs = 0,
): string {
  const token = storedToken(firstSeenMs + aheadMs, number);
  const bytes = decodeSessionToken(token)!;
  const verdict = { ...newVerdictPart(firstSeenMs), lastSeenMs, eventCount: 1 };
  const record = encodeSession({ verdict, repeats: noBytes, features: noBytes });
  store.sessions.putSync(sessionKey(projectId, bytes), record);
  return token;
}
