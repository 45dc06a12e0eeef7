/** Erases a session and every row that names it. Counters of events stay: they name nobody. */
import { repeatsKey } from "../store/keys.js";
import { SessionCount } from "../store/session-count.js";
import type { Store } from "../store/store.js";
import { blocksOf, findSession, idempotencyRowsOf } from "./stored-session.js";

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
 * Erases in one transaction; null for an unknown token. A client that still sends it is a new visitor from then on. A running
 * server may answer a cached verdict of it until that expires.
 */
export async function eraseSession(store: Store, token: string): Promise<ErasedSession | null> {
  return store.root.childTransaction(() => {
    const place = findSession(store, token);
    if (place === null) return null;
    const { projectId, key } = place;
    const count = new SessionCount(store, projectId);
    const blocks = blocksOf(store, projectId, token);
    for (const { id } of blocks) store.blocks.removeSync([projectId, id]);
    const idempotency = idempotencyRowsOf(store, place);
    for (const row of idempotency) store.idempotency.removeSync(row);
    let repeats = 0;
    for (const generation of [0, 1] as const) if (store.repeats.removeSync(repeatsKey(key, generation))) repeats++;
    store.sessions.removeSync(key);
    count.add(-1);
    count.save();
    const trails = store.trails.removeSync(key) ? 1 : 0;
    return { projectId, sessions: 1, repeats, blocks: blocks.length, idempotency: idempotency.length, trails };
  });
}
