/**
 * The write transactions of scoring workers. What a commit waits for is what an acknowledged batch survives. With `power-loss` nobody
 * sees a commit before it is on the disk. With `process` all see it at once and its flush, which lets others write meanwhile, ends
 * before `write` returns: lmdb-js has no safe commit that does not flush. So no flush of ours is needed, and none may be: a thread
 * that ends during one takes the process with it (SIGSEGV in lmdb-js).
 */
import type { Durability } from "../contract/configuration/scoring-worker.js";
import { visibleBeforeFlush } from "./environment.js";
import type { Tables as AllTables } from "./tables.js";
import type { WriteMarker } from "./write-watch.js";

/** One per scoring thread. It blocks the thread until the commit is as durable as configured. */
export class GroupWriter {
  readonly #store: AllTables;
  readonly #durability: Durability;
  readonly #marker: WriteMarker;

  constructor(store: AllTables, durability: Durability, marker: WriteMarker) {
    this.#store = store;
    this.#durability = durability;
    this.#marker = marker;
  }

  /** Runs `work` in one write transaction and returns its result once it is committed; undone when `work` throws. */
  write<T>(work: () => T): T {
    const { root } = this.#store;
    const marked = (): T => this.#marker.holding(work);
    if (this.#durability === "power-loss") return this.#marker.asking(() => root.transactionSync(marked));
    return this.#marker.asking(() => root.transactionSync(marked, visibleBeforeFlush));
  }
}
