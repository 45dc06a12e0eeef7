/**
 * Brings commits to the disk that did not wait for it. It runs in the HTTP thread and not in the scoring threads that commit: when a
 * thread ends, lmdb-js closes its environment under a flush that is still running, and the process dies of that (SIGSEGV).
 */
import type { Store } from "./store.js";

/** What lmdb-js has and its types leave out: a flush on a thread of its own. */
interface Flushing {
  readonly env: { readonly sync: ((done: (error: Error | null) => void) => void) | null };
}

export class Flusher {
  readonly #store: Store;
  #isFlushing = false;
  #isUnflushed = false;
  #isClosed = false;
  #closed: (() => void) | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Call after commits of any thread. They are flushed one flush after the other, each for all that was committed before it. */
  wake(): void {
    this.#isUnflushed = true;
    this.#flush();
  }

  /** Resolves when no flush is running; none begins any more. Closing the store flushes what is left. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#isFlushing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#closed = resolve;
    });
  }

  #flush(): void {
    const { env } = this.#store.root as unknown as Flushing;
    if (this.#isFlushing || this.#isClosed || !this.#isUnflushed || env.sync === null) return;
    this.#isFlushing = true;
    this.#isUnflushed = false;
    env.sync(() => {
      this.#isFlushing = false;
      this.#closed?.();
      this.#flush();
    });
  }
}
