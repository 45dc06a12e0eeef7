/**
 * Whether a session's verdict stands: so much was seen of its visitor, and nothing of it counts against him, that more of the same would not change it.
 * The answer to a batch then lets the SDK send its batches less often.
 */
import type { IngestEvent } from "../contract/events/events.js";
import type { ScoredState } from "../contract/sessions/session.js";
import { F, type SessionFeatures } from "../engines/session-features.js";

/** `firm`: more of the same would change nothing. `likely`: hardly anything. */
export type Standing = "firm" | "likely";

/**
 * Least score. It rises from 60 with what is seen of a visitor, and whatever has a weight takes it below 60 (`engines/score.ts`): so nothing with a weight
 * fired, and 95 says that there were some 700 steps of a pointer, 140 keys, or as much together, 80 a third of that.
 */
const scoresMin: Readonly<Record<Standing, number>> = { firm: 95, likely: 80 };
/** Batches, the one at hand among them: some half a minute of a page, and the first ten seconds. */
const batchesMin: Readonly<Record<Standing, number>> = { firm: 8, likely: 5 };
/**
 * Events after which the batches follow each other as usual: a page, a form, whatever was found out about the browser. Keys only until the verdict is firm:
 * the first input into a form is sent at once, and so is its submission with all that was typed, but not what a script sends without one.
 */
const telling: Readonly<Record<Standing, RegExp>> = {
  firm: /^(page|form|env|timing)$/,
  likely: /^(page|form|env|timing|key)$/,
};
/** Ids of the signs of an agent (`detections/behavioral-agents.ts`, `behavioral-agent-forms.ts` and `behavioral-agent-touches.ts`): most have no weight, and one more of them names it. */
const agentSigns = { from: 300_600, below: 300_700 };

/** By the score and the detections before this batch, and by what the batch brought; undefined: the verdict may still change. */
export function standingOf(
  { score, detectionIds }: Pick<ScoredState, "score" | "detectionIds">,
  { numbers }: SessionFeatures,
  events: readonly IngestEvent[],
): Standing | undefined {
  const batches = numbers[F.batches]!;
  if (score < scoresMin.likely || batches < batchesMin.likely) return undefined;
  const standing = score >= scoresMin.firm && batches >= batchesMin.firm ? "firm" : "likely";
  if (events.some(({ type }) => telling[standing].test(type))) return undefined;
  return detectionIds.some((id) => id >= agentSigns.from && id < agentSigns.below) ? undefined : standing;
}
