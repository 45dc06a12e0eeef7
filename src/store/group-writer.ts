/**
 * The write transactions of scoring workers. An acknowledged batch survives a killed process as soon as its commit is visible. LMDB flushes it
 * all the same before `transactionSync` returns, once a group of batches; with `power-loss` that is what counts.
 */
import type { Durability } from "../contract/scoring-worker.js";
import type { Store } from "./store.js";
import type { WriteMarker } from "./write-watch.js";

/**
 * Flags of lmdb's `transactionSync`: abortable, committed on return, visible before the flush. With `overlappingSync` LMDB keeps the
 * last flushed state apart until a newer one is flushed, so a power cut corrupts nothing; other threads write while this one flushes.
 * `mdb_txn_commit` does that flush itself: nothing is left to do in the background.
 */
const visibleBeforeFlush = 1 | 2 | 0x10000;

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
    return this.#durability === "power-loss"
      ? this.#marker.asking(() => root.transactionSync(marked))
      : this.#marker.asking(() => root.transactionSync(marked, visibleBeforeFlush as number));
  }
}
