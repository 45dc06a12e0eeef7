/** Scores a session's features into its scored state: on ingest, and again when the catalogue has changed. */
import { agentDetections } from "../contract/bots/agents.js";
import type { ScoredState } from "../contract/sessions/session.js";
import { combine, runEngines } from "./score.js";
import { F, type SessionFeatures, T } from "./session-features.js";

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

/**
 * Notes in `features` since when reports show an agent: call it after `scoreSession` with what the state said before. What was known then already, as by
 * an earlier build, keeps its time or goes without one.
 */
export function noteAgent(
  { agentMarks, detectionIds, lastSeenMs }: ScoredState,
  { numbers: n }: SessionFeatures,
  before: { readonly agentMarks: string | undefined; readonly detectionIds: readonly number[] },
): void {
  const { acting } = agentDetections;
  if (agentMarks !== undefined && before.agentMarks === undefined) n[F.agentMarkedMs] = lastSeenMs;
  if (n[F.agentActedMs] === 0 && detectionIds.includes(acting) && !before.detectionIds.includes(acting)) {
    n[F.agentActedMs] = lastSeenMs;
  }
}

/** When reports first showed an agent by these means, ms; 0: never, or before times were stored. */
export type AgentTimes = Readonly<Record<"marked" | "behavior", number>>;

/** What `noteAgent` noted. */
export function agentTimes({ numbers: n }: SessionFeatures): AgentTimes {
  return { marked: n[F.agentMarkedMs]!, behavior: n[F.agentActedMs]! };
}
