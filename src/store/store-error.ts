/** The error of everything about the store that whoever runs verdictd can put right. */

/** The store can't be opened or used as it is; `message` says what to do about it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/**
 * Another process with this process's number has the store open: one in another PID namespace, as a second container has it. LMDB knows readers by
 * that number, so this process can't read; one with another number can.
 */
export class NumberTakenError extends StoreError {}
