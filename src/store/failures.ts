/** What goes wrong with a store: what whoever runs verdictd can put right, and commits that fail in the background. */

/** The store can't be opened or used as it is; `message` says what to do about it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/**
 * Another process with this process's number has the store open: one in another PID namespace, as a second container has it. LMDB knows readers by
 * that number, so this process can't read; one with another number can.
 */
export class NumberTakenError extends StoreError {}

/**
 * Whether a rejection comes from LMDB: a failed commit, or its cause (LMDB's codes are numbers, Node's are texts). Besides the caller's promise,
 * lmdb-js rejects promises of its own that nobody can handle; unhandled, they would end the process when the disk is full.
 */
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
