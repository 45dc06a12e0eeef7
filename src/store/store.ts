/**
 * Opens the LMDB environment that every thread and the command line share. The only file that opens it: what is in the
 * tables is in `keys.ts`. A commit in any thread or process is visible to all at once.
 */
import { closeSync, constants, copyFileSync, fsyncSync, openSync, renameSync } from "node:fs";
import { type Database, open, type RootDatabase } from "lmdb";
import type {
  Account,
  AccountToken,
  Block,
  KeyOwner,
  Membership,
  Project,
  Rule,
  Traffic,
  User,
} from "../contract/entities.js";
import type { Trail } from "../contract/trail.js";
import { makeFolder } from "./folder.js";
import { tableNames } from "./keys.js";
import { StoreError } from "./store-error.js";
import { storeFile } from "./store-file.js";
import { currentSchema, type Schema } from "./upgrades.js";

/** Version of the tables and records this build reads and writes. */
export const schemaVersion = currentSchema.version;

export interface Store {
  readonly root: RootDatabase<unknown, string>;
  readonly meta: Database<number, string>;
  readonly revision: Database<Buffer, number>;
  readonly accounts: Database<Account, number>;
  readonly slugs: Database<number, string>;
  readonly users: Database<User, number>;
  readonly emails: Database<number, string>;
  readonly memberships: Database<Membership, [number, number]>;
  readonly tokens: Database<AccountToken, number>;
  readonly tokenHashes: Database<number, string>;
  readonly projects: Database<Project, number>;
  readonly keys: Database<KeyOwner, string>;
  readonly rules: Database<Rule, [number, number]>;
  readonly blocks: Database<Block, [number, number]>;
  readonly usage: Database<number, [number, string]>;
  readonly traffic: Database<Traffic, [number, number]>;
  readonly verifiedBots: Database<unknown, string>;
  readonly sessions: Database<Buffer, Buffer>;
  readonly repeats: Database<Buffer, Buffer>;
  readonly idempotency: Database<Buffer, Buffer>;
  readonly sightings: Database<Buffer, Buffer>;
  readonly replays: Database<Buffer, Buffer>;
  /** Of schema 1, now empty. */
  readonly shingles: Database<Buffer, Buffer>;
  readonly trails: Database<Trail, Buffer>;
  close(): Promise<void>;
}

/**
 * Opens (and on an empty folder creates) the store in `dataDir`. An older store is upgraded, after a copy of it was put beside it as
 * `verdictd.mdb.schema-N`. Throws `StoreError` for a folder that can't be used and for a store from a newer version, and what an upgrade
 * throws, which then changed nothing.
 */
export function openStore(dataDir: string, schema: Schema = currentSchema): Store {
  const root = openRoot(dataDir);
  const records = <V, K extends string | number | (string | number)[]>(name: string): Database<V, K> =>
    root.openDB<V, K>({ name });
  const packed = (name: string): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
  const store: Store = {
    root,
    meta: records(tableNames.meta),
    revision: root.openDB<Buffer, number>({
      name: tableNames.revision,
      encoding: "binary",
      keyEncoding: "uint32",
    }),
    accounts: records(tableNames.accounts),
    slugs: records(tableNames.slugs),
    users: records(tableNames.users),
    emails: records(tableNames.emails),
    memberships: records(tableNames.memberships),
    tokens: records(tableNames.tokens),
    tokenHashes: records(tableNames.tokenHashes),
    projects: records(tableNames.projects),
    keys: records(tableNames.keys),
    rules: records(tableNames.rules),
    blocks: records(tableNames.blocks),
    usage: records(tableNames.usage),
    traffic: records(tableNames.traffic),
    verifiedBots: records(tableNames.verifiedBots),
    sessions: packed(tableNames.sessions),
    repeats: packed(tableNames.repeats),
    idempotency: packed(tableNames.idempotency),
    sightings: packed(tableNames.sightings),
    replays: packed(tableNames.replays),
    shingles: packed(tableNames.shingles),
    trails: root.openDB<Trail, Buffer>({ name: tableNames.trails, keyEncoding: "binary" }),
    close: () => root.close(),
  };
  try {
    bringTo(schema, store, dataDir);
  } catch (error) {
    void store.close();
    throw error;
  }
  return store;
}

/** LMDB's environment. What keeps it from being had (rights, a read-only disk) is the operator's to mend, so it says where. */
function openRoot(dataDir: string): RootDatabase<unknown, string> {
  makeFolder(dataDir);
  try {
    return open<unknown, string>({
      path: storeFile(dataDir),
      maxDbs: 32,
      maxReaders: 1024,
      overlappingSync: true,
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError(`can't open the store in ${dataDir}: ${reason}`, { cause });
  }
}

/** Several processes may open an older store at once: one upgrades it, the others wait for that. */
function bringTo(schema: Schema, store: Store, dataDir: string): void {
  if (store.meta.get("schemaVersion") === schema.version) return;
  store.root.transactionSync(() => {
    const found = store.meta.get("schemaVersion");
    if (found === schema.version) return;
    if (found !== undefined) {
      const steps = stepsFrom(found, schema);
      copyStore(dataDir, `schema-${found}`);
      for (const { apply } of steps) apply(store);
    }
    store.meta.putSync("schemaVersion", schema.version);
  });
}

function stepsFrom(found: number, { version, upgrades }: Schema): Schema["upgrades"] {
  if (found > version) {
    throw new StoreError(
      `the store was written by a newer verdictd (schema ${found}, this one reads ${version}): run that version or newer`,
    );
  }
  const steps = upgrades.filter(({ to }) => to > found);
  if (steps.length !== version - found || steps.some(({ to }, index) => to !== found + 1 + index))
    throw new StoreError(`there is no way from schema ${found} of the store to ${version}`);
  return steps;
}

/** Call inside a write transaction that has written nothing yet: nobody else can write then, so the file is one whole state. */
function copyStore(dataDir: string, suffix: string): void {
  const file = storeFile(dataDir);
  const partial = `${file}.partial`;
  copyFileSync(file, partial, constants.COPYFILE_FICLONE);
  const descriptor = openSync(partial, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(partial, `${file}.${suffix}`);
}

const revisionKey = 0;

/** The control plane's revision: changes whenever an account, member, token, key, project, setting or rule does. About 1 us. */
export function readRevision(store: Store): number {
  const bytes = store.revision.getBinaryFast(revisionKey);
  return bytes === undefined ? 0 : (bytes as Buffer).readDoubleLE(0);
}

/**
 * Runs `change` in one write transaction of its own and raises the revision; a thrown error undoes it all. Waits for its turn
 * without blocking the event loop while another thread writes.
 */
export async function changeControlPlane<T>(store: Store, change: () => T): Promise<T> {
  return store.root.childTransaction(() => {
    const result = change();
    raiseRevision(store);
    return result;
  });
}

function raiseRevision(store: Store): void {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleLE(readRevision(store) + 1, 0);
  store.revision.putSync(revisionKey, bytes);
}

/** The next id of a kind of record, starting at 1. Call inside a write transaction. */
export function nextId(store: Store, kind: string): number {
  const id = (store.meta.get(`next:${kind}`) ?? 0) + 1;
  store.meta.putSync(`next:${kind}`, id);
  return id;
}

/** Takes all ids of a kind up to this one. Call inside a write transaction. */
export function skipIds(store: Store, kind: string, upTo: number): void {
  store.meta.putSync(`next:${kind}`, upTo);
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
