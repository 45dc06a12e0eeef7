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
import { type ConfigTruth, OtherClusterError, type SeenNode } from "./config-truth.js";

interface Made<T> {
  readonly result: T;
  /** `null` means that it wrote nothing. */
  readonly revision: number | null;
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
    const { result, revision } = await making;
    if (revision !== null) await this.#awaitNodes(revision, endMs);
    return result;
  }

  async #make<T>(change: () => T, endMs: number): Promise<Made<T>> {
    const id = randomUUID();
    for (let round = 0; round < limits.configRoundsMax; round++) {
      const fault = this.fault();
      if (fault !== null) throw new UnavailableError(fault);
      const { base, result, rows, logged } = await this.mirror.tryChange(change);
      if (rows.length === 0 && logged.length === 0) return { result, revision: null };
      const changeId = `${id}.${round}`;
      const outcome = await reaching(notKnown, () => this.truth.change(base, changeId, { rows, logged }, left(endMs)));
      if (outcome === "full") throw new UnavailableError(full);
      if (outcome === "unknown") throw new UnavailableError(notKnown);
      const isMade = outcome !== "conflict";
      // Not read back from the cluster: a large change would mean to read all rows.
      const isLoaded =
        isMade && (await this.mirror.load(base, { ...base, revision: outcome.revision, change: changeId }, rows));
      if (!isLoaded) {
        await reaching(isMade ? made : notMade, () => this.mirror.catchUp({ askMs: left(endMs), readMs: left(endMs) }));
      }
      if (isMade) return { result, revision: outcome.revision };
    }
    throw new UnavailableError("too many changes are being made at once: ask again");
  }

  /**
   * Waits until every node has this revision. A node that is silent for longer than its lease has stopped answering from its configuration by then.
   * This machine's monotonic clock measures the silence. An expiry in the cluster would follow the wall clocks of its masters, and would come early
   * after a failover to a master with a clock that is ahead.
   */
  async #awaitNodes(revision: number, endMs: number): Promise<void> {
    const silentMs = limits.configLeaseMs + limits.configLeaseSlackMs;
    const since = new Map<string, { readonly text: string; readonly seenMs: number }>();
    const gone = new Map<string, SeenNode>();
    const sayMs = performance.now() + limits.clusterSilentMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
      const nodes = await reaching(made, () => this.truth.nodes(gone, left(endMs)));
      const nowMs = performance.now();
      gone.clear();
      const behind = [...nodes].filter(([, seen]) => seen.revision < revision);
      for (const [node, seen] of behind) {
        const first = since.get(node);
        if (first?.text !== seen.text) since.set(node, { text: seen.text, seenMs: nowMs });
        else if (nowMs - first.seenMs > silentMs) gone.set(node, seen);
      }
      if (behind.length === gone.size) {
        if (gone.size > 0) await reaching(made, () => this.truth.nodes(gone, left(endMs)));
        return;
      }
      if (nowMs > sayMs) this.truth.waits("not all of its nodes have the change yet");
      if (nowMs > endMs) throw new UnavailableError(`${made}: ${behind.length} nodes have not taken it yet`);
      await delay(pauseMs);
    }
  }
}

const notMade = "the change was not made";
const notKnown = "it is not known whether the change was made";
const made = "the change was made, but it is not known whether all nodes have it";
const full = `the configuration may have ${limits.configBytesMax} bytes, and has no room for this change`;

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
    throw new UnavailableError(`${trouble}: ${what}`, { cause });
  }
}
