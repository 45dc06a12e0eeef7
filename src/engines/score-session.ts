/** Scores a session's features into its scored state: on ingest, and again when the catalogue has changed. */
import type { ScoredState } from "../contract/session.js";
import { combine, runEngines } from "./score.js";
import type { SessionFeatures } from "./session-features.js";

/** Sets scores and detections of `verdict`; leaves the rest of it alone. */
export function scoreSession(verdict: ScoredState, features: SessionFeatures): void {
  const results = runEngines(features, verdict.last);
  const combined = combine(results);
  verdict.engineScores = {
    heuristics: results.heuristics.score,
    js_detection: results.js_detection.score,
    behavioral: results.behavioral.score,
  };
  verdict.score = combined.score;
  verdict.detectionIds = combined.detectionIds;
  verdict.scored = true;
}
