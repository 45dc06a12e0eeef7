/**
 * Whether a thread hangs in, or died in, a write transaction. LMDB's write lock then stays taken for every thread and process until
 * this process ends: a terminated thread can't give it back (lmdb-js blocks in its own clean-up). Counts only, in shared memory.
 */

/** Places of the counts: transactions asked for, begun, their work ended, and over. */
const asked = 0;
const begun = 1;
const ended = 2;
const over = 3;

const countsOfLock = 4;

/** Shared by the threads of one pool; `locks` is how many environments they write into. */
export function newWriteCounts(locks = 1): SharedArrayBuffer {
  return new SharedArrayBuffer(locks * countsOfLock * Int32Array.BYTES_PER_ELEMENT);
}

/** The side of a thread that writes into an environment, by its number. A thread that dies in what it runs here leaves its count open. */
export class WriteMarker {
  readonly #counts: Int32Array;

  constructor(counts: SharedArrayBuffer, lock = 0) {
    this.#counts = countsOf(counts, lock);
  }

  /** Runs what waits for the lock, holds it and commits. */
  asking<T>(transaction: () => T): T {
    return this.#counted(asked, over, transaction);
  }

  /** Runs what holds the lock. */
  holding<T>(work: () => T): T {
    return this.#counted(begun, ended, work);
  }

  #counted<T>(before: number, after: number, run: () => T): T {
    Atomics.add(this.#counts, before, 1);
    try {
      return run();
    } finally {
      Atomics.add(this.#counts, after, 1);
    }
  }
}

function countsOf(counts: SharedArrayBuffer, lock: number): Int32Array {
  return new Int32Array(counts, lock * countsOfLock * Int32Array.BYTES_PER_ELEMENT, countsOfLock);
}

/** The side that watches. */
export class WriteWatch {
  readonly #locks: readonly LockWatch[];

  constructor(counts: SharedArrayBuffer) {
    const locks = counts.byteLength / (countsOfLock * Int32Array.BYTES_PER_ELEMENT);
    this.#locks = Array.from({ length: locks }, (_, lock) => new LockWatch(countsOf(counts, lock)));
  }

  /** Call at regular intervals: for how many of them in a row one and the same transaction has been at work. */
  tick(): number {
    return Math.max(...this.#locks.map((lock) => lock.tick()));
  }

  /** Whether no thread has a lock or waits for one: only then may one be terminated. */
  get isQuiet(): boolean {
    return this.#locks.every((lock) => lock.isQuiet);
  }
}

class LockWatch {
  readonly #counts: Int32Array;
  #begun = 0;
  #ended = 0;
  #unchanged = 0;

  constructor(counts: Int32Array) {
    this.#counts = counts;
  }

  tick(): number {
    const begunNow = Atomics.load(this.#counts, begun);
    const endedNow = Atomics.load(this.#counts, ended);
    const isSame = begunNow === this.#begun && endedNow === this.#ended && begunNow !== endedNow;
    this.#unchanged = isSame ? this.#unchanged + 1 : 0;
    this.#begun = begunNow;
    this.#ended = endedNow;
    return this.#unchanged;
  }

  get isQuiet(): boolean {
    return Atomics.load(this.#counts, asked) === Atomics.load(this.#counts, over);
  }
}
