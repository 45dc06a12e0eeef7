/**
 * How many requests of an address a project saw in the last 60 s, counted in memory that all HTTP threads of a process share. An exact
 * sliding window: each request is an entry of a queue by time, and leaves the count of its address 60 s later.
 *
 * The memory is split into shards by a keyed hash, each with a lock of its own that is held for well under a microsecond. A shard is
 *
 * - a table of addresses: 64 bits of hash, count, the chain they hang on, and their latest entry;
 * - a ring of entries: address, time, number of requests.
 *
 * Exact while a shard has room for its addresses and entries, which is up to a million addresses a process. Beyond that the oldest entries go
 * first: counts are then of less than 60 s, and never too high. Requests of one address share an entry where that is needed to bound the ring:
 * those within 10 ms from the 1,000th request a minute on, those within a second in a ring that is half full. They leave together when the
 * first of them does, so a count may lack the requests of 10 ms (or a second) at the far end of the window.
 */
import { randomFillSync } from "node:crypto";
import { halfSipHash } from "../contract/values/hashes.js";
import { mappedV4, parseV4, parseV6 } from "../net/address-text.js";
import { BrokenShard, clock, ShardLock, shardsFor } from "./shard-lock.js";

/** What `newRates` may make smaller, for tests. */
interface RatesSize {
  /** A power of two. */
  readonly shards: number;
  /** Of a shard: addresses, chains they hang on and entries; the latter two are powers of two. */
  readonly addresses: number;
  readonly chains: number;
  readonly entries: number;
}

/**
 * For a service of so many HTTP threads: 1.3 million addresses and 4.2 million entries in 85 MB, of which the system gives only the pages that are
 * written to.
 */
export function ratesSize(threads: number): RatesSize {
  const shards = shardsFor(threads);
  const share = 2 ** 20 / shards;
  return { shards, addresses: 1.25 * share, chains: 2 * share, entries: 4 * share };
}

const windowMs = 60_000;
/** A clock that was set back by more than this makes what is later than now old. */
const skewMs = 1000;
const hotCount = 1000;
const hotMs = 10;
const fullMs = 1000;

/** Words at the start: the hash's key, then the size. */
const headWords = 8;
/** Words of a shard before its columns; the first is the lock. */
const firstEntryAt = 1;
const entryCountAt = 2;
const freeAt = 3;
const usedAt = 4;
const shardHeadWords = 8;
const addressColumns = 5;
const entryColumns = 3;

/** Memory of rates, empty, with a hash key of its own; untouched pages cost nothing. */
export function newRates(size = ratesSize(1)): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(4 * (headWords + size.shards * shardWords(size)));
  const words = new Int32Array(memory);
  const key = randomFillSync(new Int32Array(2));
  words.set([key[0]!, key[1]!, size.shards, size.addresses, size.chains, size.entries]);
  return memory;
}

function shardWords({ addresses, chains, entries }: RatesSize): number {
  return shardHeadWords + chains + addressColumns * addresses + entryColumns * entries;
}

/** One thread's way to the counts. A lock that can't be had in time costs a count, not a verdict. */
export class RequestRates {
  readonly #key: readonly [number, number];
  readonly #shards: readonly Shard[];
  readonly #groups = new Uint16Array(8);

  /** `memory` is of `newRates`; threads that are given the same count together. */
  constructor(memory: SharedArrayBuffer) {
    const [key0, key1, shards, addresses, chains, entries] = new Int32Array(memory, 0, headWords);
    const size: RatesSize = { shards: shards!, addresses: addresses!, chains: chains!, entries: entries! };
    this.#key = [key0!, key1!];
    this.#shards = Array.from(
      { length: size.shards },
      (_, index) => new Shard(memory, 4 * (headWords + index * shardWords(size)), size),
    );
  }

  /**
   * Counts a request of this address (IPv6: of its /64) at `nowMs`, milliseconds since the epoch, and returns how many the project saw from
   * it in the last 60 s, this one included. Undefined for what is no address, and when the memory could not be had in time. About 0.9 µs.
   */
  count(projectId: number, address: string, nowMs: number): number | undefined {
    const hash = this.#hashOf(projectId, address);
    if (hash === null) return undefined;
    return this.#shards[hash[1] & (this.#shards.length - 1)]!.count(hash[0], hash[1], clock(nowMs));
  }

  #hashOf(projectId: number, address: string): readonly [number, number] | null {
    let v4 = parseV4(address);
    if (v4 < 0) {
      const groups = this.#groups;
      if (!parseV6(address, groups)) return null;
      v4 = mappedV4(groups);
      if (v4 < 0) {
        return halfSipHash(this.#key, projectId, (groups[0]! << 16) | groups[1]!, (groups[2]! << 16) | groups[3]!, 6);
      }
    }
    return halfSipHash(this.#key, projectId, v4, 0, 4);
  }
}

class Shard {
  readonly #head: Int32Array;
  readonly #chains: Int32Array;
  /** Columns of addresses. Numbers of addresses count from 1: 0 ends a chain. */
  readonly #hash0: Int32Array;
  readonly #hash1: Int32Array;
  readonly #counts: Int32Array;
  readonly #nexts: Int32Array;
  /** The number of the latest entry, which counts on for ever; its slot in the ring is that modulo the ring. */
  readonly #latest: Int32Array;
  /** Columns of entries. */
  readonly #owners: Int32Array;
  readonly #times: Int32Array;
  readonly #requests: Int32Array;
  readonly #lock: ShardLock;

  constructor(memory: SharedArrayBuffer, at: number, { addresses, chains, entries }: RatesSize) {
    let next = at;
    const column = (words: number): Int32Array => {
      const made = new Int32Array(memory, next, words);
      next += 4 * words;
      return made;
    };
    this.#head = column(shardHeadWords);
    this.#chains = column(chains);
    this.#hash0 = column(addresses);
    this.#hash1 = column(addresses);
    this.#counts = column(addresses);
    this.#nexts = column(addresses);
    this.#latest = column(addresses);
    this.#owners = column(entries);
    this.#times = column(entries);
    this.#requests = column(entries);
    this.#lock = new ShardLock(this.#head, () => {
      this.#chains.fill(0);
      this.#head.fill(0, 1);
    });
  }

  count(hash0: number, hash1: number, now: number): number | undefined {
    if (!this.#lock.take(now)) return undefined;
    try {
      return this.#countLocked(hash0, hash1, now);
    } catch (error) {
      this.#lock.mend(error);
      return this.#countLocked(hash0, hash1, now);
    } finally {
      this.#lock.leave(now);
    }
  }

  #countLocked(hash0: number, hash1: number, now: number): number {
    this.#expire(now);
    const address = this.#find(hash0, hash1) || this.#add(hash0, hash1);
    const index = address - 1;
    const count = this.#counts[index]! + 1;
    this.#counts[index] = count;
    if (count === 1 || !this.#joins(index, count, now)) this.#enter(address, now);
    return count;
  }

  #chainOf(hash0: number): number {
    return hash0 & (this.#chains.length - 1);
  }

  /** The number of a known address, or 0. */
  #find(hash0: number, hash1: number): number {
    let address = this.#chains[this.#chainOf(hash0)]!;
    let left = this.#counts.length;
    while (address !== 0 && (this.#hash0[address - 1] !== hash0 || this.#hash1[address - 1] !== hash1)) {
      address = this.#nexts[address - 1]!;
      if (--left < 0) throw new BrokenShard();
    }
    return address;
  }

  /** The number of a new address. Where there is no room for it, the oldest entries go until there is. */
  #add(hash0: number, hash1: number): number {
    const head = this.#head;
    while (head[freeAt] === 0 && head[usedAt] === this.#counts.length) this.#dropFirst();
    let address = head[freeAt]!;
    if (address !== 0) head[freeAt] = this.#nexts[address - 1]!;
    else {
      address = head[usedAt]! + 1;
      head[usedAt] = address;
    }
    const chain = this.#chainOf(hash0);
    this.#hash0[address - 1] = hash0;
    this.#hash1[address - 1] = hash1;
    this.#counts[address - 1] = 0;
    this.#nexts[address - 1] = this.#chains[chain]!;
    this.#chains[chain] = address;
    return address;
  }

  /** Whether the request shares the latest entry of its address, as it does where that is needed to bound the ring. */
  #joins(index: number, count: number, now: number): boolean {
    const head = this.#head;
    const apartMs = head[entryCountAt]! * 2 > this.#owners.length ? fullMs : count > hotCount ? hotMs : 0;
    if (apartMs === 0) return false;
    const number = this.#latest[index]!;
    // Numbers count on for ever, modulo 2^32.
    if (((number - head[firstEntryAt]!) | 0) < 0) return false;
    const slot = number & (this.#owners.length - 1);
    if (Math.abs((now - this.#times[slot]!) | 0) >= apartMs) return false;
    this.#requests[slot] = this.#requests[slot]! + 1;
    return true;
  }

  #enter(address: number, now: number): void {
    const head = this.#head;
    // The count of the address is above 0, so that it stays even if an entry of it goes.
    if (head[entryCountAt] === this.#owners.length) this.#dropFirst();
    const number = (head[firstEntryAt]! + head[entryCountAt]!) | 0;
    const slot = number & (this.#owners.length - 1);
    this.#owners[slot] = address;
    this.#times[slot] = now;
    this.#requests[slot] = 1;
    this.#latest[address - 1] = number;
    head[entryCountAt] = head[entryCountAt]! + 1;
  }

  #expire(now: number): void {
    const head = this.#head;
    while (head[entryCountAt]! > 0) {
      const age = (now - this.#times[head[firstEntryAt]! & (this.#owners.length - 1)]!) | 0;
      if (age < windowMs && age > -skewMs) return;
      this.#dropFirst();
    }
  }

  /** Takes the oldest entry out of its address's count, and the address out of the table with its last. */
  #dropFirst(): void {
    const head = this.#head;
    if (head[entryCountAt]! <= 0) throw new BrokenShard();
    const slot = head[firstEntryAt]! & (this.#owners.length - 1);
    head[firstEntryAt] = (head[firstEntryAt]! + 1) | 0;
    head[entryCountAt] = head[entryCountAt]! - 1;
    const address = this.#owners[slot]!;
    const count = this.#counts[address - 1]! - this.#requests[slot]!;
    this.#counts[address - 1] = count;
    if (count === 0) this.#remove(address);
  }

  #remove(address: number): void {
    const chain = this.#chainOf(this.#hash0[address - 1]!);
    const after = this.#nexts[address - 1]!;
    let before = this.#chains[chain]!;
    if (before === address) this.#chains[chain] = after;
    else {
      let left = this.#counts.length;
      while (this.#nexts[before - 1] !== address) {
        before = this.#nexts[before - 1]!;
        if (before === 0 || --left < 0) throw new BrokenShard();
      }
      this.#nexts[before - 1] = after;
    }
    this.#nexts[address - 1] = this.#head[freeAt]!;
    this.#head[freeAt] = address;
  }
}
