/**
 * Whether a session's verdict stands: so much was seen of its visitor, and nothing of it counts against him, that more of the same would not change it.
 * The answer to a batch then lets the SDK send its batches less often.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { F, type SessionFeatures } from "../engines/session-features.js";

/**
 * Least score. It rises from 60 with what is seen of a visitor, and whatever has a weight takes it below 60 (`engines/score.ts`): 95 says that nothing
 * fired, and that there were some 700 steps of a pointer, 140 keys, or as much together.
 */
const scoreMin = 95;
/** Batches, the one at hand among them: some half a minute of a page. */
const batchesMin = 8;
/** Events after which the batches follow each other as usual: a page, a form, keys, whatever was found out about the browser. */
const telling = /^(page|form|key|env|timing)$/;

/** By the score before this batch, and by what the batch brought. */
export function isSteady(score: number, { numbers }: SessionFeatures, events: readonly IngestEvent[]): boolean {
  return score >= scoreMin && numbers[F.batches]! >= batchesMin && !events.some(({ type }) => telling.test(type));
}
