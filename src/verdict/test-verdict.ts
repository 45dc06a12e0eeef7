/** What test keys put in the place of what was found out about a visitor. Pure. */

import type { TestOutcome } from "../contract/configuration/test-keys.js";
import type { ProjectSettings, ScoredState } from "../contract/sessions/session.js";
import type { Band } from "../contract/verdicts/verdict.js";
import { bandOfSession, type ScoredBand } from "./bands.js";

const scores: Readonly<Record<TestOutcome, (threshold: number) => number>> = {
  human: () => 99,
  bot: () => 1,
  challenge: (threshold) => Math.max(1, threshold - 1),
  refused: (threshold) => Math.max(1, threshold - 1),
};

/** The engines' results that the project's test keys always give; null where it was asked for by keys of its own. */
export function testScores({ testOutcome, likelyBotThreshold }: ProjectSettings) {
  if (testOutcome === undefined) return null;
  const score = scores[testOutcome](likelyBotThreshold);
  return { engineScores: { heuristics: score, js_detection: null, behavioral: score }, score, detectionIds: [] };
}

const bandsAtPass: Readonly<Record<TestOutcome, ScoredBand>> = {
  human: "likely_human",
  bot: "definite",
  challenge: "likely_automated",
  refused: "definite",
};

/** The band by which a session passes a challenge or is refused: its own, or that of the test keys. */
export function bandForPass(project: ProjectSettings, state: ScoredState): Band {
  const { testOutcome, likelyBotThreshold } = project;
  return testOutcome === undefined ? bandOfSession(state, likelyBotThreshold) : bandsAtPass[testOutcome];
}
