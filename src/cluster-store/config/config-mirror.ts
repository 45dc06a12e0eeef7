/**
 * A node's mirror of the cluster's configuration: its state, how it catches up with the latest, and what a change would write on it. Any thread or
 * process on the same folder may update it; each starts from the state that it found.
 */
import { limits } from "../../limits.js";
import { type MirroredTables, mirroredTableNames, type RecordedChange } from "../../store/mirrored-tables.js";
import { raiseRevision, type Store } from "../../store/store.js";
import type { ConfigPosition, ConfigTruth, Followed, NodeBeat } from "./config-truth.js";

const positionKey = "position";

/** A row of the table `mirror`. */
interface StoredPosition extends ConfigPosition {
  /** The mirrored tables. If another build mirrors other tables, all rows are read again. */
  readonly tables: string;
}

/** A change that was tried on the mirror: the state that it was tried on, its result, and what it would write. */
export interface TriedChange<T> extends RecordedChange<T> {
  readonly base: ConfigPosition;
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

  /** Applies all changes made so far; `deadlineMs` applies to each question. Throws `ClusterError` and `OtherClusterError`. */
  async catchUp(deadlineMs: number = limits.configLeaseMs): Promise<void> {
    let isLatest = false;
    while (!isLatest) isLatest = await this.step(null, deadlineMs);
  }

  /**
   * Asks once for new changes, and applies them; `beat` reports that a node is there. Returns whether the mirror then had all that the cluster knew
   * when it answered.
   */
  async step(beat: NodeBeat | null, deadlineMs: number): Promise<boolean> {
    const from = this.position();
    const followed = await this.truth.follow(from, beat, deadlineMs);
    return followed.kind === "current" || (await this.#apply(from, followed));
  }

  /** Returns false if another thread or process has changed the mirror meanwhile. */
  #apply(from: ConfigPosition, followed: Exclude<Followed, { readonly kind: "current" }>): Promise<boolean> {
    return this.store.root.childTransaction(() => {
      const now = this.#read();
      if (now.revision !== from.revision || now.change !== from.change) return false;
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
    if (stored === null || stored.tables !== mirroredTableNames) {
      return { cluster: this.cluster, revision: -1, change: "" };
    }
    return stored;
  }
}

/** Returns what the store mirrors; `null` means nothing. */
export function storedPosition(store: Store): StoredPosition | null {
  return (store.mirror.get(positionKey) as StoredPosition | undefined) ?? null;
}
