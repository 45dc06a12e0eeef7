/** How V8 collects the garbage of all threads of a server. */
import { setFlagsFromString } from "node:v8";

/** Sets V8's flags for a process that serves, before its threads are started. Benches that run parts of a server in their own process do the same. */
export function tuneGarbageCollection(): void {
  // What is alive when a thread collects its young objects is small. Helpers would share that work, and the thread waits for the last of
  // them: on busy cores a verdict waited twice as long. See decision 022.
  setFlagsFromString("--no-parallel-scavenge");
  // V8 would allocate objects as old ones where a few collections in a row found them alive, as those of a group of batches on its way to
  // a cluster. Each would keep the young objects that it refers to until a full collection. See decision 032.
  setFlagsFromString("--no-allocation-site-pretenuring");
}
