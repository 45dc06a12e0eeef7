/** What a scoring thread of one host commits with, in the test's own process. */
import { Credentials } from "../../src/auth/credentials.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import type { commitToLmdb } from "../../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import type { Store } from "../../src/store/store.js";
import { newWriteCounts, WriteMarker } from "../../src/store/write-watch.js";

type Thread = Parameters<typeof commitToLmdb>[0];

/** A thread of its own with each call: an open store may have several. `context` is what differs from a usual one. */
export function lmdbThread(store: Store, context: Partial<Thread["context"]> = {}): Thread {
  return {
    unit: new LmdbUnitOfWork(store),
    writer: new GroupWriter(store, "process", new WriteMarker(newWriteCounts())),
    context: {
      credentials: new Credentials(store),
      plans: defaultPlans,
      ipStorage: "full" as const,
      sessionsMax: 1e6,
      mint: new TokenMint(),
      ...context,
    },
    onFired: () => {},
  };
}
