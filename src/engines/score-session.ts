/** Scores a session's features into its scored state: on ingest, and again when the catalogue has changed. */
import type { ScoredState } from "../contract/sessions/session.js";
import { combine, runEngines } from "./score.js";
import { type SessionFeatures, T } from "./session-features.js";

/** Sets scores and detections of `state`; leaves its other fields unchanged. */
export function scoreSession(state: ScoredState, features: SessionFeatures): void {
  const results = runEngines(features, state.last);
  const combined = combine(results);
  state.engineScores = {
    heuristics: results.heuristics.score,
    js_detection: results.js_detection.score,
    behavioral: results.behavioral.score,
  };
  state.score = combined.score;
  state.detectionIds = combined.detectionIds;
  state.scored = true;
  const marks = features.texts[T.agentMarks]!;
  if (marks !== "") state.agentMarks = marks;
}
