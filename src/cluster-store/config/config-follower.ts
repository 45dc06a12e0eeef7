/**
 * Keeps a node's mirror up to date, and says to the others that it is: woken by the cluster at each change, and often enough anyway for the
 * lease to last. One thread of a node does this for all of them.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ClusterError } from "../../cluster/cluster-error.js";
import { limits } from "../../limits.js";
import type { ConfigMirror } from "./config-mirror.js";
import type { ConfigFault, ConfigState } from "./config-state.js";
import { type ConfigTruth, OtherClusterError } from "./config-truth.js";

/** What the follower keeps up to date, and who hears of faults. */
export interface FollowerParts {
  readonly mirror: ConfigMirror;
  readonly truth: ConfigTruth;
  readonly state: ConfigState;
  /** Told why the cluster can't be followed, each kind of fault once until it can be again; then null. */
  readonly onFault: (error: unknown | null) => void;
}

/** Between two tries where the cluster can't be followed: longer each time. */
const pauseMsMin = 100;
const pauseMsMax = 1000;

/** One a node; `onFault` hears of faults, and it goes on until `stop`. */
export class ConfigFollower {
  readonly #parts: FollowerParts;
  /** Anew at each start: what an earlier one said is not of this one. */
  readonly #node = randomUUID();
  #beats = 0;
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Resolves once the mirror is up to date and other nodes wait for this one. Throws `ClusterError` and `OtherClusterError`. */
  async start(): Promise<void> {
    await this.#catchUp();
    this.#running = this.#follow();
  }

  /** Others don't wait for this node any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    this.#parts.state.end();
    // Where that fails they wait until the lease has run out.
    await this.#parts.truth.leave(this.#node).catch(() => {});
  }

  async #follow(): Promise<void> {
    const told = new Set<ConfigFault>();
    let pauseMs = pauseMsMin;
    while (!this.#isStopping) {
      // Where blocking is not possible, as while a master is being replaced, it asks now and then.
      await this.#parts.truth
        .changeAfter(this.#parts.mirror.position().revision, limits.configBeatMs)
        .catch(() => delay(pauseMs));
      if (this.#isStopping) return;
      try {
        // A node that can't apply changes must not go on saying that it is there: all others would wait for it.
        if (told.size > 0) await this.#parts.mirror.catchUp();
        await this.#catchUp();
        if (told.size > 0) this.#parts.onFault(null);
        told.clear();
        pauseMs = pauseMsMin;
      } catch (error) {
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

  /** Applies all changes, and says with each question which it has applied. */
  async #catchUp(): Promise<void> {
    const { mirror, state } = this.#parts;
    for (;;) {
      const askedMs = state.nowMs;
      const before = mirror.position();
      const isLatest = await mirror.step({ node: this.#node, beat: ++this.#beats }, limits.configLeaseMs);
      if (isLatest) state.renew(askedMs);
      const after = mirror.position();
      // Once more after each change: others wait to hear that it has been applied.
      if (isLatest && after.revision === before.revision && after.change === before.change) return;
    }
  }
}

function faultOf(error: unknown): ConfigFault {
  if (error instanceof OtherClusterError) return "other";
  if (!(error instanceof ClusterError)) return "unreachable";
  const { reason } = error;
  return reason === "unacknowledged" || reason === "refused" ? reason : "unreachable";
}
