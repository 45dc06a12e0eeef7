/**
 * The store as every thread and the command line have it: the LMDB environment with its tables (`tables.ts`), revision, ids. A
 * commit in any thread or process is visible to all at once. `open-store.ts` opens it.
 */
import type { HourlyCounts } from "./hourly-counts.js";
import { metaKeys } from "./keys.js";
import type { RecordedRows } from "./recorded-rows.js";
import type { RemoteSessions } from "./remote-sessions.js";
import type { SessionRows } from "./session-rows.js";
import type { Tables } from "./tables.js";

/** How the configuration is changed where the store mirrors that of a cluster. */
export interface ConfigChanges {
  /**
   * Runs `change` on the mirror, brings what it wrote to the cluster, and resolves once every node has it. `change` may run several times,
   * each time on a later state. Rejects with an `UnavailableError` when that is not possible now.
   */
  run<T>(change: () => T): Promise<T>;
}

/** Work that one of several nodes does for all. */
export interface Leases {
  /** Whether this node may do it now, and for as many ms. Rejects with `unavailable` when nobody can say. */
  take(name: string, ms: number): Promise<boolean>;
}

/** What nodes tell each other of a minute since the epoch. Both reject with `unavailable` when nobody can say. */
export interface NodeReports {
  put(minute: number, report: Buffer): Promise<void>;
  /** Those of other nodes that are there by now, by node. */
  others(minute: number): Promise<ReadonlyMap<string, Buffer>>;
}

/** One environment a data directory, opened by every thread and command. */
export interface Store extends Tables {
  /** Where the configuration is changed when this store only mirrors it. */
  readonly changes?: ConfigChanges;
  /** All rows of sessions where these lie in a cluster. */
  readonly remoteSessions?: RemoteSessions;
  /** Counts by hour and month. */
  readonly counts: HourlyCounts;
  /** Sessions as HTTP threads read and change them. */
  readonly rows: SessionRows;
  readonly recorded: RecordedRows;
  /** Absent on one host, where nobody else does the work. */
  readonly leases?: Leases;
  /** Absent on one host. */
  readonly nodeReports?: NodeReports;
  close(): Promise<void>;
}

const revisionKey = 0;

/** The control plane's revision: changes whenever an account, member, token, key, project, setting or rule does. About 1 us. */
export function readRevision(store: Store): number {
  const bytes = store.revision.getBinaryFast(revisionKey);
  return bytes === undefined ? 0 : (bytes as Buffer).readDoubleLE(0);
}

/** Raises the revision by one, or to `atLeast` where that is more. Call inside a write transaction. */
export function raiseRevision(store: Store, atLeast = 0): void {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleLE(Math.max(readRevision(store) + 1, atLeast), 0);
  store.revision.putSync(revisionKey, bytes);
}

/** The next id of a kind of record, starting at 1. Call inside a write transaction. */
export function nextId(store: Store, kind: string): number {
  const id = lastId(store, kind) + 1;
  store.meta.putSync(metaKeys.nextId(kind), id);
  return id;
}

/** The latest id of a kind, 0 before the first. */
export function lastId(store: Store, kind: string): number {
  return store.meta.get(metaKeys.nextId(kind)) ?? 0;
}

/**
 * Lets reads of this thread see every commit made before the present tick of the event loop. LMDB's reads share a snapshot for a
 * millisecond or more; a key revoked by another process must be refused from the very next request on.
 */
export class TickReads {
  readonly #store: Store;
  #isFresh = false;
  #revision = -1;
  readonly #age = (): void => {
    this.#isFresh = false;
    this.#revision = -1;
  };

  constructor(store: Store) {
    this.#store = store;
  }

  /** Call before anything is read for a request. Cheap to call often: only the first call of a tick does anything. */
  begin(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    this.#revision = -1;
    this.#store.root.resetReadTxn();
    setImmediate(this.#age);
  }

  /** As `begin`, in a timer. Requests are read after it that may have come in later: they must not share its snapshot. */
  beginTimer(): void {
    this.#age();
    this.#store.root.resetReadTxn();
  }

  /** Runs work behind the answers, for all of which the revision is read once. What is read after it reads anew: requests may have come in later. */
  together(work: () => void): void {
    if (this.#isFresh) {
      work();
      return;
    }
    this.#isFresh = true;
    try {
      work();
    } finally {
      this.#age();
    }
  }

  /** `readRevision`, read once for all requests of a tick: they share a snapshot anyway. */
  revision(): number {
    if (!this.#isFresh) return readRevision(this.#store);
    if (this.#revision === -1) this.#revision = readRevision(this.#store);
    return this.#revision;
  }
}
