/**
 * Rows of words by a keyed hash, in memory that all HTTP threads of a process share. Of a fixed size: the row that was used longest ago makes room for a
 * new one. Split into shards, each with a lock of its own that is held for about a microsecond.
 */
import { BrokenShard, ShardLock } from "./shard-lock.js";

/** Shards and rows of each are powers of two; `width`: the words of a row that are its user's, zero in a new one. */
export interface TableSize {
  readonly shards: number;
  readonly rows: number;
  readonly width: number;
  /** Words that some rows need besides, as so many parts of so many words; what is in them in a new row is from an old one. */
  readonly parts?: { readonly count: number; readonly width: number };
}

/** Words of a shard before its chains and rows, as many as a processor's cache fetches at once; the first is the lock. */
const usedAt = 1;
const freeAt = 2;
const newestAt = 3;
const oldestAt = 4;
const shardHeadWords = 16;
/** Words of a row before its user's. Numbers of rows count from 1: 0 is none. */
const hash0At = 0;
const hash1At = 1;
const nextAt = 2;
const newerAt = 3;
const olderAt = 4;
const rowHeadWords = 5;

/** Bytes that a table of this size takes. */
export function tableBytes({ shards, rows, width, parts = noParts }: TableSize): number {
  return 4 * shards * (shardHeadWords + rows + rows * (rowHeadWords + width + parts.count * parts.width));
}

const noParts = { count: 0, width: 0 };

/** A row while its shard is held: the same object for all rows of a shard. */
export interface TableRow {
  /** Of the shard. */
  readonly words: Int32Array;
  /** Where the words of the row begin that are its user's. */
  readonly at: number;
  readonly isNew: boolean;
  /** Where a part of the row begins. The same part of all rows lies together: memory of parts that few rows have is not touched, and costs nothing. */
  part(index: number): number;
}

type UseRow<T> = (row: TableRow) => T;

/** One thread's way to a table. What can't be had in time is undefined: it costs a count, not a verdict. */
export class RecentTable {
  readonly #shards: readonly Shard[];

  /** `memory` at `at` is empty, or another thread's table of the same size. */
  constructor(memory: SharedArrayBuffer, at: number, size: TableSize) {
    const bytes = tableBytes({ ...size, shards: 1 });
    this.#shards = Array.from({ length: size.shards }, (_, index) => new Shard(memory, at + index * bytes, size));
  }

  /** Whether there is such a row, which counts as a use of it. `now` is of `clock`. */
  has(hash0: number, hash1: number, now: number): boolean {
    return this.useKnown(hash0, hash1, now, isThere) === true;
  }

  /** Hands the row to `use`, which must not throw; a new one if there is none. */
  use<T>(hash0: number, hash1: number, now: number, use: UseRow<T>): T | undefined {
    return this.#shardOf(hash1).locked(hash0, hash1, now, use, "made");
  }

  /** The same for a row that is there; undefined if none is. */
  useKnown<T>(hash0: number, hash1: number, now: number, use: UseRow<T>): T | undefined {
    return this.#shardOf(hash1).locked(hash0, hash1, now, use, "known");
  }

  /** Hands the row to `use` and takes it out; undefined if there is none. */
  take<T>(hash0: number, hash1: number, now: number, use: UseRow<T>): T | undefined {
    return this.#shardOf(hash1).locked(hash0, hash1, now, use, "taken");
  }

  #shardOf(hash1: number): Shard {
    return this.#shards[hash1 & (this.#shards.length - 1)]!;
  }
}

const isThere = (): boolean => true;

class HeldRow implements TableRow {
  readonly words: Int32Array;
  at = 0;
  isNew = false;
  /** From 0. */
  index = 0;
  readonly #partsAt: number;
  readonly #partWidth: number;
  readonly #partStride: number;

  constructor(words: Int32Array, rows: number, rowWords: number, partWidth: number) {
    this.words = words;
    this.#partsAt = rows * rowWords;
    this.#partWidth = partWidth;
    this.#partStride = rows * partWidth;
  }

  part(index: number): number {
    return this.#partsAt + index * this.#partStride + this.index * this.#partWidth;
  }
}

class Shard {
  readonly #head: Int32Array;
  readonly #chains: Int32Array;
  readonly #rows: Int32Array;
  readonly #rowsMax: number;
  readonly #rowWords: number;
  readonly #held: HeldRow;
  readonly #lock: ShardLock;

  constructor(memory: SharedArrayBuffer, at: number, { rows, width, parts = noParts }: TableSize) {
    this.#rowsMax = rows;
    this.#rowWords = rowHeadWords + width;
    this.#head = new Int32Array(memory, at, shardHeadWords);
    this.#chains = new Int32Array(memory, at + 4 * shardHeadWords, rows);
    const words = rows * (this.#rowWords + parts.count * parts.width);
    this.#rows = new Int32Array(memory, at + 4 * (shardHeadWords + rows), words);
    this.#held = new HeldRow(this.#rows, rows, this.#rowWords, parts.width);
    this.#lock = new ShardLock(this.#head, () => {
      this.#chains.fill(0);
      this.#head.fill(0, 1);
    });
  }

  /** One function for all uses, without another one inside: it runs for each request. */
  locked<T>(hash0: number, hash1: number, now: number, use: UseRow<T>, way: "made" | "known" | "taken"): T | undefined {
    if (!this.#lock.take(now)) return undefined;
    try {
      const known = this.#find(hash0, hash1);
      if (known === 0 && way !== "made") return undefined;
      const row = known === 0 ? this.#add(hash0, hash1) : known;
      const result = this.#used(row, use, known === 0);
      if (way === "taken") this.#remove(row);
      return result;
    } catch (error) {
      this.#lock.mend(error);
      return undefined;
    } finally {
      this.#lock.leave(now);
    }
  }

  /** The number of a row, or 0. */
  #find(hash0: number, hash1: number): number {
    const rows = this.#rows;
    let row = this.#chains[hash0 & (this.#rowsMax - 1)]!;
    let left = this.#rowsMax;
    while (row !== 0) {
      const at = (row - 1) * this.#rowWords;
      if (rows[at + hash0At] === hash0 && rows[at + hash1At] === hash1) return row;
      row = rows[at + nextAt]!;
      if (--left < 0) throw new BrokenShard();
    }
    return 0;
  }

  #used<T>(row: number, use: UseRow<T>, isNew: boolean): T {
    if (this.#head[newestAt] !== row) {
      if (!isNew) this.#unlink(row);
      this.#linkNewest(row);
    }
    const held = this.#held;
    held.index = row - 1;
    held.at = held.index * this.#rowWords + rowHeadWords;
    held.isNew = isNew;
    return use(held);
  }

  #add(hash0: number, hash1: number): number {
    const head = this.#head;
    if (head[freeAt] === 0 && head[usedAt]! >= this.#rowsMax) {
      if (head[oldestAt]! <= 0) throw new BrokenShard();
      this.#remove(head[oldestAt]!);
    }
    let row = head[freeAt]!;
    if (row === 0) {
      row = head[usedAt]! + 1;
      head[usedAt] = row;
    } else head[freeAt] = this.#rows[(row - 1) * this.#rowWords + nextAt]!;
    const at = (row - 1) * this.#rowWords;
    const chain = hash0 & (this.#rowsMax - 1);
    const rows = this.#rows;
    // Faster than `fill` for so few.
    for (let word = at; word < at + this.#rowWords; word++) rows[word] = 0;
    rows[at + hash0At] = hash0;
    rows[at + hash1At] = hash1;
    rows[at + nextAt] = this.#chains[chain]!;
    this.#chains[chain] = row;
    return row;
  }

  #remove(row: number): void {
    const rows = this.#rows;
    const at = (row - 1) * this.#rowWords;
    const chain = rows[at + hash0At]! & (this.#rowsMax - 1);
    let before = this.#chains[chain]!;
    if (before === row) this.#chains[chain] = rows[at + nextAt]!;
    else {
      let left = this.#rowsMax;
      while (before !== 0 && rows[(before - 1) * this.#rowWords + nextAt] !== row) {
        before = rows[(before - 1) * this.#rowWords + nextAt]!;
        if (--left < 0) throw new BrokenShard();
      }
      if (before === 0) throw new BrokenShard();
      rows[(before - 1) * this.#rowWords + nextAt] = rows[at + nextAt]!;
    }
    this.#unlink(row);
    rows[at + nextAt] = this.#head[freeAt]!;
    this.#head[freeAt] = row;
  }

  #linkNewest(row: number): void {
    const newest = this.#head[newestAt]!;
    const at = (row - 1) * this.#rowWords;
    this.#rows[at + newerAt] = 0;
    this.#rows[at + olderAt] = newest;
    if (newest !== 0) this.#rows[(newest - 1) * this.#rowWords + newerAt] = row;
    else this.#head[oldestAt] = row;
    this.#head[newestAt] = row;
  }

  #unlink(row: number): void {
    const at = (row - 1) * this.#rowWords;
    const newer = this.#rows[at + newerAt]!;
    const older = this.#rows[at + olderAt]!;
    if (newer === 0) this.#head[newestAt] = older;
    else this.#rows[(newer - 1) * this.#rowWords + olderAt] = older;
    if (older === 0) this.#head[oldestAt] = newer;
    else this.#rows[(older - 1) * this.#rowWords + newerAt] = newer;
  }
}
