/** Calls of the customer's own functions. TypeScript takes an asynchronous one for one that returns nothing, and what it rejects with would end the process. */

/** Calls a function whose result nobody needs. `onFailure` gets what it throws or, if it is asynchronous, rejects with. */
export function callHook(hook: () => unknown, onFailure: (cause: unknown) => void): void {
  try {
    const result = hook();
    if (isPromise(result)) result.then(undefined, onFailure);
  } catch (cause) {
    onFailure(cause);
  }
}

/** For what a synchronous function returned against its type: if it is a promise, nobody waits for it, and nothing comes of its rejection. */
export function leavePromise(value: unknown): void {
  callHook(
    () => value,
    () => {},
  );
}

/** Whether a value is a promise, of any library. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
