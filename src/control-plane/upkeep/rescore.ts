/** Scores stored sessions with the current catalogue, after an upgrade or a new detection. */
import { scoreSession } from "../../engines/score-session.js";
import { hasKnownLayout, unpackFeatures } from "../../engines/session-features.js";
import { limits } from "../../limits.js";
import { decodeSession, encodeSession } from "../../store/session-record.js";
import type { Store } from "../../store/store.js";
import { rowsOf } from "../../store/store-size.js";

/** The result of a run; `sessions` includes the changed and the skipped ones. */
interface Rescored {
  /** Number of sessions visited. */
  readonly sessions: number;
  /** Number of sessions with a new score. */
  readonly changed: number;
  /** Number of unchanged sessions that were never scored, or have evidence that this version can't read. */
  readonly left: number;
}

/**
 * Scores every stored session again, a few hundred per transaction, while a server may run. Calls `onProgress` with the number of visited sessions, and
 * of all sessions.
 */
export async function rescoreSessions(
  store: Store,
  onProgress: (done: number, total: number) => void,
): Promise<Rescored> {
  const result = { sessions: 0, changed: 0, left: 0 };
  const total = rowsOf(store.sessions);
  let start: Buffer | undefined;
  for (;;) {
    const range = { limit: limits.sweepRowsMax, ...(start !== undefined && { start }) };
    const keys = [...store.sessions.getKeys(range)];
    if (keys.length === 0) return result;
    await store.root.transaction(() => {
      for (const key of keys) {
        const outcome = rescore(store, key);
        if (outcome !== "gone") result.sessions++;
        if (outcome === "changed") result.changed++;
        if (outcome === "left") result.left++;
      }
    });
    onProgress(result.sessions, total);
    start = Buffer.concat([keys.at(-1)!, Buffer.alloc(1)]);
  }
}

/** Call inside a write transaction. */
function rescore(store: Store, key: Buffer): "changed" | "same" | "left" | "gone" {
  const bytes = store.sessions.getBinary(key);
  if (bytes === undefined) return "gone";
  const record = rescored(bytes);
  if (record === "same" || record === "left") return record;
  store.sessions.putSync(key, record);
  return "changed";
}

/** A stored session's record, scored by the present catalogue; "same" when it stays, "left" when it can't be scored. */
export function rescored(bytes: Buffer): Buffer | "same" | "left" {
  const record = decodeSession(bytes);
  // Scored without its history, a session would be forgiven.
  if (record === null || !record.state.scored || !hasKnownLayout(record.features)) return "left";
  const features = unpackFeatures(record.features, 0, record.features.length);
  if (features === null) return "left";
  const { state } = record;
  const before = { score: state.score, ids: state.detectionIds.join() };
  scoreSession(state, features);
  if (state.score === before.score && state.detectionIds.join() === before.ids) return "same";
  return encodeSession(record);
}
