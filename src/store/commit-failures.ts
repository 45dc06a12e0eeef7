/**
 * Handles commits that fail in the background. Besides the caller's promise, lmdb-js rejects promises of its own that nobody can handle. Unhandled, they
 * would end the process when the disk is full.
 */

/** Whether a rejection comes from LMDB: a failed commit, or its cause (LMDB's codes are numbers, Node's are texts). */
function isCommitFailure(reason: unknown): boolean {
  return reason instanceof Error && ("commitError" in reason || ("code" in reason && typeof reason.code === "number"));
}

/**
 * Calls `onFailure` for failed commits with an unhandled promise in this thread, until the returned function is called. Any other unhandled rejection
 * still ends the process.
 */
export function surviveCommitFailures(onFailure: (reason: unknown) => void): () => void {
  const listen = (reason: unknown): void => {
    if (!isCommitFailure(reason)) throw reason;
    onFailure(reason);
  };
  process.on("unhandledRejection", listen);
  return () => process.off("unhandledRejection", listen);
}
