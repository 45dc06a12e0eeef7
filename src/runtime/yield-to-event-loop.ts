/** Long work on the main thread lets other requests have their turn between its pieces. */

/** Resolves on the next tick of the event loop, after what is ready now was served. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
