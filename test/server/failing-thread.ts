/** A program with a thread that ends it by an error that nothing handles. */
import { isMainThread, Worker } from "node:worker_threads";
import { createLog } from "../../src/runtime/log.js";
import { endOnFault } from "../../src/server/end-on-fault.js";

if (isMainThread) {
  new Worker(new URL(import.meta.url));
  // Ends after the test has failed, should the thread not end it.
  setTimeout(() => process.exit(0), 60_000);
} else {
  endOnFault(createLog("info", "http-1"));
  setTimeout(() => {
    throw new Error("out of the blue");
  }, 1);
}
