/** What one HTTP thread gets at its start, and what all its services share. */
import type { Piscina } from "piscina";
import type { OutageLog } from "../cluster-store/outage-log.js";
import type { ServeConfig } from "../config/config.js";
import type { ThreadMeters } from "../metrics/thread-meters.js";
import type { Logger } from "../runtime/log.js";
import { DiskRoom } from "../store/disk-room.js";
import { type Store, TickReads } from "../store/store.js";
import type { SharedMemory } from "./shared-memory.js";

/** The resources that `http-thread.ts` opens before it builds services on them. */
export interface ThreadParts {
  readonly config: ServeConfig;
  readonly log: Logger;
  readonly store: Store;
  /** The scoring threads. */
  readonly pool: Piscina<Uint8Array, Uint8Array>;
  readonly meters: ThreadMeters;
  /** Of the process. */
  readonly isReady: () => boolean;
  readonly shared: SharedMemory;
  readonly outages: OutageLog;
}

/** What every service may use. */
export interface ThreadContext extends ThreadParts {
  /** The revision of the configuration, read once a tick. */
  readonly reads: TickReads;
  readonly disk: DiskRoom;
  readonly now: () => number;
  /** Logs a request that failed with 500. */
  readonly onFailure: (error: unknown, requestId: string) => void;
}

/** Made once a thread. */
export function threadContext(parts: ThreadParts): ThreadContext {
  const { config, log, store } = parts;
  const disk = new DiskRoom({
    dataDir: config.dataDir,
    now: () => performance.now(),
    onChange: (hasRoom, freeBytes) => {
      if (hasRoom) log.info({ freeBytes }, "the disk has room again: batches are accepted");
      else log.error({ freeBytes }, "the disk is almost full: batches are refused until there is room");
    },
  });
  return {
    ...parts,
    reads: new TickReads(store),
    disk,
    now: Date.now,
    onFailure: (err, requestId) => log.error({ err, requestId }, "request failed"),
  };
}
