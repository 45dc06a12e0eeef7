/**
 * The path-reuse index in LMDB: which path hashes a project has seen, and from which session. A project has a fixed number of slots, and the newest
 * hash of a slot wins: a busy project takes 2 MB of store at most. Slots are far apart in the store and a batch has a dozen of new ones, so a
 * transaction writes them one after another into one row of a log. When the log is long, it is merged into the buckets of slots all at once. Used
 * only inside the ingest transaction; it reads other threads' and processes' writes at the start.
 *
 * The log saves about half of the scoring thread's CPU, which one row per hash spent on reading and writing pages
 * (src/docs/decisions/007-path-reuse-log.md). Held by the bench's scenarios `ingest`.
 */
import { limits } from "../limits.js";
import { pathReuseBucketSlots, pathReuseKeys } from "../store/keys.js";
import type { Tables } from "../store/tables.js";
import type { PathReuseIndex, PathRoom } from "./path-reuse-index.js";

const entryBytes = 8;
const bucketWords = 2 * pathReuseBucketSlots;

/** State of a bucket, as bits: it was read from the store; the log has entries for its slots. */
const isRead = 1;
const isChanged = 2;

const slotCount = limits.shingleSlotsMax;

function bucketOf(slot: number): number {
  return Math.floor(slot / pathReuseBucketSlots);
}

/** This thread's copy of one project's index. All of it is in the store as well. */
class ProjectPaths {
  readonly #store: Tables;
  readonly #projectId: number;
  /** How many times the log has been merged into the buckets, and how many rows it has had since: the values of the head row. */
  #generation = 0;
  #rows = 0;
  /** Shingles in these rows. */
  #logged = 0;
  /**
   * Hash and session of each slot, both 0 in an empty one: the log's entries, and the buckets read so far. One array holds all of them, because a
   * look-up costs little except the wait for memory.
   */
  readonly #slots: Uint32Array<ArrayBuffer>;
  /** A bit for each slot that the log has an entry for. */
  readonly #inLog: Uint8Array;
  /** `isRead` and `isChanged` of each bucket. */
  readonly #buckets: Uint8Array;
  #held = 0;
  /** New in this transaction, in order: hash and session; the first `#freshWords` words are valid. */
  #fresh = new Uint32Array(1024);
  #freshWords = 0;

  constructor(store: Tables, projectId: number) {
    this.#store = store;
    this.#projectId = projectId;
    const buckets = Math.ceil(slotCount / pathReuseBucketSlots);
    this.#slots = new Uint32Array(bucketWords * buckets);
    this.#inLog = new Uint8Array(slotCount / 8);
    this.#buckets = new Uint8Array(buckets);
  }

  /** Bytes of the buckets in memory. The rest of the memory has not been touched. */
  get heldBytes(): number {
    return this.#held * pathReuseBucketSlots * entryBytes;
  }

  /** Applies other threads' writes. Call in each transaction before the first `record`. */
  catchUp(): void {
    const head = this.#store.pathReuse.getBinaryFast(pathReuseKeys.head(this.#projectId)) as Buffer | undefined;
    const generation = head === undefined ? 0 : head.readUInt32LE(0);
    const rows = head === undefined ? 0 : head.readUInt32LE(4);
    if (generation !== this.#generation || rows < this.#rows) {
      this.#forgetAll();
      this.#generation = generation;
    }
    for (; this.#rows < rows; this.#rows++) {
      const row = this.#store.pathReuse.getBinaryFast(pathReuseKeys.log(this.#projectId, this.#rows)) as
        | Buffer
        | undefined;
      for (let at = 0; row !== undefined && at + entryBytes <= row.length; at += entryBytes) {
        this.#set(row.readUInt32LE(at), row.readUInt32LE(at + 4));
      }
    }
  }

  /** Records one hash, unless it is already there or there is no room; returns the session that showed it first. */
  record(session: number, hash: number, room: PathRoom): number {
    // The first session that showed it keeps it: a replay must not pass for the original.
    const owner = this.#ownerOf(hash);
    if (owner !== null) return owner;
    if (room.left <= 0) return session;
    room.left--;
    this.#set(hash, session);
    if (this.#freshWords === this.#fresh.length) this.#growFresh();
    this.#fresh[this.#freshWords++] = hash;
    this.#fresh[this.#freshWords++] = session;
    return session;
  }

  /**
   * Prefetches the slots of these shingles into the core's cache. Slots are far apart, and look-ups one after another wait for memory each time: that
   * was a tenth of a batch's cost for the thread. Returns a value only to keep the engine from removing the loop.
   */
  touch(hashes: readonly number[]): number {
    let sum = 0;
    for (const hash of hashes) sum ^= this.#slots[2 * (hash & (slotCount - 1))]!;
    return sum;
  }

  /** Returns the session that showed the hash first; null when the hash is not in memory. */
  #ownerOf(hash: number): number | null {
    const slot = hash & (slotCount - 1);
    const bucket = bucketOf(slot);
    if ((this.#buckets[bucket]! & isRead) === 0) this.#read(bucket);
    const heldHash = this.#slots[2 * slot]!;
    const heldSession = this.#slots[2 * slot + 1]!;
    return heldHash === hash && (heldHash !== 0 || heldSession !== 0) ? heldSession : null;
  }

  /** Writes the new hashes. Call at the end of the transaction. */
  save(): void {
    if (this.#freshWords === 0) return;
    const isLong = this.#logged >= Math.min(limits.replayLogMax, slotCount / 8);
    if (isLong || this.#rows >= limits.replayLogRowsMax) this.#fold();
    else this.#append();
    this.#freshWords = 0;
    const head = Buffer.allocUnsafe(8);
    head.writeUInt32LE(this.#generation, 0);
    head.writeUInt32LE(this.#rows, 4);
    this.#store.pathReuse.putSync(pathReuseKeys.head(this.#projectId), head);
  }

  /** Appends the new hashes to the log, in rows of a page at most: slightly more would take two pages. */
  #append(): void {
    for (let at = 0; at < this.#freshWords; at += bucketWords) {
      const words = Math.min(bucketWords, this.#freshWords - at);
      const row = Buffer.from(this.#fresh.buffer, 4 * at, 4 * words);
      this.#store.pathReuse.putSync(pathReuseKeys.log(this.#projectId, this.#rows++), row);
    }
  }

  #set(hash: number, session: number): void {
    const slot = hash & (slotCount - 1);
    const bucket = bucketOf(slot);
    const state = this.#buckets[bucket]!;
    if (state === 0) this.#held++;
    this.#buckets[bucket] = state | isChanged;
    this.#inLog[slot >> 3]! |= 1 << (slot & 7);
    this.#logged++;
    this.#slots[2 * slot] = hash;
    this.#slots[2 * slot + 1] = session;
  }

  /** Loads a stored bucket, except for the slots that the log has entries for. */
  #read(bucket: number): void {
    const state = this.#buckets[bucket]!;
    if (state === 0) this.#held++;
    this.#buckets[bucket] = state | isRead;
    const stored = this.#store.pathReuse.getBinaryFast(pathReuseKeys.bucket(this.#projectId, bucket)) as
      | Buffer
      | undefined;
    if (stored === undefined) return;
    const first = bucket * pathReuseBucketSlots;
    const slots = Math.min(pathReuseBucketSlots, Math.floor(stored.length / entryBytes), slotCount - first);
    for (let index = 0; index < slots; index++) {
      const slot = first + index;
      if ((this.#inLog[slot >> 3]! & (1 << (slot & 7))) !== 0) continue;
      this.#slots[2 * slot] = stored.readUInt32LE(index * entryBytes);
      this.#slots[2 * slot + 1] = stored.readUInt32LE(index * entryBytes + 4);
    }
  }

  /** Merges the log into the buckets and begins a new log. */
  #fold(): void {
    const bucketBytes = pathReuseBucketSlots * entryBytes;
    for (let bucket = 0; bucket < this.#buckets.length; bucket++) {
      if ((this.#buckets[bucket]! & isChanged) === 0) continue;
      if ((this.#buckets[bucket]! & isRead) === 0) this.#read(bucket);
      const bytes = Buffer.from(this.#slots.buffer, bucket * bucketBytes, bucketBytes);
      this.#store.pathReuse.putSync(pathReuseKeys.bucket(this.#projectId, bucket), bytes);
      this.#buckets[bucket] = isRead;
    }
    for (let row = 0; row < this.#rows; row++)
      this.#store.pathReuse.removeSync(pathReuseKeys.log(this.#projectId, row));
    this.#inLog.fill(0);
    this.#logged = 0;
    this.#generation++;
    this.#rows = 0;
  }

  #growFresh(): void {
    const larger = new Uint32Array(2 * this.#fresh.length);
    larger.set(this.#fresh);
    this.#fresh = larger;
  }

  #forgetAll(): void {
    this.#slots.fill(0);
    this.#inLog.fill(0);
    this.#buckets.fill(0);
    this.#held = 0;
    this.#logged = 0;
    this.#rows = 0;
  }
}

const nobody: readonly number[] = [];

/** The index for one thread's transactions, one after another. */
export class LmdbPathReuseIndex implements PathReuseIndex {
  readonly #store: Tables;
  /** The copies of projects, least recently used first. */
  readonly #held = new Map<number, ProjectPaths>();
  /** The projects of the current transaction. */
  readonly #used = new Map<number, ProjectPaths>();
  #touched = 0;

  constructor(store: Tables) {
    this.#store = store;
  }

  record(projectId: number, session: number, hashes: readonly number[], room: PathRoom): number {
    if (hashes.length === 0) return 0;
    const project = this.#used.get(projectId) ?? this.#use(projectId);
    this.#touched ^= project.touch(hashes);
    let matches = 0;
    for (const hash of hashes) if (project.record(session, hash, room) !== session) matches++;
    return matches;
  }

  recordOwners(projectId: number, session: number, hashes: readonly number[], room: PathRoom): readonly number[] {
    if (hashes.length === 0) return nobody;
    const project = this.#used.get(projectId) ?? this.#use(projectId);
    return hashes.map((hash) => project.record(session, hash, room)).filter((owner) => owner !== session);
  }

  /** Writes what the transaction has recorded. Call at its end, inside of it. */
  save(): void {
    for (const project of this.#used.values()) project.save();
    this.#used.clear();
    this.#makeRoom();
  }

  /** Call when a transaction was undone: memory may hold what was never stored. */
  forget(): void {
    this.#used.clear();
    this.#held.clear();
  }

  /** Returns the copy of a project, after applying other threads' writes. */
  #use(projectId: number): ProjectPaths {
    const project = this.#held.get(projectId) ?? new ProjectPaths(this.#store, projectId);
    this.#held.delete(projectId);
    this.#held.set(projectId, project);
    project.catchUp();
    this.#used.set(projectId, project);
    return project;
  }

  /** Keeps the copies within the memory bound. */
  #makeRoom(): void {
    let heldBytes = 0;
    for (const project of this.#held.values()) heldBytes += project.heldBytes;
    for (const [projectId, project] of this.#held) {
      if (this.#held.size <= limits.replayProjectsMax && heldBytes <= limits.pathReuseHeldBytesMax) return;
      heldBytes -= project.heldBytes;
      this.#held.delete(projectId);
    }
  }
}

/** Hash and session of every slot of a project that has any, one after another: the log wins over the buckets, as above. */
export function storedPaths(store: Tables, projectId: number): Uint32Array {
  store.root.resetReadTxn();
  const slots = new Uint32Array(2 * slotCount);
  for (let bucket = 0; bucket * pathReuseBucketSlots < slotCount; bucket++) {
    const stored = store.pathReuse.getBinary(pathReuseKeys.bucket(projectId, bucket));
    if (stored !== undefined) putPairs(stored, (index) => bucket * pathReuseBucketSlots + index, slots);
  }
  const rows = store.pathReuse.getBinary(pathReuseKeys.head(projectId))?.readUInt32LE(4) ?? 0;
  for (let row = 0; row < rows; row++) {
    const stored = store.pathReuse.getBinary(pathReuseKeys.log(projectId, row));
    if (stored !== undefined) putPairs(stored, (_, hash) => hash & (slotCount - 1), slots);
  }
  return slots.filter((_, word) => slots[word | 1] !== 0 || slots[word & ~1] !== 0);
}

function putPairs(pairs: Buffer, slotOf: (index: number, hash: number) => number, slots: Uint32Array): void {
  for (let at = 0; at + entryBytes <= pairs.length; at += entryBytes) {
    const hash = pairs.readUInt32LE(at);
    const slot = slotOf(at / entryBytes, hash);
    if (slot >= slotCount) return;
    slots[2 * slot] = hash;
    slots[2 * slot + 1] = pairs.readUInt32LE(at + 4);
  }
}
