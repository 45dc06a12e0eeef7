/**
 * Whether a node's configuration can be relied upon: until how long after it last heard of all changes. One for all threads of a
 * process, by the machine's monotonic clock, which they share.
 */
import { limits } from "../limits.js";

/** Of what `ConfigState` is made; can be posted to other threads. */
export function newConfigState(): SharedArrayBuffer {
  return new SharedArrayBuffer(8);
}

const msOf = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** The follower renews it; every thread asks `fault` before it answers from the configuration. */
export class ConfigState {
  /** ms until which the lease lasts. */
  readonly #until: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer = newConfigState()) {
    this.#until = new BigInt64Array(memory);
  }

  /** Now, by the clock of `renew`. */
  get nowMs(): number {
    return msOf();
  }

  /** The node has all changes that had been made when it asked at `askedMs`. */
  renew(askedMs: number): void {
    Atomics.store(this.#until, 0, BigInt(askedMs + limits.configLeaseMs));
  }

  /** How long ago the node last asked and had all changes, ms; 0 when it has not yet, or follows them no more. */
  get ageMs(): number {
    const until = Number(Atomics.load(this.#until, 0));
    return until === 0 ? 0 : Math.max(0, msOf() - until + limits.configLeaseMs);
  }

  /** From now on it can't be relied upon. */
  end(): void {
    Atomics.store(this.#until, 0, 0n);
  }

  /** Why nothing must be answered from the configuration; null: it is what all nodes have. */
  get fault(): string | null {
    if (Number(Atomics.load(this.#until, 0)) > msOf()) return null;
    return "this node is cut off from the configuration of its cluster; ask again, or another node";
  }
}
