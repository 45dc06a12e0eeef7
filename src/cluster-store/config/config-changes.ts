/**
 * Changes of the configuration where it lies in a cluster: each is tried on the mirror, made in the cluster if nobody was faster, and
 * answered once every node that is there has it.
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
  /** Null: it wrote nothing. */
  readonly revision: number | null;
}

/** Changes of one thread, one after another. Rejects with `UnavailableError`, whose text says whether the change was made. */
export class ClusterChanges implements ConfigChanges {
  /** One after another: those of one thread would only be in each other's way. */
  #latest: Promise<unknown> = Promise.resolve();

  /** `fault` says why this node must not change anything now, or null. */
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
      const outcome = await reaching(notKnown, () =>
        this.truth.change(base, `${id}.${round}`, { rows, logged }, left(endMs)),
      );
      if (outcome === "full") throw new UnavailableError(full);
      if (outcome === "unknown") throw new UnavailableError(notKnown);
      const consequence = outcome === "conflict" ? notMade : made;
      await reaching(consequence, () => this.mirror.catchUp(left(endMs)));
      if (outcome !== "conflict") return { result, revision: outcome.revision };
    }
    throw new UnavailableError("too many changes are being made at once: ask again");
  }

  /**
   * Until every node has this revision. One that says nothing for longer than its lease refuses to answer from its configuration by then. How
   * long it is silent is seen here, by this machine's monotonic clock: an expiry in the cluster would be by the wall clock of its
   * masters, and end early where a failover leads to one that is ahead.
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

/** What the cluster answers; when it does not, an `UnavailableError` that says what became of the change. */
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
