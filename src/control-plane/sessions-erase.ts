/** Erases a session and every row that names it. Counters of events stay: they name nobody. */
import { repeatsKey } from "../store/keys.js";
import { SessionCount } from "../store/session-count.js";
import type { Store } from "../store/store.js";
import { blocksOf, findSession, idempotencyRowsOf, type SessionPlace } from "./stored-session.js";

/** Rows that were erased, by table. */
export interface ErasedSession {
  readonly projectId: number;
  readonly sessions: number;
  readonly repeats: number;
  readonly blocks: number;
  readonly idempotency: number;
  readonly trails: number;
}

/**
 * Erases; null for an unknown token. A client that still sends it is a new visitor from then on. A running server may answer a cached
 * verdict of it until that expires. One transaction where the session lies in the main environment; otherwise its blocks go first, so that
 * it can be erased again when this is cut short.
 */
export async function eraseSession(store: Store, token: string): Promise<ErasedSession | null> {
  const place = findSession(store, token);
  if (place === null) return null;
  if (place.part.place === 0) {
    return store.root.childTransaction(() => {
      const rows = eraseRows(place);
      return rows === null ? null : { ...rows, blocks: eraseBlocks(store, place.projectId, token) };
    });
  }
  const blocks = await store.root.childTransaction(() => eraseBlocks(store, place.projectId, token));
  const rows = await place.part.root.childTransaction(() => eraseRows(place));
  // A server may have recorded some in between. From now on it finds no session, and drops them.
  const late = await store.root.childTransaction(() => eraseBlocks(store, place.projectId, token));
  return rows === null ? null : { ...rows, blocks: blocks + late };
}

/** Call inside a write transaction of the main environment. */
function eraseBlocks(store: Store, projectId: number, token: string): number {
  const blocks = blocksOf(store, projectId, token);
  for (const { id } of blocks) store.blocks.removeSync([projectId, id]);
  return blocks.length;
}

/** All but the blocks; null when the session is gone meanwhile. Call inside a write transaction of the session's environment. */
function eraseRows(place: SessionPlace): Omit<ErasedSession, "blocks"> | null {
  const { part, projectId, key } = place;
  if (!part.sessions.doesExist(key)) return null;
  const count = new SessionCount(part, projectId);
  const idempotency = idempotencyRowsOf(place);
  for (const row of idempotency) part.idempotency.removeSync(row);
  let repeats = 0;
  for (const generation of [0, 1] as const) if (part.repeats.removeSync(repeatsKey(key, generation))) repeats++;
  part.sessions.removeSync(key);
  count.add(-1);
  count.save();
  const trails = part.trails.removeSync(key) ? 1 : 0;
  return { projectId, sessions: 1, repeats, idempotency: idempotency.length, trails };
}
