/**
 * Which pointer-path shingles a project has seen, and from which session: a fixed number of slots a project, the newest shingle of a
 * slot wins. Bounded by construction (2 MB of store a busy project). Slots are far apart in the store and a batch has a dozen of new
 * ones, so a transaction writes them one behind the other into one row of a log; when the log is long, it is taken into the buckets of
 * slots all at once. Used inside the ingest transaction only; what other threads and processes wrote is read at its start.
 */
import { limits } from "../limits.js";
import { replayBucketSlots, replayBuckets, replayKeys } from "../store/keys.js";
import type { Store } from "../store/store.js";
import { SlotTable } from "./slot-table.js";

const entryBytes = 8;

/** The slot of a shingle: its hash modulo the number of slots, a power of two. */
function slotOf(hash: number): number {
  return hash & (limits.shingleSlotsMax - 1);
}

/** What this thread holds of one project. All of it is in the store as well. */
class ProjectReplays {
  readonly #store: Store;
  readonly #projectId: number;
  /** How often the log has been taken into the buckets, and how many rows it has had since: as the head row says. */
  #generation = 0;
  #rows = 0;
  /** The log, but for what `#fresh` holds: the newest of each slot. */
  readonly #logged = new SlotTable();
  /** Buckets read so far, by number: hash and session of each slot, both 0 when nothing stands there. */
  #buckets: (Uint32Array | undefined)[] = [];
  #held = 0;
  /** New in this transaction, in order: hash and session. */
  #fresh: number[] = [];

  constructor(store: Store, projectId: number) {
    this.#store = store;
    this.#projectId = projectId;
  }

  /** Bytes held of buckets. */
  get heldBytes(): number {
    return this.#held * replayBucketSlots * entryBytes;
  }

  /** Takes in what others have written. Call in each transaction before the first `note`. */
  catchUp(): void {
    const head = this.#store.replays.getBinaryFast(replayKeys.head(this.#projectId)) as Buffer | undefined;
    const generation = head === undefined ? 0 : head.readUInt32LE(0);
    const rows = head === undefined ? 0 : head.readUInt32LE(4);
    if (generation !== this.#generation || rows < this.#rows) {
      this.#generation = generation;
      this.#rows = 0;
      this.#logged.clear();
      this.forgetBuckets();
    }
    for (; this.#rows < rows; this.#rows++) {
      const row = this.#store.replays.getBinaryFast(replayKeys.log(this.#projectId, this.#rows)) as Buffer | undefined;
      for (let at = 0; row !== undefined && at + entryBytes <= row.length; at += entryBytes) {
        this.#set(row.readUInt32LE(at), row.readUInt32LE(at + 4));
      }
    }
  }

  /** Notes one shingle; true when another session has shown it. */
  note(session: number, hash: number): boolean {
    const slot = slotOf(hash);
    const logged = this.#logged.find(slot);
    let heldHash: number;
    let heldSession: number;
    if (logged >= 0) {
      heldHash = this.#logged.hashAt(logged);
      heldSession = this.#logged.sessionAt(logged);
    } else {
      const bucket = this.#bucket(Math.floor(slot / replayBucketSlots));
      const at = 2 * (slot % replayBucketSlots);
      heldHash = bucket[at]!;
      heldSession = bucket[at + 1]!;
    }
    // The first session that showed it keeps it: a replay must not pass for the original.
    if (heldHash === hash && (heldHash !== 0 || heldSession !== 0)) return heldSession !== session;
    this.#set(hash, session);
    this.#fresh.push(hash, session);
    return false;
  }

  /** Writes what is new. Call at the end of the transaction. */
  save(): void {
    const fresh = this.#fresh;
    if (fresh.length === 0) return;
    this.#fresh = [];
    if (this.#logged.count >= limits.replayLogMax || this.#rows >= limits.replayLogRowsMax) this.#fold();
    else {
      const row = Buffer.from(Uint32Array.from(fresh).buffer);
      this.#store.replays.putSync(replayKeys.log(this.#projectId, this.#rows++), row);
    }
    const head = Buffer.allocUnsafe(8);
    head.writeUInt32LE(this.#generation, 0);
    head.writeUInt32LE(this.#rows, 4);
    this.#store.replays.putSync(replayKeys.head(this.#projectId), head);
  }

  forgetBuckets(): void {
    this.#buckets = [];
    this.#held = 0;
  }

  #set(hash: number, session: number): void {
    this.#logged.set(slotOf(hash), hash, session);
  }

  /** Takes the log into the buckets and begins a new one. */
  #fold(): void {
    const changed = new Uint8Array(replayBuckets);
    this.#logged.forEach((slot, hash, session) => {
      const number = Math.floor(slot / replayBucketSlots);
      const bucket = this.#bucket(number);
      bucket[2 * (slot % replayBucketSlots)] = hash;
      bucket[2 * (slot % replayBucketSlots) + 1] = session;
      changed[number] = 1;
    });
    for (let number = 0; number < replayBuckets; number++) {
      if (changed[number] === 0) continue;
      const bytes = Buffer.from(this.#bucket(number).buffer);
      this.#store.replays.putSync(replayKeys.bucket(this.#projectId, number), bytes);
    }
    for (let row = 0; row < this.#rows; row++) this.#store.replays.removeSync(replayKeys.log(this.#projectId, row));
    this.#logged.clear();
    this.#generation++;
    this.#rows = 0;
  }

  #bucket(number: number): Uint32Array<ArrayBuffer> {
    const held = this.#buckets[number];
    if (held !== undefined) return held as Uint32Array<ArrayBuffer>;
    const words = new Uint32Array(2 * replayBucketSlots);
    const key = replayKeys.bucket(this.#projectId, number);
    const stored = this.#store.replays.getBinaryFast(key) as Buffer | undefined;
    if (stored !== undefined) {
      Buffer.from(words.buffer).set(stored.subarray(0, Math.min(stored.length, words.byteLength)));
    }
    this.#buckets[number] = words;
    this.#held++;
    return words;
  }
}

/** The memory of paths as one thread uses it. */
export class ReplayMemory {
  readonly #store: Store;
  readonly #projects = new Map<number, ProjectReplays>();
  /** The projects of the transaction under way. */
  readonly #used = new Map<number, ProjectReplays>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Notes the shingles of a batch; returns how many of them another session has shown. `session` names the session in 32 bits. */
  note(projectId: number, session: number, hashes: readonly number[]): number {
    if (hashes.length === 0) return 0;
    const project = this.#used.get(projectId) ?? this.#use(projectId);
    let matches = 0;
    for (const hash of hashes) if (project.note(session, hash)) matches++;
    return matches;
  }

  /** Writes what the transaction has noted. Call at its end, inside of it. */
  save(): void {
    let heldBytes = 0;
    for (const project of this.#used.values()) project.save();
    this.#used.clear();
    for (const project of this.#projects.values()) heldBytes += project.heldBytes;
    if (heldBytes > limits.replayHeldBytesMax) for (const project of this.#projects.values()) project.forgetBuckets();
  }

  /** Call when a transaction was undone: what is held in memory may never have been stored. */
  forget(): void {
    this.#used.clear();
    this.#projects.clear();
  }

  #use(projectId: number): ProjectReplays {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      if (this.#projects.size >= limits.replayProjectsMax) this.#forgetUnused();
      project = new ProjectReplays(this.#store, projectId);
      this.#projects.set(projectId, project);
    }
    project.catchUp();
    this.#used.set(projectId, project);
    return project;
  }

  /** Makes room: what the transaction under way uses stays. */
  #forgetUnused(): void {
    for (const id of this.#projects.keys()) if (!this.#used.has(id)) this.#projects.delete(id);
  }
}
