/**
 * The write transactions of scoring workers. What a commit waits for is what an acknowledged batch survives: with `power-loss` the
 * disk; with `process` only the kernel, and the disk follows in the background (`flusher.ts`).
 */
import type { Durability } from "../contract/scoring-worker.js";
import type { Store } from "./store.js";
import type { WriteMarker } from "./write-watch.js";

/**
 * Flags of lmdb's `transactionSync`: abortable, committed on return, not waiting for the flush. With `overlappingSync` LMDB keeps the
 * last flushed state apart until a newer one is flushed, so a power cut at worst loses the last moments and corrupts nothing.
 */
const committedNotFlushed = 1 | 2 | 0x10000;

export class GroupWriter {
  readonly #store: Store;
  readonly #durability: Durability;
  readonly #marker: WriteMarker;

  constructor(store: Store, durability: Durability, marker: WriteMarker) {
    this.#store = store;
    this.#durability = durability;
    this.#marker = marker;
  }

  /** Runs `work` in one write transaction and returns its result once it is committed; undone when `work` throws. */
  write<T>(work: () => T): T {
    const { root } = this.#store;
    const marked = (): T => this.#marker.holding(work);
    if (this.#durability === "power-loss") return this.#marker.asking(() => root.transactionSync(marked));
    return this.#marker.asking(() => root.transactionSync(marked, committedNotFlushed as number));
  }
}
