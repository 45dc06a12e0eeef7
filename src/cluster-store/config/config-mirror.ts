/**
 * A node's mirror of the cluster's configuration: its state, how it catches up with the latest, and what a change would write on it. Any thread or
 * process on the same folder may update it; each starts from the state that it found.
 */
import { setTimeout as delay } from "node:timers/promises";
import { limits } from "../../limits.js";
import type { ConfigRow } from "../../store/config-rows.js";
import { type MirroredTables, mirroredTableNames, type RecordedChange } from "../../store/mirrored-tables.js";
import { raiseRevision, type Store } from "../../store/store.js";
import type { ConfigPosition, ConfigRead, ConfigTruth, Followed, NodeBeat } from "./config-truth.js";

const positionKey = "position";

/** A row of the table `mirror`. */
interface StoredPosition extends ConfigPosition {
  /** The mirrored tables. A build that mirrors others besides reads all rows again. */
  readonly tables: string;
}

/** A change that was tried on the mirror: the state that it was tried on, its result, and what it would write. */
interface TriedChange<T> extends RecordedChange<T> {
  readonly base: ConfigPosition;
}

/** ms: how long small questions, and a read of all rows, may take. */
interface StepDeadlines {
  readonly askMs?: number;
  readonly readMs?: number;
}

/** One per thread or command; several may share a folder. */
export class ConfigMirror {
  constructor(
    readonly store: Store,
    private readonly tables: MirroredTables,
    private readonly truth: ConfigTruth,
    /** Id of the cluster. */
    private readonly cluster: string,
  ) {}

  /** The current state of the mirror. */
  position(): ConfigPosition {
    this.store.root.resetReadTxn();
    return this.#read();
  }

  /** Runs `change` on the mirror, and undoes what that wrote. */
  tryChange<T>(change: () => T): Promise<TriedChange<T>> {
    return this.store.root.abortedTransaction(() => ({ base: this.#read(), ...this.tables.record(change) }));
  }

  /** Applies a change that was made in the cluster on `base`. Returns false if another thread or process has changed the mirror meanwhile. */
  load(base: ConfigPosition, position: ConfigPosition, rows: readonly ConfigRow[]): Promise<boolean> {
    return this.#apply(base, { kind: "changes", position, rows });
  }

  /** Applies all changes made so far. Throws `ClusterError` and `OtherClusterError`. */
  async catchUp(deadlines: StepDeadlines = {}): Promise<void> {
    let isLatest = false;
    while (!isLatest) isLatest = await this.step(null, deadlines);
  }

  /**
   * Asks once for new changes, and applies them; `beat` reports that a node is there. Returns whether the mirror then had all that the cluster knew
   * when it answered. Rejects when `stopping` aborts while all rows are read.
   */
  async step(
    beat: NodeBeat | null,
    { askMs = limits.configLeaseMs, readMs = limits.configReadMs }: StepDeadlines = {},
    stopping?: AbortSignal,
  ): Promise<boolean> {
    const from = this.position();
    const followed = await this.truth.follow(from, beat, askMs);
    if (followed.kind === "current") return true;
    if (followed.kind === "changes") return this.#apply(from, followed);
    if (beat !== null) {
      // After a large change all nodes read all rows from one master, but not all at once.
      const spreadMs = limits.configSpreadMs * (followed.bytes / limits.configBytesMax);
      await delay(Math.random() * spreadMs, undefined, { signal: stopping });
      // Another thread may have made the change, and loaded it.
      if (!isSame(this.position(), from)) return false;
    }
    const read = await unlessAborted(this.truth.read(this.cluster, readMs), stopping);
    return (await this.truth.isKept(read.position, askMs)) && (await this.#apply(from, read));
  }

  /** Returns false if another thread or process has changed the mirror meanwhile. */
  #apply(
    from: ConfigPosition,
    followed: Exclude<Followed, { kind: "current" | "behind" }> | ConfigRead,
  ): Promise<boolean> {
    return this.store.root.childTransaction(() => {
      if (!isSame(this.#read(), from)) return false;
      if (followed.kind === "all") this.tables.replace(followed.rows);
      else this.tables.load(followed.rows);
      const stored: StoredPosition = { ...followed.position, tables: mirroredTableNames };
      this.store.mirror.putSync(positionKey, stored);
      // Never reuses a number, because the caches of threads depend on it.
      raiseRevision(this.store, followed.position.revision);
      return true;
    });
  }

  #read(): ConfigPosition {
    const stored = storedPosition(this.store);
    if (stored === null || !hasAllTables(stored)) {
      return { cluster: this.cluster, revision: -1, change: "" };
    }
    return stored;
  }
}

/** Whether two positions are one state. */
export function isSame(one: ConfigPosition, other: ConfigPosition): boolean {
  return one.revision === other.revision && one.change === other.change;
}

/** Rejects as soon as `signal` aborts: the result of the work is dropped then. */
async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

/** Whether the mirror has every table of this build. It may have more, of a newer build that works on the same folder. */
function hasAllTables({ tables }: StoredPosition): boolean {
  const names = new Set(tables.split(" "));
  return mirroredTableNames.split(" ").every((name) => names.has(name));
}

/** Returns what the store mirrors; `null` means nothing. */
export function storedPosition(store: Store): StoredPosition | null {
  return (store.mirror.get(positionKey) as StoredPosition | undefined) ?? null;
}
