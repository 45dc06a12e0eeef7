/**
 * Whether requests should be sent to this process, as `/readyz` says it at both addresses: every HTTP thread shows its own state on a board
 * that all of them read. Knows nothing of what the state is made of.
 */

/** What must be true for requests to be sent here. */
export interface Readiness {
  /** The store can be read. */
  readonly store: boolean;
  /** All scoring threads are up. */
  readonly workers: boolean;
  /** The server is stopping. */
  readonly draining: boolean;
}

/** Whether requests should be sent here; a server that stops is not ready though it still answers. */
export const isReady = ({ store, workers, draining }: Readiness): boolean => store && workers && !draining;

/** Memory of a board for so many HTTP threads. A thread that has not shown itself yet is not up. */
export function newReadinessBoard(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads);
}

const storeFlag = 1;
const workersFlag = 2;
const drainingFlag = 4;

/** The readiness of a process, from one of its HTTP threads. */
export class ProcessReadiness {
  readonly #board: Uint8Array;
  readonly #own: number;
  readonly #ownNow: () => Readiness;

  /** `own` is the thread's place on the board, `ownNow` its state at the time of asking. */
  constructor(board: SharedArrayBuffer, own: number, ownNow: () => Readiness) {
    this.#board = new Uint8Array(board);
    this.#own = own;
    this.#ownNow = ownNow;
  }

  /** Shows this thread's state to the others. Returns it. */
  show(): Readiness {
    const now = this.#ownNow();
    const { store, workers, draining } = now;
    const flags = (store ? storeFlag : 0) | (workers ? workersFlag : 0) | (draining ? drainingFlag : 0);
    Atomics.store(this.#board, this.#own, flags);
    return now;
  }

  /** Of all threads: this one as it is now, the others as they showed themselves last. */
  all(): Readiness {
    this.show();
    const seats = [...this.#board];
    return {
      store: seats.every((flags) => (flags & storeFlag) !== 0),
      workers: seats.every((flags) => (flags & workersFlag) !== 0),
      draining: seats.some((flags) => (flags & drainingFlag) !== 0),
    };
  }
}
