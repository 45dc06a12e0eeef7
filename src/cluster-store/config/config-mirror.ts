/**
 * A node's mirror of the cluster's configuration: which state it has, how it gets to the latest, and what a change would write on it. Any
 * thread or process on the same folder may bring it up to date; each does so from the state that it found.
 */
import { limits } from "../../limits.js";
import { type MirroredTables, mirroredTableNames, type RecordedChange } from "../../store/mirrored-tables.js";
import { raiseRevision, type Store } from "../../store/store.js";
import type { ConfigPosition, ConfigTruth, Followed, NodeBeat } from "./config-truth.js";

const positionKey = "position";

/** A row of the table `mirror`. */
interface StoredPosition extends ConfigPosition {
  /** Tables that are mirrored: those that another build mirrors have to be read anew. */
  readonly tables: string;
}

/** A change that was tried on the mirror: what it was tried on, its result, and what it would write. */
export interface TriedChange<T> extends RecordedChange<T> {
  readonly base: ConfigPosition;
}

/** One a thread or command; several may share a folder. */
export class ConfigMirror {
  constructor(
    readonly store: Store,
    private readonly tables: MirroredTables,
    private readonly truth: ConfigTruth,
    /** Id of the cluster. */
    private readonly cluster: string,
  ) {}

  /** The state that it has now. */
  position(): ConfigPosition {
    this.store.root.resetReadTxn();
    return this.#read();
  }

  /** Runs `change` on it, and undoes what that wrote. */
  tryChange<T>(change: () => T): Promise<TriedChange<T>> {
    return this.store.root.abortedTransaction(() => ({ base: this.#read(), ...this.tables.record(change) }));
  }

  /** Applies what has happened so far; `deadlineMs` is for each question. Throws `ClusterError` and `OtherClusterError`. */
  async catchUp(deadlineMs: number = limits.configLeaseMs): Promise<void> {
    let isLatest = false;
    while (!isLatest) isLatest = await this.step(null, deadlineMs);
  }

  /**
   * Asks once what has happened, and applies it; `beat` says that a node is there. Whether the mirror then had all that the cluster knew when
   * it answered.
   */
  async step(beat: NodeBeat | null, deadlineMs: number): Promise<boolean> {
    const from = this.position();
    const followed = await this.truth.follow(from, beat, deadlineMs);
    return followed.kind === "current" || (await this.#apply(from, followed));
  }

  /** False when another thread or process has changed the mirror meanwhile. */
  #apply(from: ConfigPosition, followed: Exclude<Followed, { readonly kind: "current" }>): Promise<boolean> {
    return this.store.root.childTransaction(() => {
      const now = this.#read();
      if (now.revision !== from.revision || now.change !== from.change) return false;
      if (followed.kind === "all") this.tables.replace(followed.rows);
      else this.tables.load(followed.rows);
      const stored: StoredPosition = { ...followed.position, tables: mirroredTableNames };
      this.store.mirror.putSync(positionKey, stored);
      // Never a number that it had: memos of threads hang on it.
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

/** What the store mirrors; null: nothing. */
export function storedPosition(store: Store): StoredPosition | null {
  return (store.mirror.get(positionKey) as StoredPosition | undefined) ?? null;
}
