/**
 * Which request ids a session has shown. The latest live in the session record; when those are many they spill into two sorted
 * generations in rows of their own, the older of which is dropped when the newer is full. So an id is remembered for at least
 * the next `repeatsGenerationMax` events, and a session that streams for a day costs no more at its end than at its start.
 */
import { limits } from "../limits.js";
import { repeatsKey } from "../store/keys.js";
import type { Store } from "../store/store.js";
import { writeHash64 } from "./hash.js";

const hashBytes = 8;

export class Repeats {
  readonly #store: Store;
  readonly #session: Buffer;
  /** Hashes in order of arrival; the first `#inlineEnd` bytes count. */
  #inline: Buffer;
  #inlineEnd: number;
  /** Whether rows may exist: a session below the inline bound never had any. */
  readonly #spilled: boolean;
  #newer: Buffer | null = null;
  #older: Buffer | null = null;

  /** `eventCount` is how many events the session has recorded so far, `inline` the hashes of its record. */
  constructor(store: Store, session: Buffer, inline: Buffer, eventCount: number) {
    this.#store = store;
    this.#session = session;
    this.#inline = Buffer.allocUnsafe(inline.length + hashBytes * 16);
    this.#inline.set(inline, 0);
    this.#inlineEnd = inline.length;
    this.#spilled = eventCount * hashBytes > inline.length;
  }

  /** True the first time an id is shown; from then on it is a repeat. */
  admit(requestId: string): boolean {
    if (this.#inlineEnd + hashBytes > this.#inline.length) {
      const larger = Buffer.allocUnsafe(2 * this.#inline.length);
      larger.set(this.#inline.subarray(0, this.#inlineEnd));
      this.#inline = larger;
    }
    const at = this.#inlineEnd;
    writeHash64(requestId, this.#inline, at);
    const high = this.#inline.readUInt32BE(at);
    const low = this.#inline.readUInt32BE(at + 4);
    for (let each = 0; each < at; each += hashBytes) {
      if (this.#inline.readUInt32BE(each) === high && this.#inline.readUInt32BE(each + 4) === low) return false;
    }
    if (this.#spilled) {
      this.#newer ??= this.#generation(0);
      this.#older ??= this.#generation(1);
      if (contains(this.#newer, high, low) || contains(this.#older, high, low)) return false;
    }
    this.#inlineEnd += hashBytes;
    return true;
  }

  /** What the session record keeps; spills first when that would be too much. Call inside the write transaction. */
  save(): Buffer {
    if (this.#inlineEnd <= limits.repeatsInlineMax * hashBytes) return this.#inline.subarray(0, this.#inlineEnd);
    const newer = this.#newer ?? this.#generation(0);
    const spill = sorted(this.#inline.subarray(0, this.#inlineEnd));
    if (newer.length + spill.length > limits.repeatsGenerationMax * hashBytes) {
      this.#store.repeats.putSync(repeatsKey(this.#session, 1), newer);
      this.#store.repeats.putSync(repeatsKey(this.#session, 0), spill);
    } else {
      this.#store.repeats.putSync(repeatsKey(this.#session, 0), merged(newer, spill));
    }
    return Buffer.alloc(0);
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

function sorted(hashes: Buffer): Buffer {
  const values = new BigUint64Array(hashes.length / hashBytes);
  for (let index = 0; index < values.length; index++) values[index] = hashes.readBigUInt64BE(index * hashBytes);
  values.sort();
  const bytes = Buffer.allocUnsafe(hashes.length);
  for (let index = 0; index < values.length; index++) bytes.writeBigUInt64BE(values[index]!, index * hashBytes);
  return bytes;
}

function merged(one: Buffer, other: Buffer): Buffer {
  return sorted(Buffer.concat([one, other]));
}
