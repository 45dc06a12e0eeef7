/**
 * Changes the configuration in a cluster. Each change is tried on the mirror first, then made in the cluster if no other change came first, and
 * answered once every running node has it.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ClusterError } from "../../cluster/cluster-error.js";
import { UnavailableError } from "../../errors.js";
import { limits } from "../../limits.js";
import type { ConfigChanges } from "../../store/store.js";
import { troubleOf } from "../fault-line.js";
import type { ConfigMirror } from "./config-mirror.js";
import { type ConfigPosition, type ConfigTruth, OtherClusterError, type SeenNode } from "./config-truth.js";

interface Made<T> {
  readonly result: T;
  /** The state that it made; `null` means that it wrote nothing. */
  readonly position: ConfigPosition | null;
}

/** Makes the changes of one thread one after another. Rejects with an `UnavailableError` that says whether the change was made. */
export class ClusterChanges implements ConfigChanges {
  /** One after another, because changes of the same thread would only conflict with each other. */
  #latest: Promise<unknown> = Promise.resolve();

  /** `fault` returns why this node must not change anything now, or null. */
  constructor(
    private readonly mirror: ConfigMirror,
    private readonly truth: ConfigTruth,
    private readonly fault: () => string | null = () => null,
  ) {}

  async run<T>(change: () => T): Promise<T> {
    const endMs = performance.now() + limits.configChangeMs;
    const making = this.#latest.then(() => this.#make(change, endMs));
    this.#latest = making.catch(() => {});
    const { result, position } = await making;
    if (position !== null) await this.#awaitNodes(position, endMs);
    return result;
  }

  async #make<T>(change: () => T, endMs: number): Promise<Made<T>> {
    const id = randomUUID();
    for (let round = 0; round < limits.configRoundsMax; round++) {
      const fault = this.fault();
      if (fault !== null) throw new UnavailableError(fault);
      const { base, result, rows, logged } = await this.mirror.tryChange(change);
      if (rows.length === 0 && logged.length === 0) return { result, position: null };
      const changeId = `${id}.${round}`;
      const outcome = await reaching(notKnown, () => this.truth.change(base, changeId, { rows, logged }, left(endMs)));
      if (outcome === "full") throw new UnavailableError(full);
      if (outcome === "copying") throw new UnavailableError(copying);
      if (outcome === "unknown") throw new UnavailableError(notKnown);
      const catchUp = () => this.mirror.catchUp({ askMs: left(endMs), readMs: left(endMs) });
      if (outcome === "conflict") await reaching(notMade, catchUp);
      else {
        const position = { cluster: base.cluster, revision: outcome.revision, change: changeId };
        // Not read back from the cluster: after a large change that would be all rows.
        if (!(await this.mirror.load(base, position, rows))) await reaching(made, catchUp);
        return { result, position };
      }
    }
    throw new UnavailableError("too many changes are being made at once: ask again");
  }

  /**
   * Waits until every node has this state, which a failover must not undo meanwhile: then others would have its revision. A node that is silent for
   * longer than its lease has stopped answering from its configuration by then. This machine's monotonic clock measures the silence. An expiry in the
   * cluster would follow the wall clocks of its masters, and would come early after a failover to a master with a clock that is ahead.
   */
  async #awaitNodes(position: ConfigPosition, endMs: number): Promise<void> {
    const silentMs = limits.configLeaseMs + limits.configLeaseSlackMs;
    const since = new Map<string, { readonly text: string; readonly seenMs: number }>();
    const gone = new Map<string, SeenNode>();
    const sayMs = performance.now() + limits.clusterSilentMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
      const nodes = await reaching(made, () => this.truth.nodes(gone, left(endMs)));
      const nowMs = performance.now();
      gone.clear();
      const behind = [...nodes].filter(([, seen]) => seen.revision < position.revision);
      for (const [node, seen] of behind) {
        const first = since.get(node);
        if (first?.text !== seen.text) since.set(node, { text: seen.text, seenMs: nowMs });
        else if (nowMs - first.seenMs > silentMs) gone.set(node, seen);
      }
      if (behind.length === gone.size) {
        if (gone.size > 0) await reaching(made, () => this.truth.nodes(gone, left(endMs)));
        if (await reaching(made, () => this.truth.isKept(position, left(endMs)))) return;
        throw new UnavailableError(undone);
      }
      if (nowMs > sayMs) this.truth.waits("not all of its nodes have the change yet");
      if (nowMs > endMs) throw new UnavailableError(`${made}: ${nodesOf(behind.length)} not taken it yet`);
      await delay(pauseMs);
    }
  }
}

const notMade = "the change was not made";
const notKnown = "it is not known whether the change was made";
const made = "the change was made, but it is not known whether all nodes have it";
const undone = `a failover may have undone the change: ${notKnown}`;
const copying = `a store is being copied into the cluster: ${notMade}`;
const full = `the configuration may have ${limits.configBytesMax} bytes, and has no room for this change`;

function nodesOf(count: number): string {
  return count === 1 ? "1 node has" : `${count} nodes have`;
}

function left(endMs: number): number {
  return Math.max(1, endMs - performance.now());
}

/** Returns the cluster's answer. If there is none, throws an `UnavailableError` that says whether the change was made. */
async function reaching<T>(consequence: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof ClusterError || cause instanceof OtherClusterError)) throw cause;
    const hasNoEffect = cause instanceof OtherClusterError || cause.outcome !== "unknown";
    const what = consequence === notKnown && hasNoEffect ? notMade : consequence;
    const trouble = cause instanceof OtherClusterError ? "the cluster is another one now" : troubleOf(cause);
    throw new UnavailableError(`${trouble}: ${what}`, { cause, consequence: what });
  }
}
