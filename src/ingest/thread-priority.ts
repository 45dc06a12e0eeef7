/** Sets the priority of scoring threads: on a full machine a verdict must not wait for scoring. */
import { setPriority } from "node:os";
import { limits } from "../limits.js";

/** Lowers the priority of the calling thread (Linux only; on other systems it would affect the whole process, so nothing is done). */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(limits.scoringNiceness);
  } catch {
    // A hardened service may forbid it; then the kernel shares evenly.
  }
}
