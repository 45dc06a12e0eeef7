/**
 * Opens the LMDB environment that every thread and the command line share. What is in the tables is in `keys.ts`. A commit in any thread
 * or process is visible to all at once.
 */
import type { Database } from "lmdb";
import type { AuditEntry } from "../contract/audit.js";
import type { Account, AccountToken, Block, KeyOwner, Membership, Project, Rule, User } from "../contract/entities.js";
import type { IpListRecord } from "../contract/ip-lists.js";
import type { SessionMark } from "../contract/marks.js";
import { type NewAuditEntry, putAuditEntry } from "./audit-rows.js";
import { Environment } from "./environment.js";
import { makeFolder } from "./folder.js";
import { type HourlyCounts, LmdbHourlyCounts } from "./hourly-counts.js";
import { metaKeys, type SignedAgentKey, tableNames } from "./keys.js";
import { LmdbBlockLog } from "./lmdb-block-log.js";
import { LmdbAuditLog, LmdbMarkLog, LmdbTrailLog } from "./lmdb-logs.js";
import { LmdbSessionRows } from "./lmdb-session-rows.js";
import type { Logs } from "./logs.js";
import type { RemoteSessions } from "./remote-sessions.js";
import { upgradeTo } from "./schema-version.js";
import { mergeSessionFiles } from "./session-files.js";
import type { SessionRows } from "./session-rows.js";
import { openSessionTables, packedTable, recordTable, type SessionTables } from "./session-tables.js";
import { storeFile } from "./store-file.js";
import { currentSchema, type Schema } from "./upgrades.js";

/** Version of the tables and records this build reads and writes. */
export const schemaVersion = currentSchema.version;

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

/** One environment a data directory, opened by every thread and command; layouts of keys and rows are in `keys.ts`. */
export interface Store extends SessionTables {
  readonly revision: Database<Buffer, number>;
  readonly accounts: Database<Account, number>;
  readonly slugs: Database<number, string>;
  readonly users: Database<User, number>;
  readonly emails: Database<number, string>;
  readonly memberships: Database<Membership, [number, number]>;
  readonly tokens: Database<AccountToken, number>;
  readonly tokenHashes: Database<number, string>;
  readonly tokenUses: Database<number, number>;
  readonly projects: Database<Project, number>;
  readonly keys: Database<KeyOwner, string>;
  readonly rules: Database<Rule, [number, number]>;
  readonly blocks: Database<Block, [number, number]>;
  readonly blockTallies: Database<Buffer, Buffer>;
  readonly marks: Database<SessionMark, [number, string]>;
  readonly audit: Database<AuditEntry, [number, number]>;
  readonly verifiedBots: Database<unknown, string>;
  readonly declaredBots: Database<unknown, string>;
  readonly ipLists: Database<IpListRecord, string>;
  readonly signedAgents: Database<unknown, SignedAgentKey>;
  /** Of schema 1, now empty. */
  readonly shingles: Database<Buffer, Buffer>;
  readonly mirror: Database<unknown, string>;
  /** Where the configuration is changed when this store only mirrors it. */
  readonly changes?: ConfigChanges;
  /** All rows of sessions where these lie in a cluster. */
  readonly remoteSessions?: RemoteSessions;
  /** Counts by hour and month. */
  readonly counts: HourlyCounts;
  /** Sessions as HTTP threads read and change them. */
  readonly rows: SessionRows;
  readonly logs: Logs;
  /** Absent on one host, where nobody else does the work. */
  readonly leases?: Leases;
  close(): Promise<void>;
}

/**
 * Opens (and on an empty folder creates) the store in `dataDir`. An older store is upgraded, after a copy of it was put beside it as
 * `verdictd.mdb.schema-N`. Throws `StoreError` for a folder that can't be used and for a store from a newer version, and what an upgrade
 * throws.
 */
export function openStore(dataDir: string, schema: Schema = currentSchema): Store {
  makeFolder(dataDir);
  const store = openTables(dataDir);
  try {
    upgradeTo(store, { schema, file: storeFile(dataDir), apply: ({ apply }) => apply(store) });
    mergeSessionFiles(store, dataDir, schema);
    return store;
  } catch (error) {
    void store.close();
    throw error;
  }
}

function openTables(dataDir: string): Store {
  const root = new Environment(storeFile(dataDir));
  const sessionTables = openSessionTables(root);
  const tables: Omit<Store, "logs"> = {
    ...sessionTables,
    counts: new LmdbHourlyCounts(sessionTables),
    rows: new LmdbSessionRows(sessionTables),
    revision: root.openDB<Buffer, number>({
      name: tableNames.revision,
      encoding: "binary",
      keyEncoding: "uint32",
    }),
    accounts: recordTable(root, tableNames.accounts),
    slugs: recordTable(root, tableNames.slugs),
    users: recordTable(root, tableNames.users),
    emails: recordTable(root, tableNames.emails),
    memberships: recordTable(root, tableNames.memberships),
    tokens: recordTable(root, tableNames.tokens),
    tokenHashes: recordTable(root, tableNames.tokenHashes),
    tokenUses: recordTable(root, tableNames.tokenUses),
    projects: recordTable(root, tableNames.projects),
    keys: recordTable(root, tableNames.keys),
    rules: recordTable(root, tableNames.rules),
    blocks: recordTable(root, tableNames.blocks),
    marks: recordTable(root, tableNames.marks),
    audit: recordTable(root, tableNames.audit),
    blockTallies: packedTable(root, tableNames.blockTallies),
    verifiedBots: recordTable(root, tableNames.verifiedBots),
    declaredBots: recordTable(root, tableNames.declaredBots),
    ipLists: recordTable(root, tableNames.ipLists),
    signedAgents: recordTable(root, tableNames.signedAgents),
    shingles: packedTable(root, tableNames.shingles),
    mirror: recordTable(root, tableNames.mirror),
    close: () => root.close(),
  };
  return { ...tables, logs: logsOf(tables) };
}

function logsOf(tables: Omit<Store, "logs">): Logs {
  return {
    blocks: new LmdbBlockLog(tables),
    marks: new LmdbMarkLog(tables),
    audit: new LmdbAuditLog(tables.audit),
    trails: new LmdbTrailLog(tables),
  };
}

const revisionKey = 0;

/** The control plane's revision: changes whenever an account, member, token, key, project, setting or rule does. About 1 us. */
export function readRevision(store: Store): number {
  const bytes = store.revision.getBinaryFast(revisionKey);
  return bytes === undefined ? 0 : (bytes as Buffer).readDoubleLE(0);
}

/** What a change of the configuration came to: it has to say what the log of changes gets, and `[]` that it gets nothing. */
export interface LoggedChange<T> {
  readonly result: T;
  readonly entries: readonly NewAuditEntry[];
}

/**
 * Runs `change` in one write transaction of its own, logs what it says and raises the revision; a thrown error undoes it all. Waits for its
 * turn without blocking the event loop while another thread writes.
 */
export async function changeControlPlane<T>(store: Store, change: () => LoggedChange<T>): Promise<T> {
  const logged = (): T => {
    const { result, entries } = change();
    for (const entry of entries) putAuditEntry(store, entry);
    return result;
  };
  if (store.changes !== undefined) return store.changes.run(logged);
  return store.root.childTransaction(() => {
    const result = logged();
    raiseRevision(store);
    return result;
  });
}

/** As `changeControlPlane` for rows that nothing judged depends on: on one host the revision stays. */
export async function recordControlPlane<T>(store: Store, write: () => T): Promise<T> {
  if (store.changes !== undefined) return store.changes.run(write);
  return store.root.childTransaction(write);
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

/** Takes all ids of a kind up to this one. Call inside a write transaction. */
export function skipIds(store: Store, kind: string, upTo: number): void {
  store.meta.putSync(metaKeys.nextId(kind), upTo);
}

/**
 * Lets reads of this thread see every commit made before the present turn of the event loop. LMDB's reads share a snapshot for a
 * millisecond or more; a key revoked by another process must be refused from the very next request on.
 */
export class TurnReads {
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

  /** Call before anything is read for a request. Cheap to call often: only the first call of a turn does anything. */
  begin(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    this.#revision = -1;
    this.#store.root.resetReadTxn();
    setImmediate(this.#age);
  }

  /** `readRevision`, read once for all requests of a turn: they share a snapshot anyway. */
  revision(): number {
    if (!this.#isFresh) return readRevision(this.#store);
    if (this.#revision === -1) this.#revision = readRevision(this.#store);
    return this.#revision;
  }
}
