/**
 * Whether a node may rely on its configuration: until when after it last heard of all changes, and why it hears of none. All threads of a process
 * share one state and the machine's monotonic clock.
 */
import { limits } from "../../limits.js";

/** The shared memory behind `ConfigState`; can be posted to other threads. */
export function newConfigState(): SharedArrayBuffer {
  return new SharedArrayBuffer(16);
}

/** Why a node can't follow the configuration, with the text that callers read then. The first applies until a reason is known. */
const faults = {
  unreachable: "this node is cut off from the configuration of its cluster; ask again, or another node",
  unacknowledged:
    "too few replicas of the cluster acknowledge the configuration, so that a failover could undo what is answered; " +
    "ask again once a replica is back",
  other:
    "this node is cut off from its configuration: the cluster is another one now, or has lost its rows; the log says more",
  refused: "the cluster refuses what this node asks of its configuration; the log says why",
  silent: "the cluster does not answer: ask again",
} as const;

/** Why the configuration can't be followed. */
export type ConfigFault = keyof typeof faults;

const faultNames = Object.keys(faults) as ConfigFault[];

const msOf = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** The follower renews it. Every thread calls `fault` before it answers from the configuration. */
export class ConfigState {
  /** When the lease ends, ms; then the number of the fault. */
  readonly #cells: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer = newConfigState()) {
    this.#cells = new BigInt64Array(memory);
  }

  /** The current time by the clock that `renew` uses. */
  get nowMs(): number {
    return msOf();
  }

  /** The node has all changes that were made before it asked at `askedMs`. */
  renew(askedMs: number): void {
    Atomics.store(this.#cells, 1, 0n);
    Atomics.store(this.#cells, 0, BigInt(askedMs + limits.configLeaseMs));
  }

  /** The node could not ask, for this reason. Callers read it once the lease has run out. */
  fail(fault: ConfigFault): void {
    Atomics.store(this.#cells, 1, BigInt(faultNames.indexOf(fault)));
  }

  /** How long ago the node last asked and had all changes, ms; 0 if it has not yet, or no longer follows them. */
  get ageMs(): number {
    const until = Number(Atomics.load(this.#cells, 0));
    return until === 0 ? 0 : Math.max(0, msOf() - until + limits.configLeaseMs);
  }

  /** From now on nothing may rely on the configuration. */
  end(): void {
    Atomics.store(this.#cells, 0, 0n);
  }

  /** Returns why nothing may be answered from the configuration; `null` means that it is the one that all nodes have. */
  get fault(): string | null {
    if (Number(Atomics.load(this.#cells, 0)) > msOf()) return null;
    return faults[faultNames[Number(Atomics.load(this.#cells, 1))] ?? "unreachable"];
  }
}
