/** verdictd's own challenge as the API sends it. */
import type { tags } from "typia";
import type { Count, IsoTime } from "../values/answer-values.js";

/** Eight puzzles in ALTCHA's form, all of which are to be solved. */
export interface ChallengeAnswer {
  puzzles: PuzzleAnswer[] & tags.MinItems<8> & tags.MaxItems<8>;
  expires_at: IsoTime;
}

/** Find the counter, from 0 on, whose key, derived from nonce and counter by PBKDF2, begins with `keyPrefix`. */
interface PuzzleAnswer {
  parameters: {
    algorithm: "PBKDF2/SHA-256";
    cost: Count;
    /**
     * Signed with the rest. Of the first puzzle: the session, when it was made, the rule that asked (0: not known), and the time of the challenge that
     * counts for the rule; and HMACs of all that the others say and of all derived keys. Of the others: the first one's nonce, and the place in the list.
     */
    data:
      | { session: string; issued_at_ms: number; rule: Count; counted_at_ms: number; others: string; keys: string }
      | { place: Count; set: string };
    /** Seconds since the epoch. */
    expiresAt: Count;
    keyLength: Count;
    keyPrefix: string;
    keySignature: string;
    nonce: string;
    salt: string;
  };
  signature: string;
}

/** The session has passed the challenge; a worse band, another user agent or disabling the challenge can end the pass sooner. */
export interface ClearedAnswer {
  cleared: true;
  /** When the pass expires at the latest. */
  expires_at: IsoTime;
}
