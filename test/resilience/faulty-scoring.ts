/**
 * A scoring worker with faults, for tests alone: the real entry, but a batch whose body names a fault suffers it. No program of
 * verdictd loads it; a test passes it to `startServers`.
 */

import { workerData } from "piscina";
import type { ScoringWorkerData } from "../../src/contract/configuration/scoring-worker.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import { openStore } from "../../src/store/open-store.js";
import { WriteMarker } from "../../src/store/write-watch.js";
import { commitFrame as realCommitFrame, type TaskAnswer } from "../../workers/scoring.js";

const { dataDir, durability, writeCounts } = workerData as ScoringWorkerData;

/** What can go wrong outside of a transaction; each never returns. */
const faults: Readonly<Record<string, () => never>> = {
  "/fault/exit": () => process.exit(3),
  "/fault/throw-later": () => {
    setImmediate(() => {
      throw new Error("thrown outside of any task");
    });
    return loop(() => true);
  },
  "/fault/memory": () => {
    const held: unknown[] = [];
    return loop(() => {
      held.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
      return false;
    });
  },
  "/fault/loop": () => loop(() => false),
};

/** Loops until `isDone`; ending without a result is a fault of its own. */
function loop(isDone: () => boolean): never {
  for (;;) if (isDone()) throw new Error("the task failed");
}

export function commitFrame(frame: Uint8Array<ArrayBuffer>): TaskAnswer {
  const text = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString("latin1");
  for (const [name, suffer] of Object.entries(faults)) {
    if (text.includes(`"${name}"`)) suffer();
    if (text.includes(`"${name}/locked"`)) {
      new GroupWriter(openStore(dataDir), durability, new WriteMarker(writeCounts)).write(suffer);
    }
  }
  return realCommitFrame(frame);
}
