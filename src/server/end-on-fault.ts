/**
 * Ends the process when a thread meets an error that nothing handles. Node would end the thread alone; what it leaves open of the HTTP server then stops
 * the process by an assertion of libuv, which says nothing of the error.
 */
import type { Logger } from "../runtime/log.js";

/** Call once in each HTTP thread of a program. Acknowledged batches are in the store; the service manager starts the process again. */
export function endOnFault(log: Logger): void {
  process.on("uncaughtException", (err) => {
    log.fatal({ err }, "an HTTP thread failed: ending the process; restart it");
    // An orderly exit would wait for the thread, or tear it down.
    process.kill(process.pid, "SIGKILL");
  });
}
