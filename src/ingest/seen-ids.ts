/**
 * Which request ids a session has seen. The latest are in the session record. When there are many, they spill into two sorted generations in separate
 * rows; when the newer one is full, the older one is dropped. So a session remembers an id for at least the next `seenIdsGenerationMax` events, and a
 * session that streams for a day costs no more at its end than at its start.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { limits } from "../limits.js";
import type { UnitOfWork } from "./unit-of-work.js";

const hashBytes = 8;

/** How many generations to look up once this many hashes of a session have spilled: 0 to 2. */
export function generationsOf(spilled: number): 0 | 1 | 2 {
  if (spilled <= 0) return 0;
  return spilled > limits.seenIdsGenerationMax ? 2 : 1;
}

const noHashes = Buffer.alloc(0);
/** Hashes in memory before they spill even in the middle of a transaction: bounds the time of one search. */
const heldMax = 4 * limits.seenIdsInlineMax;

/** For one session while a group works on it; `save` returns the part for the record at the end. */
export class SeenIds {
  readonly #unit: UnitOfWork;
  readonly #session: Buffer;
  /** Hashes in order of arrival, two words each; the first `#words` words are valid. */
  #held: Int32Array<ArrayBuffer>;
  #words: number;
  /** How many hashes have ever spilled: below the bounds of the generations there is none to look up. */
  #spilled: number;

  /** `eventCount` is how many events the session has recorded so far, `inline` the hashes of its record. */
  constructor(unit: UnitOfWork, session: Buffer, inline: Buffer, eventCount: number) {
    this.#unit = unit;
    this.#session = session;
    this.#words = inline.length / 4;
    this.#held = memoryOf(this.#words + 32);
    for (let word = 0; word < this.#words; word++) this.#held[word] = inline.readInt32LE(4 * word);
    this.#spilled = Math.max(0, eventCount - inline.length / hashBytes);
  }

  /** Returns the events with an id that is new; from then on it is a duplicate. `hashes` are two words for each event's id. */
  dedupe(events: readonly IngestEvent[], hashes: readonly number[]): IngestEvent[] {
    this.#makeRoom(events.length);
    const held = this.#held;
    const fresh: IngestEvent[] = [];
    const before = this.#words;
    for (let index = 0; index < events.length; index++) {
      held[this.#words] = hashes[2 * index]!;
      held[this.#words + 1] = hashes[2 * index + 1]!;
      if (isHeld(held, this.#words)) continue;
      this.#words += 2;
      fresh.push(events[index]!);
    }
    const generations = generationsOf(this.#spilled);
    if (generations > 0) this.#dropStored(fresh, before, 0);
    if (generations > 1) this.#dropStored(fresh, before, 1);
    return fresh;
  }

  /** Returns the part for the session record; spills first if it would be too large. */
  save(): Buffer {
    if (this.#words > 2 * limits.seenIdsInlineMax) this.#spill();
    return Buffer.from(this.#held.buffer, this.#held.byteOffset, 4 * this.#words);
  }

  /** Drops the events in `fresh` that a generation knows; their hashes begin at word `from`. */
  #dropStored(fresh: IngestEvent[], from: number, generation: 0 | 1): void {
    const stored = this.#unit.seenIds(this.#session, generation);
    if (stored === undefined) return;
    const held = this.#held;
    let kept = 0;
    for (let index = 0; index < fresh.length; index++) {
      const at = from + 2 * index;
      if (contains(stored, held[at]! >>> 0, held[at + 1]! >>> 0)) continue;
      held[from + 2 * kept] = held[at]!;
      held[from + 2 * kept + 1] = held[at + 1]!;
      fresh[kept++] = fresh[index]!;
    }
    fresh.length = kept;
    this.#words = from + 2 * kept;
  }

  /** Makes room for this many hashes and one more, which is looked up before it is kept. */
  #makeRoom(hashes: number): void {
    if (this.#words / 2 + hashes > heldMax) this.#spill();
    const needed = this.#words + 2 * (hashes + 1);
    if (needed <= this.#held.length) return;
    const larger = memoryOf(Math.max(needed, 2 * this.#held.length));
    larger.set(this.#held);
    this.#held = larger;
  }

  #spill(): void {
    const newer = this.#generation();
    const spill = this.#held.subarray(0, this.#words);
    if (newer.length / hashBytes + spill.length / 2 > limits.seenIdsGenerationMax) {
      this.#unit.putSeenIds(this.#session, 1, Buffer.from(newer));
      this.#unit.putSeenIds(this.#session, 0, merged(noHashes, spill));
    } else {
      this.#unit.putSeenIds(this.#session, 0, merged(newer, spill));
    }
    this.#spilled += spill.length / 2;
    this.#words = 0;
  }

  #generation(): Buffer {
    const stored = this.#spilled === 0 ? undefined : this.#unit.seenIds(this.#session, 0);
    return stored ?? noHashes;
  }
}

const pieceWords = 16 * 1024;
let piece = new Int32Array(pieceWords);
let pieceEnd = 0;

/** Memory for so many words, never given twice: cut from larger pieces, since each list by itself would be memory that the collector counts. */
function memoryOf(words: number): Int32Array<ArrayBuffer> {
  if (words > pieceWords) return new Int32Array(words);
  if (pieceEnd + words > pieceWords) {
    piece = new Int32Array(pieceWords);
    pieceEnd = 0;
  }
  pieceEnd += words;
  return piece.subarray(pieceEnd - words, pieceEnd);
}

/** Whether the hash at word `at` also occurs before it. */
function isHeld(held: Int32Array, at: number): boolean {
  const high = held[at];
  const low = held[at + 1];
  for (let each = 0; each < at; each += 2) if (held[each] === high && held[each + 1] === low) return true;
  return false;
}

function contains(sortedHashes: Buffer, high: number, low: number): boolean {
  let from = 0;
  let to = sortedHashes.length / hashBytes;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const order =
      sortedHashes.readUInt32BE(middle * hashBytes) - high || sortedHashes.readUInt32BE(middle * hashBytes + 4) - low;
    if (order === 0) return true;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** Merges the hashes of a generation and of `words` as bytes in ascending order, big-endian. */
function merged(generation: Buffer, words: Int32Array): Buffer {
  const spill = sorted(words);
  const target = Buffer.allocUnsafe(generation.length + spill.length * 4);
  let from = 0;
  let at = 0;
  for (let next = 0; next < spill.length; next += 2) {
    const low = spill[next]!;
    const high = spill[next + 1]!;
    while (from < generation.length) {
      const otherHigh = generation.readUInt32BE(from);
      const otherLow = generation.readUInt32BE(from + 4);
      if (otherHigh > high || (otherHigh === high && otherLow > low)) break;
      target.writeUInt32BE(otherHigh, at);
      at = target.writeUInt32BE(otherLow, at + 4);
      from += hashBytes;
    }
    target.writeUInt32BE(high, at);
    at = target.writeUInt32BE(low, at + 4);
  }
  generation.copy(target, at, from);
  return target;
}

/** Sorts hashes in ascending order, two words each: low, high. A little-endian machine sorts them as 64-bit numbers. */
function sorted(words: Int32Array): Uint32Array {
  const swapped = new Uint32Array(words.length);
  for (let at = 0; at < words.length; at += 2) {
    swapped[at] = words[at + 1]!;
    swapped[at + 1] = words[at]!;
  }
  new BigUint64Array(swapped.buffer).sort();
  return swapped;
}
