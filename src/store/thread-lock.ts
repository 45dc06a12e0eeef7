/**
 * Locks by name that the threads of one process share, kept by lmdb-js beside an open environment; they are not stored. A thread that ends gives
 * back what it held. Another process on the same store has locks of its own.
 */
import type { Store } from "./store.js";

/** What lmdb-js 3.5 has and does not declare (its `read.js`). */
interface LockingTable {
  tryLock(name: string): boolean;
  unlock(name: string): boolean;
}

/** Takes the lock and returns what gives it back; null while somebody has it, this thread as well. */
export function tryLock(store: Store, name: string): (() => void) | null {
  const table = store.meta as unknown as LockingTable;
  return table.tryLock(name) ? () => void table.unlock(name) : null;
}
