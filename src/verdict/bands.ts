/** Turns engine scores into a band. Computed when a verdict is read, so a new threshold applies without scoring again. */

import type { EngineName } from "../contract/evidence/evidence.js";
import type { ScoredState } from "../contract/sessions/session.js";
import type { Band } from "../contract/verdicts/verdict.js";

/** A band that depends on scores alone; `verified` needs a proof and `not_computed` means that there is no score. */
export type ScoredBand = Exclude<Band, "not_computed" | "verified">;

/** Strongest bot evidence first. */
const strength: readonly ScoredBand[] = ["definite", "confident_automated", "likely_automated", "likely_human"];

/**
 * Band of a score of 1 to 99 for threshold T of 1 to 99: `definite` up to max(1, T/6), `confident_automated` up to T/2,
 * `likely_automated` below T. T = 30: 1-5, 6-15, 16-29.
 */
export function bandOfScore(score: number, threshold: number): ScoredBand {
  if (score >= threshold) return "likely_human";
  if (score <= Math.max(1, Math.floor(threshold / 6))) return "definite";
  if (score <= Math.floor(threshold / 2)) return "confident_automated";
  return "likely_automated";
}

/** Returns the band of a session. JS detection is non-enforcing: on its own it leads to no band below `likely_automated`. */
export function bandOf(
  scores: Readonly<Record<EngineName, number | null>>,
  score: number,
  threshold: number,
): ScoredBand {
  const band = bandOfScore(score, threshold);
  if (scores.js_detection === null || band === "likely_human") return band;
  const others = bandOfScore(Math.min(scores.heuristics ?? 99, scores.behavioral ?? 99), threshold);
  return strength[
    Math.max(strength.indexOf(band), Math.min(strength.indexOf(others), strength.indexOf("likely_automated")))
  ]!;
}

/** Returns the band of a stored session by its events: `not_computed` until it has been scored. */
export function bandOfSession(
  { scored, engineScores, score }: Pick<ScoredState, "scored" | "engineScores" | "score">,
  threshold: number,
): ScoredBand | "not_computed" {
  return scored ? bandOf(engineScores, score, threshold) : "not_computed";
}
