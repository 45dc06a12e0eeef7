/**
 * Recorded blocks: computed verdicts that block by a rule. They come by the thousand when a site is attacked, so they are collected in
 * memory and written together, off the hot path; of each subject, rule and minute the first ones are records, further ones only raise the
 * last record's count. What was recorded of a minute is tallied in the store, so the bound holds over all threads and processes.
 */
import type { Block } from "../contract/entities.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import type { Slices } from "../long-work.js";
import { blockTalliesFrom, blockTallyBytes, blockTallyKey, blockTallyMinute, sessionKey } from "../store/keys.js";
import { nextId, type Store, skipIds } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** Bytes of a block id in a cursor and in a tally. */
const idBytes = 6;
const minuteMs = 60_000;

export type NewBlock = Omit<Block, "id" | "count">;

/** Whose blocks are tallied together. */
export interface BlockSubject {
  /** Unlike any other of the project: a session's token, an address or network. Stored as a hash, for two minutes. */
  readonly name: string;
  /** Records of one rule and minute; further blocks raise the count of the last. */
  readonly recordsMax: number;
}

/** A session as a subject. */
export function sessionSubject(token: string): BlockSubject {
  return { name: token, recordsMax: limits.blocksOfSessionMinuteMax };
}

/** Requests without a session of an address, or of the network that one subscriber has; "" for none. */
export function addressSubject(network: string): BlockSubject {
  return { name: `address ${network}`, recordsMax: 1 };
}

/** What is known of the blocks of one subject, rule and minute. */
interface Tally {
  readonly key: Buffer;
  readonly projectId: number;
  readonly sessionToken: string | null;
  readonly recordsMax: number;
  /** Blocks that wait to be records, at most `recordsMax`. */
  waiting: number;
  /** Blocks beyond these, not stored yet. */
  further: number;
  /** Whether the store has all records of it: what comes is only counted. */
  isFull: boolean;
  /** Answers that showed its last block and are not stored yet, at most `limits.blockReferencesMax`. */
  references: string[];
  /** The last record, once it is stored; 0: none is. */
  lastId: number;
}

interface Waiting {
  readonly block: NewBlock;
  readonly tally: Tally;
}

/** What a transaction makes of a tally. */
interface TallyOutcome {
  /** Whether the session was erased meanwhile: nothing of it is stored. */
  readonly isGone: boolean;
  /** Records of it in the store, and the last of them. */
  records: number;
  lastId: number;
  last: Block | null;
  /** Blocks that only raise its count; how many of them the tally had counted. */
  further: number;
  taken: number;
  /** References that the last record gets. */
  readonly references: readonly string[];
  /** Blocks that were stored, by a record of their own or in its count. */
  stored: number;
}

export class Blocks {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #tallies = new Map<string, Tally>();
  /** The last tally of each of the latest subjects. */
  readonly #latest = new Map<string, Tally>();
  /** Those that have references to store. */
  readonly #referred = new Set<Tally>();
  #waiting: Waiting[] = [];
  #writing: Promise<number> | null = null;
  #sweptMs = 0;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Takes a block, to be stored by a `flush`. False when so many wait already that it is dropped. */
  record(block: NewBlock, subject: BlockSubject): boolean {
    const { projectId, ruleId, sessionToken, createdAt } = block;
    const minute = Math.floor(Date.parse(createdAt) / minuteMs);
    const name = `${projectId} ${ruleId} ${minute} ${subject.name}`;
    let tally = this.#tallies.get(name);
    const isNew = tally === undefined;
    if (tally === undefined) {
      if (this.#tallies.size >= limits.blockTalliesMax) return false;
      const key = blockTallyKey(minute, projectId, ruleId, subject.name);
      const { recordsMax } = subject;
      const counts = { waiting: 0, further: 0, isFull: false, references: [], lastId: 0 };
      tally = { key, projectId, sessionToken, recordsMax, ...counts };
    }
    this.#rememberLatest(`${projectId} ${subject.name}`, tally);
    if (tally.isFull || tally.waiting >= tally.recordsMax) {
      tally.further++;
      return true;
    }
    if (this.#waiting.length >= limits.blocksWaitingMax) return false;
    if (isNew) this.#tallies.set(name, tally);
    this.#waiting.push({ block, tally });
    tally.waiting++;
    return true;
  }

  /** Notes that an answer of this id said that the subject is blocked: it finds the subject's last block. */
  refer(projectId: number, subject: BlockSubject, reference: string): boolean {
    const tally = this.#latest.get(`${projectId} ${subject.name}`);
    if (tally === undefined) return false;
    tally.references = [...tally.references, reference].slice(-limits.blockReferencesMax);
    this.#referred.add(tally);
    return true;
  }

  #rememberLatest(name: string, tally: Tally): void {
    if (this.#latest.get(name) === tally) return;
    this.#latest.delete(name);
    this.#latest.set(name, tally);
    if (this.#latest.size > limits.blockSubjectsMax) this.#latest.delete(this.#latest.keys().next().value!);
  }

  /**
   * Stores what waits, in the order it came and with ids in that order, but for blocks of sessions that were erased meanwhile; returns how
   * many blocks. Those that only raise a count wait for `limits.blockCountsMs`, unless `isAll`. A crash loses at most what was not stored.
   * Rejects when the store can't be written (a full disk): what waited still waits then.
   */
  async flush(isAll = false): Promise<number> {
    // One at a time: a second one would store what the first may have to put back.
    while (this.#writing !== null) await this.#writing.catch(() => 0);
    const nowMs = this.#now();
    const areCountsDue = isAll || nowMs - this.#sweptMs >= limits.blockCountsMs;
    if (this.#waiting.length === 0 && this.#referred.size === 0 && !areCountsDue) return 0;
    this.#writing = this.#flush(areCountsDue, nowMs);
    try {
      return await this.#writing;
    } finally {
      this.#writing = null;
    }
  }

  /** In transactions of a few milliseconds each. */
  async #flush(areCountsDue: boolean, nowMs: number): Promise<number> {
    const waiting = this.#waiting;
    this.#waiting = [];
    let stored = 0;
    let from = 0;
    try {
      for (; from < waiting.length; from += limits.blocksAtOnce)
        stored += await this.#write(waiting.slice(from, from + limits.blocksAtOnce), []);
    } catch (error) {
      this.#waiting = [...waiting.slice(from), ...this.#waiting];
      throw error;
    }
    const referred = [...this.#referred].filter(({ waiting }) => waiting === 0);
    for (let at = 0; at < referred.length; at += limits.blocksAtOnce)
      stored += await this.#write([], referred.slice(at, at + limits.blocksAtOnce), false);
    if (this.#tallies.size > limits.blockTalliesMax / 2) this.#forget(nowMs);
    if (!areCountsDue) return stored;
    this.#sweptMs = nowMs;
    const counted = [...this.#tallies.values()].filter(({ further, waiting }) => further > 0 && waiting === 0);
    for (let at = 0; at < counted.length; at += limits.blocksAtOnce)
      stored += await this.#write([], counted.slice(at, at + limits.blocksAtOnce));
    this.#forget(nowMs);
    return stored;
  }

  /** Stores these blocks, and of these tallies what refers to their last block and, if wanted, the further ones. */
  async #write(waiting: readonly Waiting[], others: readonly Tally[], areCounted = true): Promise<number> {
    const outcomes = new Map<Tally, TallyOutcome>();
    await this.#loadSessions([...waiting.map(({ tally }) => tally), ...others]);
    await this.#store.root.transaction(() => {
      outcomes.clear();
      const ids = new Map<number, number>();
      const outcomeOf = (tally: Tally): TallyOutcome => {
        const known = outcomes.get(tally) ?? this.#readTally(tally);
        outcomes.set(tally, known);
        return known;
      };
      for (const { block, tally } of waiting) this.#writeBlock(block, tally, outcomeOf(tally), ids);
      for (const tally of others) {
        const outcome = outcomeOf(tally);
        if (!areCounted) continue;
        outcome.taken = tally.further;
        outcome.further += tally.further;
      }
      for (const [tally, outcome] of outcomes) this.#writeTally(tally, outcome);
      for (const [projectId, id] of ids) {
        skipIds(this.#store, `block:${projectId}`, id - 1);
        this.#removeOldest(projectId, id - 1, waiting.length);
      }
      this.#removeTallies(outcomes.size);
    });
    for (const { tally } of waiting) tally.waiting--;
    let stored = 0;
    for (const [tally, outcome] of outcomes) {
      tally.isFull = outcome.records >= tally.recordsMax;
      tally.further -= outcome.taken;
      tally.lastId = outcome.lastId;
      tally.references = tally.references.filter((reference) => !outcome.references.includes(reference));
      if (tally.references.length === 0) this.#referred.delete(tally);
      stored += outcome.stored;
    }
    return stored;
  }

  #readTally(tally: Tally): TallyOutcome {
    const { projectId, sessionToken } = tally;
    const isGone = sessionToken !== null && !this.#isStored(projectId, sessionToken);
    const { records, lastId: stored } = unpackTally(this.#store.blockTallies.getBinary(tally.key));
    // The tally goes with its minute; a cached verdict may be asked for longer.
    const lastId = stored || tally.lastId;
    const last = lastId === 0 ? null : (this.#store.blocks.get([projectId, lastId]) ?? null);
    return { isGone, records, lastId, last, further: 0, taken: 0, references: tally.references, stored: 0 };
  }

  /** `ids`: the next id of each project that had a new record. */
  #writeBlock(block: NewBlock, tally: Tally, outcome: TallyOutcome, ids: Map<number, number>): void {
    if (outcome.isGone) return;
    if (outcome.records >= tally.recordsMax) {
      outcome.further++;
      return;
    }
    const { projectId } = block;
    const id = ids.get(projectId) ?? nextId(this.#store, `block:${projectId}`);
    ids.set(projectId, id + 1);
    outcome.last = { id, ...block, count: 1 };
    outcome.lastId = id;
    outcome.records++;
    outcome.stored++;
    this.#store.blocks.putSync([projectId, id], outcome.last);
  }

  #writeTally(tally: Tally, outcome: TallyOutcome): void {
    const { isGone, records, lastId, last, further, references } = outcome;
    if (isGone) return;
    // The last record is gone when its project had more than `limits.blocksPerProjectMax` since.
    if (last !== null && (further > 0 || references.length > 0)) {
      const all = [...(last.references ?? []), ...references].slice(-limits.blockReferencesMax);
      const count = (last.count ?? 1) + further;
      const referred = all.length > 0 && { references: all };
      this.#store.blocks.putSync([tally.projectId, lastId], { ...last, count, ...referred });
      outcome.stored += further;
    }
    if (outcome.stored > 0) this.#store.blockTallies.putSync(tally.key, packTally(records, lastId));
  }

  /** Keeps a project to `limits.blocksPerProjectMax` rows: ids are given in order, so that older ones lie before this one. */
  #removeOldest(projectId: number, lastId: number, added: number): void {
    const { blocks } = this.#store;
    const end: [number, number] = [projectId, lastId - limits.blocksPerProjectMax + 1];
    if (end[1] <= 1) return;
    const limit = limits.sweepRowsMax + added;
    for (const key of [...blocks.getKeys({ start: [projectId, 0], end, limit })]) blocks.removeSync(key);
  }

  /** Tallies of minutes that are over, more than were added; those of the minute before stay for blocks that come late. */
  #removeTallies(added: number): void {
    const { blockTallies } = this.#store;
    const end = blockTalliesFrom(Math.floor(this.#now() / minuteMs) - 1);
    const limit = limits.sweepRowsMax + added;
    for (const key of [...blockTallies.getKeys({ end, limit })]) blockTallies.removeSync(key);
  }

  /** Keeps of tallies without anything to store those that are full, for as long as their minute lasts. */
  #forget(nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    for (const [name, { key, waiting, further, isFull }] of this.#tallies)
      if (waiting === 0 && further === 0 && !(isFull && blockTallyMinute(key) >= minute)) this.#tallies.delete(name);
  }

  /** Lets `#isStored` find the sessions of these tallies. */
  async #loadSessions(tallies: readonly Tally[]): Promise<void> {
    const keys = new Map<string, Buffer>();
    for (const { projectId, sessionToken } of tallies) {
      const token = sessionToken === null ? null : decodeSessionToken(sessionToken);
      if (token !== null) keys.set(`${projectId} ${sessionToken}`, sessionKey(projectId, token));
    }
    await this.#store.rows.load([...keys.values()], true);
  }

  #isStored(projectId: number, sessionToken: string): boolean {
    const token = decodeSessionToken(sessionToken);
    return token !== null && this.#store.rows.record(sessionKey(projectId, token)) !== undefined;
  }

  /**
   * The block that an answer of this id showed; null for none that is known. Looks through the project's blocks from the latest on, about 8 us
   * each. Undefined when whoever asked has gone meanwhile.
   */
  async find(projectId: number, reference: string, slices: Slices): Promise<Block | null | undefined> {
    let start = Number.POSITIVE_INFINITY;
    for (;;) {
      if (slices.isOver && !(await slices.next())) return undefined;
      const range = { start: [projectId, start], end: [projectId, 0], reverse: true, exclusiveStart: true } as const;
      const rows = [...this.#store.blocks.getRange({ ...range, limit: limits.blocksAtOnce } as never)];
      const found = rows.find(({ value }) => value.references?.includes(reference));
      if (found !== undefined) return found.value;
      if (rows.length < limits.blocksAtOnce) return null;
      start = rows.at(-1)!.value.id;
    }
  }

  /** The project's blocks, the latest first, from the cursor on. `invalidPayload` for a cursor that is none. */
  page(projectId: number, limit: number, cursor: string | null): LogPage<Block> | Refusal {
    const position = cursor === null ? null : decodeCursor("b", cursor, idBytes);
    if (cursor !== null && position === null) return refuse("invalidPayload", "cursor is not one of this log");
    const start: [number, number] =
      position === null ? [projectId, Number.POSITIVE_INFINITY] : [projectId, position.readUIntBE(0, idBytes)];
    const range = this.#store.blocks.getRange({
      start,
      end: [projectId, 0],
      reverse: true,
      exclusiveStart: true,
      limit: limit + 1,
    });
    const rows = [...range].map(({ value }) => value);
    const last = rows.length > limit ? rows[limit - 1]! : null;
    return { rows: rows.slice(0, limit), nextCursor: last === null ? null : encodeCursor("b", idPosition(last.id)) };
  }
}

/** What the store has of a tally: its records, and the id of the last (0: there is none). */
function unpackTally(bytes: Buffer | undefined): { records: number; lastId: number } {
  return bytes === undefined
    ? { records: 0, lastId: 0 }
    : { records: bytes.readUInt32BE(0), lastId: bytes.readUIntBE(4, idBytes) };
}

function packTally(records: number, lastId: number): Buffer {
  const bytes = Buffer.alloc(blockTallyBytes);
  bytes.writeUInt32BE(records, 0);
  bytes.writeUIntBE(lastId, 4, idBytes);
  return bytes;
}

function idPosition(id: number): Buffer {
  const position = Buffer.alloc(idBytes);
  position.writeUIntBE(id, 0, idBytes);
  return position;
}
