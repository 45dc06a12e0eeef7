/** A row of the table `mirror`, in which a store of a single host keeps its migration to a cluster: its own name, and the cluster's id. */
import type { Database } from "lmdb";
import type { Environment } from "./environment.js";

const markKey = "migration";

interface Marked {
  readonly root: Environment;
  readonly mirror: Database<unknown, string>;
}

/** The last step of a migration, `store migrate --final`. Until it has ended nobody else may change the store. */
interface FinalStepMark {
  /** When the run began, as text. A later run has another one. */
  readonly since: string;
  /** Whether the run may have opened the cluster to nodes. */
  readonly isOpening: boolean;
}

/** Written by `store migrate` when copying begins, and again when the cluster is opened. */
export interface MigrationMark {
  /** Name of this store, made up when it is first migrated. */
  readonly store: string;
  /** Id of the cluster; "" until one was claimed. */
  readonly cluster: string;
  /** The cluster as people name it: its URL without user and password. Absent in marks of earlier versions. */
  readonly name?: string;
  /** The user of that URL, by whom the cluster can be asked again; never the password. Absent where it named none. */
  readonly user?: string;
  /** When the cluster was opened to nodes, as text; null: it is still being copied, or the store is used again. */
  readonly doneAt: string | null;
  /** The last step that is under way, or was killed. */
  readonly final?: FinalStepMark | null;
}

/** Returns null if the store was never migrated. */
export function migrationMark(store: Marked): MigrationMark | null {
  store.root.resetReadTxn();
  return (store.mirror.get(markKey) as MigrationMark | undefined) ?? null;
}

/** Replaces the mark with the result of `change`, in one transaction; when `change` throws, the mark stays. Returns the new one. */
export function changeMigrationMark(
  store: Marked,
  change: (mark: MigrationMark | null) => MigrationMark,
): Promise<MigrationMark> {
  return store.root.transaction(() => {
    const mark = change((store.mirror.get(markKey) as MigrationMark | undefined) ?? null);
    store.mirror.putSync(markKey, mark);
    return mark;
  });
}

/** Whether a row of the table `mirror` is such a mark as it should be; null: it is another row. */
export function isMigrationMark(key: string, value: unknown): boolean | null {
  if (key !== markKey) return null;
  const { store, cluster, name = "", user = "", doneAt, final = null } = value as Partial<MigrationMark>;
  const isNamed = [store, cluster, name, user].every((text) => typeof text === "string");
  const isStep = final === null || (typeof final.since === "string" && typeof final.isOpening === "boolean");
  return isNamed && isStep && (doneAt === null || typeof doneAt === "string");
}
