/** How much work a challenge is for a session. Pure. */
import type { ChallengeDifficulty } from "../contract/challenge.js";
import type { Band } from "../contract/verdict.js";
import type { PuzzleWork } from "./puzzle.js";

/** Seconds on a phone of five years ago. */
const secondsOf: Readonly<Record<ChallengeDifficulty, number>> = { low: 0.3, normal: 1, high: 4 };

/**
 * Iterations for each counter. With fewer, the call of Web Crypto takes longer than its work, which only a browser pays for and no program;
 * with more, making a puzzle costs the server more.
 */
const cost = 250;

/** Counters a second that `challenge.js` tries on a phone of five years ago (`bench/challenge`). */
const countersPerSecond = 1600;

/** The counter lies this far from its mean at most: what a visitor waits varies little. */
const spread = 0.2;

/** Half of it for sessions that score above the threshold, twice for those in the two bands of confident automation. */
function factorOf(band: Band, score: number, threshold: number): number {
  if (band === "definite" || band === "confident_automated") return 2;
  return score > threshold ? 0.5 : 1;
}

/** The work for a session of this band and score (0: not computed) in a project with this threshold. */
export function workOf(difficulty: ChallengeDifficulty, band: Band, score: number, threshold: number): PuzzleWork {
  const mean = secondsOf[difficulty] * factorOf(band, score, threshold) * countersPerSecond;
  return { cost, counterMin: Math.round(mean * (1 - spread)), counterMax: Math.round(mean * (1 + spread)) };
}
