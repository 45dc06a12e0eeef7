/** How much work a challenge is for a session. Pure. */
import type { ChallengeDifficulty } from "../contract/verdicts/challenge.js";
import type { Band } from "../contract/verdicts/verdict.js";
import { type PuzzleWork, puzzlesPerChallenge } from "./puzzle.js";

/** Seconds on a phone of five years ago. */
const secondsOf: Readonly<Record<ChallengeDifficulty, number>> = { low: 0.3, normal: 1, high: 4 };

/**
 * Iterations for each counter. With fewer, the calls of Web Crypto cost more than their work, which only a browser pays for: a program without one
 * pays for the same work 0.5 of the processor time of a page's worker at 250, 0.7 at 1,000, 0.97 at 2,000 and 0.91 to 0.94 at 4,000 (measured on a busy
 * machine, so roughly; the last two after a first challenge, in which the browser also pays for its start). With more, making a challenge costs the
 * server more. `npm run bench -- --only challenge-pass` measures it with other values here.
 */
const cost = 2000;

/**
 * Counters a second that `challenge.js` tries on a phone of five years ago. Measured is a Chromium on a server's core (AMD EPYC): 1,700 to 2,200
 * a second of processor time (`npm run bench -- --only challenge-pass`). That such a phone is a sixth as fast is an estimate: none was measured.
 */
const countersPerSecond = 340;

/** Half of it for sessions that score above the threshold, twice for those in the two bands of confident automation. */
function factorOf(band: Band, score: number, threshold: number): number {
  if (band === "definite" || band === "confident_automated") return 2;
  return score > threshold ? 0.5 : 1;
}

/** The work of each puzzle for a session of this band and score (0: not computed) in a project with this threshold. */
export function workOf(difficulty: ChallengeDifficulty, band: Band, score: number, threshold: number): PuzzleWork {
  const counters = secondsOf[difficulty] * factorOf(band, score, threshold) * countersPerSecond;
  // Of `counterMax + 1` counters, half are tried in the mean.
  return { cost, counterMax: Math.max(1, Math.round((2 * counters) / puzzlesPerChallenge) - 1) };
}
