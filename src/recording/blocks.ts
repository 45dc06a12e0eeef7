/**
 * Recorded blocks: computed verdicts that block by a rule; beside them, fewer, challenges, which are found by the reference that their page shows. An attack on a site brings thousands, so they are collected in memory and written
 * together, off the hot path. For each subject, rule and minute the first ones become records; further ones only raise the last record's count. The
 * store keeps the tally of a minute, so the bound holds over all threads and processes.
 */
import { LRUCache } from "lru-cache";
import type { Block } from "../contract/configuration/entities.js";
import { dayMs, minuteMs } from "../contract/values/durations.js";
import { decodeCursor, encodeCursor, type LogPage } from "../control-plane/logs/cursor.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import type { Slices } from "../runtime/long-work.js";
import { blockTallyKey, blockTallyMinute } from "../store/keys.js";
import type { BlockTally, NewBlock, ProjectBlocks, TallyChange, WrittenTally } from "../store/recorded-rows.js";
import type { Store } from "../store/store.js";

/** Bytes of a block id in a cursor. */
const idBytes = 6;
/** The subject by which blocks are tallied together. */
export interface BlockSubject {
  /** Unique within the project: a session's token, an address or network. Stored as a hash, for two minutes. */
  readonly name: string;
  /** Maximum of records in one rule and minute; further blocks raise the count of the last. */
  readonly recordsMax: number;
}

/** Returns a session as a subject. */
export function sessionSubject(token: string): BlockSubject {
  return { name: token, recordsMax: limits.blocksOfSessionMinuteMax };
}

/** Returns the subject of requests without a session: an address, or one subscriber's network; "" for none. */
export function addressSubject(network: string): BlockSubject {
  return { name: `address ${network}`, recordsMax: 1 };
}

/** Returns the subject of challenges that the subject's visitor is shown: one record a minute. */
export function challengeSubject({ name }: BlockSubject): BlockSubject {
  return { name: `challenge ${name}`, recordsMax: 1 };
}

/** The state of the blocks of one subject, rule and minute. */
interface Tally extends BlockTally {
  /** Blocks that wait to become records, at most `recordsMax`. */
  waiting: number;
  /** Further blocks, not stored yet. */
  further: number;
  /** Whether the store has all its records: new blocks only raise the count. */
  isFull: boolean;
  /** Its last block while that waits to become a record; ids of answers that showed it are kept there. */
  latest: WaitingBlock | null;
  /** Ids of answers that showed its last record and are not stored yet, at most `limits.blockReferencesMax`. */
  references: string[];
  lastId: number;
}

/** A waiting block, with the ids of answers that showed it. */
type WaitingBlock = Omit<NewBlock, "references"> & { references?: string[] };

interface Waiting {
  readonly block: WaitingBlock;
  readonly tally: Tally;
}

interface Write extends ProjectBlocks {
  readonly blocks: Waiting[];
  readonly changes: (TallyChange & { readonly tally: Tally })[];
}

/** One per HTTP thread; the server calls `flush`. */
export class Blocks {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #tallies = new Map<string, Tally>();
  /** The last tally of each recent subject. */
  readonly #latest = new LRUCache<string, Tally>({ max: limits.blockSubjectsMax });
  /** Tallies that have references to store. */
  readonly #referred = new Set<Tally>();
  /** Records of this day by project and network of the visitor; the one of the last record is the last. */
  readonly #ofNetworks = new LRUCache<string, number>({ max: limits.blockNetworksMax });
  #day = 0;
  readonly #ofNetworkMax: number;
  /** Challenges of this minute by project. */
  readonly #challenges = new Map<number, number>();
  #challengeMinute = 0;
  #waiting: Waiting[] = [];
  /** By project, the write that had no answer. It is repeated unchanged, and the project's other blocks wait for it: it may be stored all the same. */
  readonly #unanswered = new Map<number, Write>();
  /** Blocks stored since a flush returned their number. */
  #stored = 0;
  /** Why a write of this flush had no answer. */
  #fault: Error | null = null;
  #writing: Promise<number> | null = null;
  #sweptMs = 0;

  /** `threads` record blocks at once: each has its share of what one address may record. */
  constructor(store: Store, now: () => number, threads = 1) {
    this.#store = store;
    this.#now = now;
    this.#ofNetworkMax = Math.floor((limits.blocksPerProjectMax * limits.blocksOfNetworkShare) / threads);
  }

  /**
   * Takes a block, which a `flush` stores. `network` is the visitor's address or IPv6 /64 ("": not known), of which a day's records are bounded: further ones
   * only raise counts. Returns false when it is dropped because too many wait, or the network has had its records.
   */
  record(block: NewBlock, subject: BlockSubject, network = ""): boolean {
    const { projectId, ruleId, sessionToken, createdAt } = block;
    const minute = Math.floor(Date.parse(createdAt) / minuteMs);
    const name = `${projectId} ${ruleId} ${minute} ${subject.name}`;
    let tally = this.#tallies.get(name);
    const isNew = tally === undefined;
    if (tally === undefined) {
      if (this.#tallies.size >= limits.blockTalliesMax) return false;
      const key = blockTallyKey(minute, projectId, ruleId, subject.name);
      const { recordsMax } = subject;
      const counts = { waiting: 0, further: 0, isFull: false, latest: null, references: [], lastId: 0 };
      tally = { key, projectId, sessionToken, recordsMax, ...counts };
    }
    this.#latest.set(`${projectId} ${subject.name}`, tally);
    if (tally.isFull || tally.waiting >= tally.recordsMax) {
      tally.further++;
      return true;
    }
    if (!this.#hasRoom(projectId, network)) {
      // Nothing to raise the count of.
      if (isNew) return false;
      tally.further++;
      return true;
    }
    if (this.#waitingCount >= limits.blocksWaitingMax) return false;
    if (block.action === "challenge" && !this.#hasRoomForChallenge(projectId, minute)) return false;
    this.#countOfNetwork(projectId, network);
    if (isNew) this.#tallies.set(name, tally);
    tally.latest = { ...block };
    this.#waiting.push({ block: tally.latest, tally });
    tally.waiting++;
    return true;
  }

  /** Notes that an answer with this id said that the subject is blocked: later the id leads to the subject's last block. */
  refer(projectId: number, subject: BlockSubject, reference: string): boolean {
    const tally = this.#latest.get(`${projectId} ${subject.name}`);
    if (tally === undefined) return false;
    const { latest } = tally;
    if (latest !== null) {
      latest.references = [...(latest.references ?? []), reference].slice(-limits.blockReferencesMax);
      return true;
    }
    tally.references = [...tally.references, reference].slice(-limits.blockReferencesMax);
    this.#referred.add(tally);
    return true;
  }

  /** Whether the network may have one more record today. */
  #hasRoom(projectId: number, network: string): boolean {
    const day = Math.floor(this.#now() / dayMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#ofNetworks.clear();
    }
    return (this.#ofNetworks.get(`${projectId} ${network}`) ?? 0) < this.#ofNetworkMax;
  }

  /** Counts a challenge of the project in this minute; false beyond the most of them. */
  #hasRoomForChallenge(projectId: number, minute: number): boolean {
    if (minute !== this.#challengeMinute) {
      this.#challengeMinute = minute;
      this.#challenges.clear();
    }
    const count = (this.#challenges.get(projectId) ?? 0) + 1;
    this.#challenges.set(projectId, count);
    return count <= limits.challengesRecordedMinuteMax;
  }

  #countOfNetwork(projectId: number, network: string): void {
    if (network === "") return;
    const name = `${projectId} ${network}`;
    this.#ofNetworks.set(name, (this.#ofNetworks.get(name) ?? 0) + 1);
  }

  /** Blocks that are not stored yet, with those that only raise a count. */
  get unstored(): number {
    let count = this.#waitingCount;
    for (const { further } of this.#tallies.values()) count += further;
    return count;
  }

  get #waitingCount(): number {
    let count = this.#waiting.length;
    for (const { blocks } of this.#unanswered.values()) count += blocks.length;
    return count;
  }

  /**
   * Stores what waits, with ids in the order of arrival, except blocks of sessions that were erased meanwhile; returns how many blocks. Blocks that
   * only raise a count wait for `limits.blockCountsMs`, unless `isAll`. A crash loses at most what was not stored. Rejects when some of it could not be
   * stored (a full disk, a master that does not answer); that keeps waiting then.
   */
  async flush(isAll = false): Promise<number> {
    // One flush at a time: a second one would store what the first may have to put back.
    while (this.#writing !== null) await this.#writing.catch(() => 0);
    const nowMs = this.#now();
    const areCountsDue = isAll || nowMs - this.#sweptMs >= limits.blockCountsMs;
    const isIdle = this.#waiting.length === 0 && this.#referred.size === 0 && this.#unanswered.size === 0;
    if (isIdle && !areCountsDue) return 0;
    this.#writing = this.#flush(areCountsDue, nowMs);
    try {
      return await this.#writing;
    } finally {
      this.#writing = null;
    }
  }

  /** Writes in transactions of a few milliseconds each. */
  async #flush(areCountsDue: boolean, nowMs: number): Promise<number> {
    this.#fault = null;
    await this.#send([...this.#unanswered.values()]);
    await this.#flushWaiting();
    const referred = [...this.#referred].filter(({ waiting }) => waiting === 0);
    for (let at = 0; at < referred.length; at += limits.blocksAtOnce)
      await this.#write([], referred.slice(at, at + limits.blocksAtOnce), false);
    if (this.#tallies.size > limits.blockTalliesMax / 2) this.#forget(nowMs);
    if (areCountsDue) {
      this.#sweptMs = nowMs;
      const counted = [...this.#tallies.values()].filter(({ further, waiting }) => further > 0 && waiting === 0);
      for (let at = 0; at < counted.length; at += limits.blocksAtOnce)
        await this.#write([], counted.slice(at, at + limits.blocksAtOnce));
      this.#forget(nowMs);
    }
    if (this.#fault !== null) throw this.#fault;
    const stored = this.#stored;
    this.#stored = 0;
    return stored;
  }

  async #flushWaiting(): Promise<void> {
    const isHeld = ({ tally }: Waiting): boolean => this.#unanswered.has(tally.projectId);
    const held = this.#waiting.filter(isHeld);
    const taken = this.#waiting.filter((each) => !isHeld(each));
    this.#waiting = [];
    for (const { tally } of taken) tally.latest = null;
    let at = 0;
    try {
      while (at < taken.length) {
        const next = taken.slice(at, at + limits.blocksAtOnce);
        at += next.length;
        // An earlier piece of this flush may have had no answer.
        held.push(...next.filter(isHeld));
        await this.#write(next, []);
      }
    } finally {
      this.#waiting = [...held, ...taken.slice(at), ...this.#waiting];
    }
  }

  /**
   * Stores these blocks, and for these tallies the references to their last block and, if wanted, the further ones. Leaves out projects that have an
   * unanswered write.
   */
  async #write(waiting: readonly Waiting[], others: readonly Tally[], areCounted = true): Promise<void> {
    const counted = areCounted ? others : [];
    const writes = new Map<number, Write>();
    for (const tally of new Set([...waiting.map((each) => each.tally), ...others])) {
      const { projectId, references } = tally;
      if (this.#unanswered.has(projectId)) continue;
      const write = writes.get(projectId) ?? { projectId, blocks: [], changes: [] };
      writes.set(projectId, write);
      write.changes.push({ tally, further: counted.includes(tally) ? tally.further : 0, references });
    }
    for (const each of waiting) writes.get(each.tally.projectId)?.blocks.push(each);
    await this.#send([...writes.values()]);
  }

  async #send(writes: readonly Write[]): Promise<void> {
    if (writes.length === 0) return;
    for (const write of writes) this.#unanswered.set(write.projectId, write);
    const outcomes = await this.#store.recorded.blocks.write(writes, this.#now());
    for (const [index, write] of writes.entries()) {
      const outcome = outcomes[index]!;
      if (outcome instanceof Error) {
        this.#fault ??= outcome;
        continue;
      }
      this.#unanswered.delete(write.projectId);
      this.#stored += this.#apply(write, outcome);
    }
  }

  /** Returns how many blocks were stored. */
  #apply({ blocks, changes }: Write, written: readonly WrittenTally[]): number {
    for (const { tally } of blocks) tally.waiting--;
    let stored = 0;
    for (const [index, { tally, further, references }] of changes.entries()) {
      const outcome = written[index]!;
      tally.isFull = outcome.records >= tally.recordsMax;
      tally.further -= further;
      tally.lastId = outcome.lastId;
      tally.references = tally.references.filter((reference) => !references.includes(reference));
      if (tally.references.length === 0) this.#referred.delete(tally);
      stored += outcome.stored;
    }
    return stored;
  }

  /** Of the tallies without anything to store, keeps only the full ones, until their minute ends. */
  #forget(nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    for (const [name, { key, waiting, further, isFull }] of this.#tallies)
      if (waiting === 0 && further === 0 && !(isFull && blockTallyMinute(key) >= minute)) this.#tallies.delete(name);
  }

  /**
   * Returns the block that an answer with this id showed; null for an unknown id. Searches the project's blocks from the latest on, about 8 us each.
   * Returns undefined when the caller has gone meanwhile.
   */
  async find(projectId: number, reference: string, slices: Slices): Promise<Block | null | undefined> {
    let before = latest;
    for (;;) {
      if (slices.isOver && !(await slices.next())) return undefined;
      const rows = await this.#store.recorded.blocks.before(projectId, before, limits.blocksAtOnce);
      const found = rows.find(({ references }) => references?.includes(reference));
      if (found !== undefined) return found;
      if (rows.length < limits.blocksAtOnce) return null;
      before = rows.at(-1)!.id;
    }
  }

  /** Returns the project's blocks, the latest first, from the cursor on. `invalidPayload` for an invalid cursor. */
  async page(projectId: number, limit: number, cursor: string | null): Promise<LogPage<Block> | Refusal> {
    const position = cursor === null ? null : decodeCursor("b", cursor, idBytes);
    if (cursor !== null && position === null) return refuse("invalidPayload", "cursor is not valid for this list");
    let before = position?.readUIntBE(0, idBytes) ?? latest;
    const rows: Block[] = [];
    for (let count = limit + 1; ; count = limits.blocksAtOnce) {
      const read = await this.#store.recorded.blocks.before(projectId, before, count);
      rows.push(...read.filter(({ action }) => action === undefined));
      if (rows.length > limit) {
        return { rows: rows.slice(0, limit), nextCursor: encodeCursor("b", idPosition(rows[limit - 1]!.id)) };
      }
      if (read.length < count) return { rows, nextCursor: null };
      before = read.at(-1)!.id;
    }
  }
}

/** Greater than every id. */
const latest = Number.POSITIVE_INFINITY;

function idPosition(id: number): Buffer {
  const position = Buffer.alloc(idBytes);
  position.writeUIntBE(id, 0, idBytes);
  return position;
}
