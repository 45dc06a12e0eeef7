/**
 * Which request ids a session has shown. The latest live in the session record; when those are many they spill into two sorted
 * generations in rows of their own, the older of which is dropped when the newer is full. So an id is remembered for at least
 * the next `repeatsGenerationMax` events, and a session that streams for a day costs no more at its end than at its start.
 */
import { limits } from "../limits.js";
import { repeatsKey } from "../store/keys.js";
import type { SessionStore } from "../store/session-store.js";
import { writeHash64 } from "./hash.js";

const hashBytes = 8;
/** Hashes held in memory before they spill even in the middle of a transaction: bounds how long one search takes. */
const heldMax = 4 * limits.repeatsInlineMax;

export class Repeats {
  readonly #store: SessionStore;
  readonly #session: Buffer;
  /** Hashes in order of arrival, two words each; the first `#words` count. */
  #held: Int32Array<ArrayBuffer>;
  #words: number;
  /** Whether rows may exist: a session below the inline bound never had any. */
  #spilled: boolean;
  #newer: Buffer | null = null;
  #older: Buffer | null = null;

  /** `eventCount` is how many events the session has recorded so far, `inline` the hashes of its record. */
  constructor(store: SessionStore, session: Buffer, inline: Buffer, eventCount: number) {
    this.#store = store;
    this.#session = session;
    this.#words = inline.length / 4;
    this.#held = new Int32Array(this.#words + 32);
    Buffer.from(this.#held.buffer).set(inline, 0);
    this.#spilled = eventCount * hashBytes > inline.length;
  }

  /** True the first time an id is shown; from then on it is a repeat. Call inside the write transaction. */
  admit(requestId: string): boolean {
    if (this.#words === this.#held.length) this.#makeRoom();
    const held = this.#held;
    const at = this.#words;
    writeHash64(requestId, held, at);
    const high = held[at]!;
    const low = held[at + 1]!;
    for (let each = 0; each < at; each += 2) if (held[each] === high && held[each + 1] === low) return false;
    if (this.#spilled) {
      this.#newer ??= this.#generation(0);
      this.#older ??= this.#generation(1);
      if (contains(this.#newer, high >>> 0, low >>> 0) || contains(this.#older, high >>> 0, low >>> 0)) return false;
    }
    this.#words += 2;
    return true;
  }

  /** What the session record keeps; spills first when that would be too much. Call inside the write transaction. */
  save(): Buffer {
    if (this.#words > 2 * limits.repeatsInlineMax) this.#spill();
    return Buffer.from(this.#held.buffer, 0, 4 * this.#words);
  }

  #makeRoom(): void {
    if (this.#words >= 2 * heldMax) {
      this.#spill();
      return;
    }
    const larger = new Int32Array(2 * this.#held.length);
    larger.set(this.#held);
    this.#held = larger;
  }

  #spill(): void {
    const newer = this.#newer ?? this.#generation(0);
    const spill = sorted(this.#held.subarray(0, this.#words));
    if (newer.length + spill.length > limits.repeatsGenerationMax * hashBytes) {
      this.#older = newer;
      this.#newer = spill;
      this.#store.repeats.putSync(repeatsKey(this.#session, 1), newer);
    } else {
      this.#newer = merged(newer, spill);
    }
    this.#store.repeats.putSync(repeatsKey(this.#session, 0), this.#newer);
    this.#spilled = true;
    this.#words = 0;
  }

  #generation(generation: 0 | 1): Buffer {
    return this.#store.repeats.getBinary(repeatsKey(this.#session, generation)) ?? Buffer.alloc(0);
  }
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

/** Hashes as bytes in ascending order, big-endian. */
function sorted(words: Int32Array): Buffer {
  const values = new BigUint64Array(words.length / 2);
  for (let index = 0; index < values.length; index++) {
    values[index] = (BigInt(words[2 * index]! >>> 0) << 32n) | BigInt(words[2 * index + 1]! >>> 0);
  }
  return bytesOf(values.sort());
}

function bytesOf(values: BigUint64Array): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * hashBytes);
  for (let index = 0; index < values.length; index++) bytes.writeBigUInt64BE(values[index]!, index * hashBytes);
  return bytes;
}

function merged(one: Buffer, other: Buffer): Buffer {
  const values = new BigUint64Array((one.length + other.length) / hashBytes);
  let at = 0;
  for (const bytes of [one, other]) {
    for (let offset = 0; offset < bytes.length; offset += hashBytes) values[at++] = bytes.readBigUInt64BE(offset);
  }
  return bytesOf(values.sort());
}
