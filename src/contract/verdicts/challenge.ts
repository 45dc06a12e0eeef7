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
  /** From how many networks a pass may be used, see `Clearance.networks`. Absent in settings of older versions: the default. */
  readonly clearanceNetworks?: number;
  /** Where browsers find the challenge's script; absent or "": the site's own origin. */
  readonly scriptOrigin?: string;
  /** What is before the script's and the API's paths there; absent or "": nothing. */
  readonly pathPrefix?: string;
}

/** As long as the settings don't say otherwise. */
export const defaultClearanceNetworks = 4;

/** The settings of a project that never set any: no challenge until it is enabled. */
export const defaultChallengeSettings: ChallengeSettings = {
  enabled: false,
  difficulty: "normal",
  clearanceMinutes: 60,
  clearanceNetworks: defaultClearanceNetworks,
};

/** Proof that a session passed a challenge. Kept in its record. */
export interface Clearance {
  /** Time of the pass, ms. */
  readonly atMs: number;
  /** The visitor's band at that moment, at worst `likely_automated`: it does not hold for a worse one. */
  readonly band: Band;
  /** The `userAgentHash` of the user agent that passed: another one is not cleared. */
  readonly userAgentHash: string;
  /** The networks it was used from, that of the pass first, as `networkMark` writes them: at most 16 of each family. */
  readonly networks: readonly number[];
}
