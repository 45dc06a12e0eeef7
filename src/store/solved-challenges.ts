/** Nonces of challenges that were solved, until they expire: a solution counts once. */
import { solvedChallengeKey } from "./keys.js";
import type { SessionTables } from "./session-tables.js";

const used = Buffer.from([1]);

/** Whether the nonce (32 hex characters) is known, as of this thread's last look at the store. */
export function isSolved({ solvedChallenges }: SessionTables, expiresAtMs: number, nonce: string): boolean {
  return solvedChallenges.doesExist(solvedChallengeKey(expiresAtMs, nonce));
}

/** Remembers the nonce (32 hex characters); false when it is known already. Call inside a write transaction. */
export function rememberSolved({ solvedChallenges }: SessionTables, expiresAtMs: number, nonce: string): boolean {
  const key = solvedChallengeKey(expiresAtMs, nonce);
  if (solvedChallenges.doesExist(key)) return false;
  solvedChallenges.putSync(key, used);
  return true;
}
