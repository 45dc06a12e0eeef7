/**
 * The last step of a migration keeps everything else out of the store: a mark refuses servers and commands that start now, and a look for sockets
 * finds a server that runs already. Before the cluster is opened, the number of the store's last commit shows whether anything was written meanwhile.
 */

import { StoreError } from "../../store/failures.js";
import { changeMigrationMark, type MigrationMark, migrationMark } from "../../store/migration-mark.js";
import type { Store } from "../../store/store.js";

/** One per run with `--final`. Call its methods in the order in which they are listed. */
export class FinalStep {
  readonly #store: Store;
  readonly #since = new Date().toISOString();

  constructor(store: Store) {
    this.#store = store;
  }

  /** From now on the store refuses servers and changes. Continues a step that was killed. */
  async begin(): Promise<void> {
    await changeMigrationMark(this.#store, (mark) => ({ ...known(mark), final: this.#mark(false) }));
  }

  /** Throws a `StoreError` once another run, or `store reopen`, has taken the store. */
  continues(): void {
    this.#own(migrationMark(this.#store));
  }

  /** Marks that the cluster may be open from now on. Returns false, and marks nothing, if the store was written after commit `lastCommit`. */
  async opens(lastCommit: number): Promise<boolean> {
    const { root } = this.#store;
    const { final } = await changeMigrationMark(this.#store, (mark) => {
      const own = this.#own(mark);
      // Nobody else commits while this runs, and the mark refuses whoever comes after it.
      return root.lastCommit === lastCommit ? { ...own, final: this.#mark(true) } : own;
    });
    return final?.isOpening === true;
  }

  /** Marks that the cluster was opened to nodes at this time, whoever has taken the store meanwhile. */
  async done(atMs: number): Promise<void> {
    await changeMigrationMark(this.#store, (mark) => ({ ...known(mark), ...doneAt(atMs) }));
  }

  /** After a failure: lets the store be used again, unless the cluster may be open by now. */
  async end(): Promise<void> {
    await changeMigrationMark(this.#store, (mark) => {
      const found = known(mark);
      return found.final?.since === this.#since && !found.final.isOpening ? { ...found, final: null } : found;
    });
  }

  #mark(isOpening: boolean) {
    return { since: this.#since, isOpening };
  }

  #own(mark: MigrationMark | null): MigrationMark {
    const found = known(mark);
    if (found.final?.since === this.#since) return found;
    throw new StoreError("another `store migrate --final`, or `store reopen`, has taken this store: run this again");
  }
}

/** For a run that copies while the store is in use: throws a `StoreError` when the last step is under way, or was killed. */
export function refuseFinalStep(store: Store): void {
  const final = migrationMark(store)?.final ?? null;
  if (final === null) return;
  throw new StoreError(
    `\`store migrate --final\` has this store since ${final.since}: wait until that has ended, or run this with --final`,
  );
}

/** What a mark says of a cluster that was opened at this time. */
export function doneAt(atMs: number): Pick<MigrationMark, "doneAt" | "final"> {
  return { doneAt: new Date(atMs).toISOString(), final: null };
}

function known(mark: MigrationMark | null): MigrationMark {
  if (mark === null) throw new StoreError("the mark of the migration is gone from the store");
  return mark;
}
