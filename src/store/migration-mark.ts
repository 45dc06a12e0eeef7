/** A row of the table `mirror`, in which a store of a single host keeps its migration to a cluster: its own name, and the cluster's id. */
import { randomUUID } from "node:crypto";
import type { Store } from "./store.js";

const markKey = "migration";

/** Written by `store migrate` when copying begins, and again when the cluster is opened. */
export interface MigrationMark {
  /** Name of this store, made up when it is first migrated. */
  readonly store: string;
  /** Id of the cluster. */
  readonly cluster: string;
  /** The cluster as people name it: its URL without user and password. Absent in marks of earlier versions. */
  readonly name?: string;
  /** The user of that URL, by whom the cluster can be asked again; never the password. Absent where it named none. */
  readonly user?: string;
  /** When the cluster was opened to nodes, as text; null: it is still being copied, or the store is used again. */
  readonly doneAt: string | null;
}

/** Returns null if the store was never migrated. */
export function migrationMark(store: Store): MigrationMark | null {
  store.root.resetReadTxn();
  return (store.mirror.get(markKey) as MigrationMark | undefined) ?? null;
}

/** Writes the mark; `null` removes it. */
export async function setMigrationMark(store: Store, mark: MigrationMark | null): Promise<void> {
  await store.root.transaction(() => {
    if (mark === null) store.mirror.removeSync(markKey);
    else store.mirror.putSync(markKey, mark);
  });
}

/** Returns a name for a store that is migrated for the first time. */
export function newStoreName(): string {
  return randomUUID();
}

/** Whether a row of the table `mirror` is such a mark as it should be; null: it is another row. */
export function isMigrationMark(key: string, value: unknown): boolean | null {
  if (key !== markKey) return null;
  const { store, cluster, name = "", user = "", doneAt } = value as Partial<MigrationMark>;
  const isNamed = [store, cluster, name, user].every((text) => typeof text === "string");
  return isNamed && (doneAt === null || typeof doneAt === "string");
}
