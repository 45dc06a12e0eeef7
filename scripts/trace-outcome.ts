/** What a recorded session comes to. */
import type { Trace } from "./trace-sessions.js";

/** Bands at the default threshold of 30. */
export const botScoreMax = 29;
export const confidentScoreMax = 15;

export interface Outcome {
  readonly trace: Trace;
  readonly score: number;
  readonly detectionIds: readonly number[];
  /** What the score would be without a detection. */
  readonly scoreWithout: (id: number) => number;
}
