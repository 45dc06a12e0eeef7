/**
 * The path-reuse index in LMDB: which path hashes a project has seen, and from which session. A fixed number of slots a project; the newest
 * hash of a slot wins. Bounded by construction (2 MB of store a busy project). Slots are far apart in the store and a batch has a dozen of
 * new ones, so a transaction writes them one behind the other into one row of a log; when the log is long, it is taken into the buckets of
 * slots all at once. Used inside the ingest transaction only; what other threads and processes wrote is read at its start.
 *
 * The log saves about half of the scoring thread's CPU, which one row a hash took for pages read and written
 * (src/docs/decisions/007-path-reuse-log.md). Held by the bench's scenarios `ingest`.
 */
import { limits } from "../limits.js";
import { pathReuseBucketSlots, pathReuseKeys } from "../store/keys.js";
import type { SessionTables } from "../store/session-tables.js";
import type { PathReuseIndex, PathRoom } from "./path-reuse-index.js";

const entryBytes = 8;
const bucketWords = 2 * pathReuseBucketSlots;

/** What is known of a bucket, as bits: it was read from the store; the log says something of its slots. */
const isRead = 1;
const isChanged = 2;

const slotCount = limits.shingleSlotsMax;

function bucketOf(slot: number): number {
  return Math.floor(slot / pathReuseBucketSlots);
}

/** What this thread holds of one project. All of it is in the store as well. */
class ProjectPaths {
  readonly #store: SessionTables;
  readonly #projectId: number;
  /** How often the log has been taken into the buckets, and how many rows it has had since: as the head row says. */
  #generation = 0;
  #rows = 0;
  /** Shingles in these rows. */
  #logged = 0;
  /**
   * Hash and session of each slot, both 0 when nothing stands there: what the log says, and around it the buckets read so far. One
   * array for all of them, because a look-up costs little but the memory that it waits for.
   */
  readonly #slots: Uint32Array<ArrayBuffer>;
  /** A bit for each slot that the log says something of. */
  readonly #inLog: Uint8Array;
  /** `isRead` and `isChanged` of each bucket. */
  readonly #buckets: Uint8Array;
  #held = 0;
  /** New in this transaction, in order: hash and session; the first `#freshWords` count. */
  #fresh = new Uint32Array(1024);
  #freshWords = 0;

  constructor(store: SessionTables, projectId: number) {
    this.#store = store;
    this.#projectId = projectId;
    const buckets = Math.ceil(slotCount / pathReuseBucketSlots);
    this.#slots = new Uint32Array(bucketWords * buckets);
    this.#inLog = new Uint8Array(slotCount / 8);
    this.#buckets = new Uint8Array(buckets);
  }

  /** Bytes held of buckets. The rest of the memory has not been touched. */
  get heldBytes(): number {
    return this.#held * pathReuseBucketSlots * entryBytes;
  }

  /** Takes in what others have written. Call in each transaction before the first `record`. */
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

  /** Notes one hash, unless it is held or there is no room; returns the session that has shown it first. */
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
   * Brings the slots of these shingles nearer to the core. Slots lie far apart, and looked up one after the other each is waited for alone:
   * that was a tenth of what a batch costs the thread. Returns something, so that it is not left out.
   */
  touch(hashes: readonly number[]): number {
    let sum = 0;
    for (const hash of hashes) sum ^= this.#slots[2 * (hash & (slotCount - 1))]!;
    return sum;
  }

  /** The session that has shown the hash first; null when it is not held here. */
  #ownerOf(hash: number): number | null {
    const slot = hash & (slotCount - 1);
    const bucket = bucketOf(slot);
    if ((this.#buckets[bucket]! & isRead) === 0) this.#read(bucket);
    const heldHash = this.#slots[2 * slot]!;
    const heldSession = this.#slots[2 * slot + 1]!;
    return heldHash === hash && (heldHash !== 0 || heldSession !== 0) ? heldSession : null;
  }

  /** Writes what is new. Call at the end of the transaction. */
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

  /** Writes what is new behind the log, in rows of a page at most: a little more than a page would take two. */
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

  /** Puts what is stored of a bucket around what the log says of it. */
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

  /** Takes the log into the buckets and begins a new one. */
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

/** The index as one thread uses it in its transactions, one after another. */
export class LmdbPathReuseIndex implements PathReuseIndex {
  readonly #store: SessionTables;
  /** What is held of projects, the one used longest ago first. */
  readonly #held = new Map<number, ProjectPaths>();
  /** The projects of the transaction under way. */
  readonly #used = new Map<number, ProjectPaths>();
  #touched = 0;

  constructor(store: SessionTables) {
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

  /** Call when a transaction was undone: what is held in memory may never have been stored. */
  forget(): void {
    this.#used.clear();
    this.#held.clear();
  }

  /** What is held of a project, caught up with what others wrote. */
  #use(projectId: number): ProjectPaths {
    const project = this.#held.get(projectId) ?? new ProjectPaths(this.#store, projectId);
    this.#held.delete(projectId);
    this.#held.set(projectId, project);
    project.catchUp();
    this.#used.set(projectId, project);
    return project;
  }

  /** Keeps what is held within bounds. */
  #makeRoom(): void {
    let heldBytes = 0;
    for (const project of this.#held.values()) heldBytes += project.heldBytes;
    for (const [projectId, project] of this.#held) {
      if (this.#held.size <= limits.replayProjectsMax && heldBytes <= limits.replayHeldBytesMax) return;
      heldBytes -= project.heldBytes;
      this.#held.delete(projectId);
    }
  }
}

/** Hash and session of every slot of a project that has any, one after another: what the log says wins over the buckets, as above. */
export function storedPaths(store: SessionTables, projectId: number): Uint32Array {
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
