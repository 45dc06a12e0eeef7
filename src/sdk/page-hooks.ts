/**
 * How the SDK touches the page: guarded callbacks, passive listeners and timers, all undone by one call.
 * Whatever goes wrong inside ends here: the page must never see an error of the SDK.
 */

/** The SDK's hold on the page. */
export interface PageHooks {
  /** Listens passively, in the capture phase; the handler's errors are swallowed. */
  listen<E extends Event>(target: EventTarget, types: string, handler: (event: E) => void): void;
  /** `setTimeout` with a guarded callback; undone by `release`. Returns the timer's id. */
  later(handler: () => void, ms: number): number;
  /** Undoes everything. */
  release(): void;
}

/** Runs `task`; undefined when it throws. */
export function attempt<T>(task: () => T): T | undefined {
  try {
    return task();
  } catch {
    return undefined;
  }
}

/** Resolves in a task of its own, so that the page's input and frames come in between; at once in a hidden page, whose timers are slow. */
export async function nextTask(): Promise<void> {
  if (!document.hidden) await new Promise((resolve) => setTimeout(resolve));
}

/** Takes hold of the page. */
export function holdPage(): PageHooks {
  const undo: (() => void)[] = [];
  let released = false;
  return {
    listen(target, types, handler) {
      const guarded = (event: Event) => {
        if (!released) attempt(() => handler(event as never));
      };
      for (const type of types.split(" ")) {
        const options = { capture: true, passive: true };
        target.addEventListener(type, guarded, options);
        undo.push(() => target.removeEventListener(type, guarded, options));
      }
    },
    later: (handler, ms) =>
      setTimeout(() => {
        if (!released) attempt(handler);
      }, ms) as unknown as number,
    release() {
      released = true;
      for (const each of undo) attempt(each);
    },
  };
}
