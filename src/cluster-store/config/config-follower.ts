/**
 * Keeps a node's mirror up to date and reports that to the other nodes. The cluster wakes it at each change, and it also asks often enough to keep
 * the lease. One thread of a node does this for all its threads.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ClusterError } from "../../cluster/cluster-error.js";
import { limits } from "../../limits.js";
import { type ConfigMirror, isSame } from "./config-mirror.js";
import type { ConfigFault, ConfigState } from "./config-state.js";
import { type ConfigTruth, OtherClusterError } from "./config-truth.js";

/** What the follower keeps up to date, and where it reports faults. */
interface FollowerParts {
  readonly mirror: ConfigMirror;
  readonly truth: ConfigTruth;
  readonly state: ConfigState;
  /** Called with why the cluster can't be followed, once for each kind of fault until it recovers; then with null. */
  readonly onFault: (error: unknown | null) => void;
}

/** Pauses between two tries while the cluster can't be followed: each is longer than the last. */
const pauseMsMin = 100;
const pauseMsMax = 1000;

/** One per node. It reports faults to `onFault` and runs until `stop`. */
export class ConfigFollower {
  readonly #parts: FollowerParts;
  /** New at each start: reports of an earlier start do not count for this one. */
  readonly #node = randomUUID();
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> | null = null;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Resolves once the mirror is up to date and other nodes wait for this one. Throws `ClusterError` and `OtherClusterError`. */
  async start(): Promise<void> {
    await this.#catchUp();
    this.#running = this.#follow();
    this.#timer = setInterval(() => this.#report(), limits.configBeatMs);
  }

  /** Tells other nodes not to wait for this node any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    clearInterval(this.#timer);
    await this.#reporting;
    this.#parts.state.end();
    // If that fails, they wait until the lease has run out.
    await this.#parts.truth.leave(this.#node).catch(() => {});
  }

  /** Reports that the node runs: while it can't follow it still serves, and nobody may take the migrated store back into use. */
  #report(): void {
    this.#reporting ??= this.#parts.truth
      .reportServing({ node: this.#node, beat: ++this.#beats })
      .catch(() => {})
      .finally(() => {
        this.#reporting = null;
      });
  }

  async #follow(): Promise<void> {
    const told = new Set<ConfigFault>();
    let pauseMs = pauseMsMin;
    while (!this.#stopping.signal.aborted) {
      try {
        // When it can't block, for example while a master is being replaced, it polls.
        await this.#parts.truth
          .changeAfter(this.#parts.mirror.position().revision, limits.configBeatMs)
          .catch(() => delay(pauseMs));
        if (this.#stopping.signal.aborted) return;
        // A node that can't apply changes must stop reporting that it is there, or all other nodes would wait for it.
        if (told.size > 0) await this.#parts.mirror.catchUp();
        await this.#catchUp();
        if (told.size > 0) this.#parts.onFault(null);
        told.clear();
        pauseMs = pauseMsMin;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        const fault = faultOf(error);
        if (!told.has(fault)) this.#parts.onFault(error);
        told.add(fault);
        const isSilent = fault === "unreachable" && !(await this.#parts.truth.isThere());
        this.#parts.state.fail(isSilent ? "silent" : fault);
        await delay(pauseMs);
        pauseMs = Math.min(2 * pauseMs, pauseMsMax);
      }
    }
  }

  /** Applies all changes, and reports with each question which it has applied. */
  async #catchUp(): Promise<void> {
    const { mirror, state } = this.#parts;
    for (;;) {
      const askedMs = state.nowMs;
      const before = mirror.position();
      const isLatest = await mirror.step({ node: this.#node, beat: ++this.#beats }, {}, this.#stopping.signal);
      if (isLatest) state.renew(askedMs);
      const after = mirror.position();
      // Asks once more after each change: other nodes wait to hear that it has been applied.
      if (isLatest && isSame(after, before)) return;
    }
  }
}

function faultOf(error: unknown): ConfigFault {
  if (error instanceof OtherClusterError) return "other";
  if (!(error instanceof ClusterError)) return "unreachable";
  const { reason } = error;
  return reason === "unacknowledged" || reason === "refused" ? reason : "unreachable";
}
