/**
 * Which pointer-path shingles a project has seen, and from which session: a fixed number of slots a project, the newest shingle
 * of a slot wins. Bounded by construction (about 6 MB of store a busy project), read and written inside the ingest transaction.
 */
import { limits } from "../limits.js";
import { shingleKey } from "../store/keys.js";
import type { Store } from "../store/store.js";

/** Notes the shingles of a batch; returns how many of them another session has shown. `session` names the session in 32 bits. */
export function noteShingles(store: Store, projectId: number, session: number, hashes: readonly number[]): number {
  let matches = 0;
  const value = Buffer.allocUnsafe(8);
  value.writeUInt32LE(session, 4);
  for (const hash of hashes) {
    const key = shingleKey(projectId, hash % limits.shingleSlotsMax);
    const held = store.shingles.getBinaryFast(key) as Buffer | undefined;
    if (held !== undefined && held.readUInt32LE(0) === hash) {
      // The first session that showed it keeps it: a replay must not pass for the original.
      if (held.readUInt32LE(4) !== session) matches++;
      continue;
    }
    value.writeUInt32LE(hash, 0);
    store.shingles.putSync(key, value);
  }
  return matches;
}
