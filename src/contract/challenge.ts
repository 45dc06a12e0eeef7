/** verdictd's own challenge: its settings, and the clearance that a session holds after passing it. */
import type { Band } from "./verdict.js";

/** From the least work to the most. */
const challengeDifficulties = ["low", "normal", "high"] as const;
/** About 0.3, 1 and 4 s of work on a phone of five years ago. */
export type ChallengeDifficulty = (typeof challengeDifficulties)[number];

/** A project's challenge settings in the stored form. */
export interface ChallengeSettings {
  readonly enabled: boolean;
  readonly difficulty: ChallengeDifficulty;
  /** How long a pass holds, minutes. */
  readonly clearanceMinutes: number;
}

/** The settings of a project that never set any: no challenge until it is enabled. */
export const defaultChallengeSettings: ChallengeSettings = {
  enabled: false,
  difficulty: "normal",
  clearanceMinutes: 60,
};

/** Proof that a session passed a challenge. Kept in its record. */
export interface Clearance {
  /** Time of the pass, ms. */
  readonly atMs: number;
  /** The session's band at that moment: a worse one ends the clearance. */
  readonly band: Band;
  /** The `userAgentHash` of the user agent that passed: another one is not cleared. */
  readonly userAgentHash: string;
}
