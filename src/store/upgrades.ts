/** The steps that bring an older store to the tables and records of this build, one for each schema version after the first. */
import { replayBucketSlots, replayKeys } from "./keys.js";
import type { SessionTables } from "./session-store.js";
import type { Store } from "./store.js";

/** Brings a store from schema `to - 1` to `to`. */
export interface Upgrade {
  readonly to: number;
  /** Runs inside a write transaction together with the other steps: a thrown error undoes all of them. */
  readonly apply: (store: Store) => void;
  /** The same in an environment that holds sessions beside the main one; absent: there is nothing to change. */
  readonly applyToSessions?: (part: SessionTables) => void;
}

/** What a build reads and writes. */
export interface Schema {
  readonly version: number;
  /** Ordered by `to`, without a gap up to `version`. */
  readonly upgrades: readonly Upgrade[];
}

/** Shingles of pointer paths, a row each until now, move into buckets. Both are in the order of project and slot. */
const bucketsOfShingles: Upgrade = {
  to: 2,
  apply: ({ shingles, replays }) => {
    let open: { readonly projectId: number; readonly number: number; readonly bytes: Buffer } | null = null;
    const close = (): void => {
      if (open !== null) replays.putSync(replayKeys.bucket(open.projectId, open.number), open.bytes);
    };
    for (const { key, value } of shingles.getRange({})) {
      const projectId = key.readUInt32BE(0);
      const slot = key.readUInt32BE(4);
      const number = Math.floor(slot / replayBucketSlots);
      if (open === null || open.projectId !== projectId || open.number !== number) {
        close();
        open = { projectId, number, bytes: Buffer.alloc(8 * replayBucketSlots) };
      }
      open.bytes.set(value.subarray(0, 8), 8 * (slot % replayBucketSlots));
    }
    close();
    shingles.clearSync();
  },
};

/** This build's. Raise the version together with a step in `upgrades`. */
export const currentSchema: Schema = { version: 2, upgrades: [bucketsOfShingles] };
