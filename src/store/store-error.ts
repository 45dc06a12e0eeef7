/** The error of everything about the store that whoever runs verdictd can put right. */

/** The store can't be opened or used as it is; `message` says what to do about it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
