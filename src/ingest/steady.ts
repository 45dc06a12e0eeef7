/**
 * Whether a session's verdict stands: so much was seen of its visitor, and nothing of it counts against him, that more of the same would not change it.
 * The answer to a batch then lets the SDK send its batches less often.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { F, type SessionFeatures } from "../engines/session-features.js";

/** `firm`: more of the same would change nothing. `likely`: hardly anything. */
export type Standing = "firm" | "likely";

/**
 * Least score. It rises from 60 with what is seen of a visitor, and whatever has a weight takes it below 60 (`engines/score.ts`): so nothing fired, and
 * 95 says that there were some 700 steps of a pointer, 140 keys, or as much together, 80 a third of that.
 */
const scoresMin: Readonly<Record<Standing, number>> = { firm: 95, likely: 80 };
/** Batches, the one at hand among them: some half a minute of a page, and the first ten seconds. */
const batchesMin: Readonly<Record<Standing, number>> = { firm: 8, likely: 5 };
/**
 * Events after which the batches follow each other as usual: a page, a form, whatever was found out about the browser. Not keys: the first input into a form
 * is sent at once, and so is its submission with all that was typed.
 */
const telling = /^(page|form|env|timing)$/;

/** By the score before this batch, and by what the batch brought; undefined: the verdict may still change. */
export function standingOf(
  score: number,
  { numbers }: SessionFeatures,
  events: readonly IngestEvent[],
): Standing | undefined {
  if (score < scoresMin.likely || events.some(({ type }) => telling.test(type))) return undefined;
  const batches = numbers[F.batches]!;
  if (score >= scoresMin.firm && batches >= batchesMin.firm) return "firm";
  return batches >= batchesMin.likely ? "likely" : undefined;
}
