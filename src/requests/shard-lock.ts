/**
 * The lock of a shard of memory that all HTTP threads of a process share: one word, which is 0 or holds since when. No thread sleeps on it, and a holder
 * that died is taken over. What it left half changed is begun anew.
 */

/** Looks at a lock before it is given up: some 20 us. A thread holds it for about one, unless it was stopped; nobody waits for it then. */
const looksMax = 1000;
/** ms after which whoever holds a lock is taken for dead. */
const deadMs = 1000;

/**
 * How many shards so many HTTP threads need, a power of two: few enough that a thread finds their ends, where it writes, in its processor's cache (64
 * shards cost a thread that is alone 0.3 to 1 us a request more than 8), and so many that threads seldom meet.
 */
export function shardsFor(threads: number): number {
  return Math.min(64, 2 ** Math.ceil(Math.log2(8 * threads)));
}

/** A thread that was taken for dead went on and wrote into what another had begun anew. */
export class BrokenShard extends Error {}

/** Milliseconds as such memory holds them: modulo 2^32, so that differences of less than 24 days are right. Never 0. */
export function clock(nowMs: number): number {
  return Math.floor(nowMs % 0x1_0000_0000) | 0 || 1;
}

/** One thread's hand on the lock. */
export class ShardLock {
  readonly #words: Int32Array;
  readonly #begin: () => void;

  /** The lock is the first of `words`, and `begin` makes the rest of the shard empty. */
  constructor(words: Int32Array, begin: () => void) {
    this.#words = words;
    this.#begin = begin;
  }

  /** Takes the lock at `mark`, a time of `clock`. False: it could not be had in time. */
  take(mark: number): boolean {
    for (let look = 0; look < looksMax; look++) {
      const held = Atomics.compareExchange(this.#words, 0, 0, mark);
      if (held === 0) return true;
      if (Math.abs((mark - held) | 0) < deadMs) continue;
      if (Atomics.compareExchange(this.#words, 0, held, mark) !== held) continue;
      this.#begin();
      return true;
    }
    return false;
  }

  /** Begins a shard anew that was found broken; throws what is no `BrokenShard`. */
  mend(error: unknown): void {
    if (!(error instanceof BrokenShard)) throw error;
    this.#begin();
  }

  /** Leaves a lock that was taken at `mark`; it is another thread's by now if this one was stopped for longer than a dead one is waited for. */
  leave(mark: number): void {
    Atomics.compareExchange(this.#words, 0, mark, 0);
  }
}
