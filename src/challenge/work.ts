/** How much work a challenge is for a session. Pure. */
import type { ChallengeDifficulty } from "../contract/challenge.js";
import type { Band } from "../contract/verdict.js";
import type { PuzzleWork } from "./puzzle.js";

/** Seconds on a phone of five years ago. */
const secondsOf: Readonly<Record<ChallengeDifficulty, number>> = { low: 0.3, normal: 1, high: 4 };

/**
 * Iterations for each counter. With fewer, the calls of Web Crypto cost more than their work, which only a browser pays for: as many iterations
 * in all took a page 1.7 times the processor time at 50 for each counter. With more, making a puzzle costs the server more: at 1,000 four times as
 * much, and the page saves nothing. Measured by `npm run bench -- --only challenge-pass` with other values here.
 */
const cost = 250;

/**
 * Counters a second that `challenge.js` tries on a phone of five years ago. Measured is a Chromium on a server's core (AMD EPYC): 8,000 to 13,000
 * a second of processor time (`npm run bench -- --only challenge-pass`). That such a phone is a sixth as fast is an estimate: none was measured.
 */
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
