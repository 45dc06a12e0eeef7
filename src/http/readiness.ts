/**
 * Whether requests should be sent to this process, as `/readyz` says at both addresses. Every HTTP thread writes its own state to a shared board that
 * all threads read. It does not know how the state is determined.
 */

/** The conditions for sending requests here. */
export interface Readiness {
  /** The store can be read. */
  readonly store: boolean;
  /** All scoring threads are up. */
  readonly workers: boolean;
  /** The server is stopping. */
  readonly draining: boolean;
  /** With a cluster: this node can reach it, or nobody can; and it is as `serve` demands. */
  readonly cluster?: boolean;
}

/** Whether requests should be sent here; a server that stops is not ready though it still answers. */
export const isReady = ({ store, workers, draining, cluster = true }: Readiness): boolean =>
  store && workers && !draining && cluster;

/** Returns the memory of a board for this many HTTP threads. A thread that has not written yet is not up. */
export function newReadinessBoard(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads);
}

const storeFlag = 1;
const workersFlag = 2;
const drainingFlag = 4;
const clusterLostFlag = 8;

/** The readiness of a process, from one of its HTTP threads. */
export class ProcessReadiness {
  readonly #board: Uint8Array;
  readonly #own: number;
  readonly #ownNow: () => Readiness;

  /** `own` is the thread's position on the board; `ownNow` returns its current state. */
  constructor(board: SharedArrayBuffer, own: number, ownNow: () => Readiness) {
    this.#board = new Uint8Array(board);
    this.#own = own;
    this.#ownNow = ownNow;
  }

  /** Writes this thread's state to the board, and returns it. */
  show(): Readiness {
    const now = this.#ownNow();
    const { store, workers, draining, cluster } = now;
    const flags =
      (store ? storeFlag : 0) |
      (workers ? workersFlag : 0) |
      (draining ? drainingFlag : 0) |
      (cluster === false ? clusterLostFlag : 0);
    Atomics.store(this.#board, this.#own, flags);
    return now;
  }

  /** The state of all threads: this one's current state, and the last written state of the others. */
  all(): Readiness {
    const { cluster } = this.show();
    const seats = [...this.#board];
    return {
      store: seats.every((flags) => (flags & storeFlag) !== 0),
      workers: seats.every((flags) => (flags & workersFlag) !== 0),
      draining: seats.some((flags) => (flags & drainingFlag) !== 0),
      ...(cluster !== undefined && { cluster: !seats.some((flags) => (flags & clusterLostFlag) !== 0) }),
    };
  }
}
