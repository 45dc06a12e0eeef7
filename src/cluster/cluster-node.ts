/** One node with its connections. They open when they are first needed, and open again after a loss with growing pauses. */
import type { ClusterError } from "./cluster-error.js";
import type { ClusterMeters } from "./cluster-meters.js";
import { Connection, type ConnectionOptions, type Lane } from "./connection.js";
import type { NodeAddress } from "./slots.js";

const pauseMsMin = 20;
const pauseMsMax = 1000;

interface LaneState {
  connection: Connection | undefined;
  /** When it may be opened again. */
  notBeforeMs: number;
  pauseMs: number;
  wasLost: boolean;
}

/** One per node that the topology knows; one connection per lane. */
export class ClusterNode {
  readonly #lanes = new Map<Lane, LaneState>();
  /** Why a connection was last lost. */
  lastError: ClusterError | undefined;

  constructor(
    readonly address: NodeAddress,
    private readonly options: ConnectionOptions,
    private readonly meters: ClusterMeters,
    private readonly onLost: (node: ClusterNode) => void,
  ) {}

  /** The connection of this lane, open or opening; `undefined` during the pause after a loss. */
  connection(lane: Lane): Connection | undefined {
    let state = this.#lanes.get(lane);
    if (state === undefined) {
      state = { connection: undefined, notBeforeMs: 0, pauseMs: pauseMsMin, wasLost: false };
      this.#lanes.set(lane, state);
    }
    return state.connection ?? this.#open(lane, state);
  }

  /** Whether this lane has a connection or may open one now. */
  isAvailable(lane: Lane): boolean {
    const state = this.#lanes.get(lane);
    return state === undefined || state.connection !== undefined || performance.now() >= state.notBeforeMs;
  }

  get isIdle(): boolean {
    return [...this.#lanes.values()].every(({ connection }) => connection?.isIdle ?? true);
  }

  /** Ends the connection of this lane, unless something has arrived within `silentMs`. */
  dropIfSilent(lane: Lane, silentMs: number, why: string): void {
    this.#lanes.get(lane)?.connection?.dropIfSilent(silentMs, why);
  }

  close(): void {
    for (const { connection } of this.#lanes.values()) connection?.close();
  }

  #open(lane: Lane, state: LaneState): Connection | undefined {
    if (performance.now() < state.notBeforeMs) return undefined;
    if (state.wasLost) this.meters.reconnects++;
    // The server answers a blocking command only when it has news. One that misses its deadline ends the connection.
    const options = lane === "blocking" ? { ...this.options, silenceMs: 2 ** 31 - 1 } : this.options;
    let opened: Connection | undefined;
    opened = new Connection(this.address, lane, options, this.meters, (error) => {
      const wasReady = opened?.wasReady ?? false;
      state.connection = undefined;
      if (error === undefined) return;
      this.lastError = error;
      this.meters.connectionLosses++;
      state.wasLost = true;
      state.pauseMs = wasReady ? pauseMsMin : Math.min(state.pauseMs * 2, pauseMsMax);
      // Random pauses keep all nodes and threads from reconnecting at once to a server that comes back.
      state.notBeforeMs = performance.now() + state.pauseMs * (0.5 + Math.random() / 2);
      this.onLost(this);
    });
    state.connection = opened;
    return opened;
  }
}
