/**
 * Whether a thread hangs in, or died in, a write transaction. LMDB's write lock then stays taken for every thread and process until
 * this process ends: a terminated thread can't give it back (lmdb-js blocks in its own clean-up). Counts only, in shared memory.
 */

/** Positions of the counts: transactions asked for, begun, their work ended, and over. */
const asked = 0;
const begun = 1;
const ended = 2;
const over = 3;

/** Shared by the threads of one pool. */
export function newWriteCounts(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);
}

/** The side of a thread that writes. A thread that dies in what it runs here leaves its count open. */
export class WriteMarker {
  readonly #counts: Int32Array;

  constructor(counts: SharedArrayBuffer) {
    this.#counts = new Int32Array(counts);
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

/** The side that watches. */
export class WriteWatch {
  readonly #counts: Int32Array;
  #begun = 0;
  #ended = 0;
  #unchanged = 0;

  constructor(counts: SharedArrayBuffer) {
    this.#counts = new Int32Array(counts);
  }

  /** Call at regular intervals: for how many of them in a row one and the same transaction has been at work. */
  tick(): number {
    const begunNow = Atomics.load(this.#counts, begun);
    const endedNow = Atomics.load(this.#counts, ended);
    const isSame = begunNow === this.#begun && endedNow === this.#ended && begunNow !== endedNow;
    this.#unchanged = isSame ? this.#unchanged + 1 : 0;
    this.#begun = begunNow;
    this.#ended = endedNow;
    return this.#unchanged;
  }

  /** Whether no thread has the lock or waits for it: only then may one be terminated. */
  get isIdle(): boolean {
    return Atomics.load(this.#counts, asked) === Atomics.load(this.#counts, over);
  }
}
