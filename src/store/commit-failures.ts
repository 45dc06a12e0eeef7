/**
 * Commits that fail in the background: besides the promise that the caller has, lmdb-js rejects promises of its own that nobody can
 * get hold of. Left alone they end the process, on a full disk of all things.
 */

/** Whether what a promise was rejected with is LMDB's: a failed commit, or its cause (their codes are numbers, Node's are text). */
function isCommitFailure(reason: unknown): boolean {
  return reason instanceof Error && ("commitError" in reason || ("code" in reason && typeof reason.code === "number"));
}

/**
 * Tells `onFailure` of failed commits whose promise nobody handles, in this thread, until the returned function is called. Any other
 * unhandled rejection ends the process as it would without.
 */
export function surviveCommitFailures(onFailure: (reason: unknown) => void): () => void {
  const listen = (reason: unknown): void => {
    if (!isCommitFailure(reason)) throw reason;
    onFailure(reason);
  };
  process.on("unhandledRejection", listen);
  return () => process.off("unhandledRejection", listen);
}
