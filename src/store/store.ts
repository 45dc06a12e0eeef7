/**
 * Opens the LMDB environment that every thread and the command line share. The only file that opens it: what is in the
 * tables is in `keys.ts`. A commit in any thread or process is visible to all at once.
 */
import { mkdirSync } from "node:fs";
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
import { tableNames } from "./keys.js";
import { storeFile } from "./store-file.js";

/** Version of the tables and records this build reads and writes. Raised with an upgrade step in `upgrades`. */
export const schemaVersion = 1;

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
  readonly shingles: Database<Buffer, Buffer>;
  close(): Promise<void>;
}

/** The store can't be opened or used as it is; `message` says what to do about it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/** Opens (and on an empty folder creates) the store in `dataDir`. Throws `StoreError` for a store from a newer version. */
export function openStore(dataDir: string): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const root = open<unknown, string>({
    path: storeFile(dataDir),
    maxDbs: 32,
    maxReaders: 1024,
    overlappingSync: true,
  });
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
    shingles: packed(tableNames.shingles),
    close: () => root.close(),
  };
  checkSchema(store);
  return store;
}

function checkSchema(store: Store): void {
  const found = store.meta.get("schemaVersion");
  if (found === schemaVersion) return;
  if (found !== undefined && found > schemaVersion) {
    void store.close();
    throw new StoreError(
      `the store was written by a newer verdictd (schema ${found}, this one reads ${schemaVersion}): run that version or newer`,
    );
  }
  store.root.transactionSync(() => {
    if (store.meta.get("schemaVersion") === undefined) store.meta.putSync("schemaVersion", schemaVersion);
  });
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

/**
 * Lets reads of this thread see every commit made before the present turn of the event loop. LMDB's reads share a snapshot for a
 * millisecond or more; a key revoked by another process must be refused from the very next request on. Cheap to call often: only
 * the first call of a turn does anything.
 */
export function freshReads(store: Store): () => void {
  let isFresh = false;
  const age = (): void => {
    isFresh = false;
  };
  return () => {
    if (isFresh) return;
    isFresh = true;
    store.root.resetReadTxn();
    setImmediate(age);
  };
}
