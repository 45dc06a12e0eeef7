/**
 * The nonces that were seen, so that a signature that somebody copied is noticed. One table for all HTTP threads of a process, in shared
 * memory: a look costs microseconds and waits for no commit. Other processes and the time before a restart are not in it.
 */
import { createHash } from "node:crypto";
import { limits } from "../../limits.js";

/** Who used a nonce for what. */
export interface NonceUse {
  readonly projectId: number;
  /** Origin of the agent's directory, and thumbprint of the key: nonces of two keys have nothing to do with each other. */
  readonly agentUrl: string;
  readonly thumbprint: string;
  readonly nonce: string;
  /** What makes it the same request when it is asked about twice. */
  readonly ip: string;
  readonly path: string;
  readonly nowMs: number;
  /** When the signature expires and the nonce may be forgotten, ms since the epoch. */
  readonly expiresAtMs: number;
}

// A row of 40 bytes: three words of hash of (project, agent, key, nonce), two of (address, path), one unused, and two f64: when it was
// first seen and when it expires, ms since the epoch.
const rowWords = 10;
const rowFloats = 5;
const seenFloat = 3;
const expiresFloat = 4;
/** Bytes of the table; its locks follow. */
const tableBytes = limits.noncesMax * rowFloats * 8;
const sets = limits.noncesMax / limits.nonceSetSize;
const locks = 1024;
const spinsMax = 1000;
/** Of a millisecond each. */
const waitsMax = 100;

/** Memory for the table, to be given to every HTTP thread of the process. Pages that no nonce came to cost nothing. */
export function newNonceTable(): SharedArrayBuffer {
  return new SharedArrayBuffer(tableBytes + locks * 4);
}

/** One thread's way to the table; all that are given the same memory see the same nonces. */
export class Nonces {
  readonly #rows: Int32Array;
  readonly #times: Float64Array;
  readonly #locks: Int32Array;
  readonly #onForgotten: () => void;

  /** `onForgotten` is told of each nonce that had to go before its time. */
  constructor(table: SharedArrayBuffer = newNonceTable(), onForgotten: () => void = () => {}) {
    this.#rows = new Int32Array(table, 0, tableBytes / 4);
    this.#times = new Float64Array(table, 0, tableBytes / 8);
    this.#locks = new Int32Array(table, tableBytes, locks);
    this.#onForgotten = onForgotten;
  }

  /**
   * Records the nonce; false when it was used for another request before. The same address and path within `limits.nonceRepeatMs` of the
   * first use are the same request. Atomic over threads. A full set forgets its nonce that expires first.
   */
  use(use: NonceUse): boolean {
    const hash = hashOf(use);
    const set = (hash[0]! >>> 0) % sets;
    const lock = set % locks;
    this.#lock(lock);
    try {
      return this.#useIn(set * limits.nonceSetSize, hash, use);
    } finally {
      Atomics.store(this.#locks, lock, 0);
    }
  }

  #useIn(first: number, hash: Int32Array, { nowMs, expiresAtMs }: NonceUse): boolean {
    const rows = this.#rows;
    const times = this.#times;
    const expiryOf = (row: number): number => times[row * rowFloats + expiresFloat]!;
    let target = first;
    for (let row = first; row < first + limits.nonceSetSize; row++) {
      const at = row * rowWords;
      if (expiryOf(row) >= nowMs && rows[at] === hash[0] && rows[at + 1] === hash[1] && rows[at + 2] === hash[2]) {
        const isSameRequest = rows[at + 3] === hash[3] && rows[at + 4] === hash[4];
        return isSameRequest && nowMs - times[row * rowFloats + seenFloat]! <= limits.nonceRepeatMs;
      }
      if (expiryOf(row) < expiryOf(target)) target = row;
    }
    if (expiryOf(target) >= nowMs) this.#onForgotten();
    rows.set(hash, target * rowWords);
    times[target * rowFloats + seenFloat] = nowMs;
    times[target * rowFloats + expiresFloat] = expiresAtMs;
    return true;
  }

  /**
   * Held for a microsecond, or as long as its thread gets no processor, which waiting gives it. A thread that was ended while it held one must not
   * stop the others, so waiting has an end: a tenth of a second.
   */
  #lock(lock: number): void {
    for (let tries = 0; tries < spinsMax + waitsMax; tries++) {
      if (Atomics.compareExchange(this.#locks, lock, 0, 1) === 0) return;
      if (tries >= spinsMax) Atomics.wait(this.#locks, lock, 1, 1);
    }
  }
}

/** Five words: three that name the nonce, two that name the request. */
function hashOf({ projectId, agentUrl, thumbprint, nonce, ip, path }: NonceUse): Int32Array {
  const named = createHash("sha256")
    .update(JSON.stringify([projectId, agentUrl, thumbprint, nonce]))
    .digest();
  const request = createHash("sha256")
    .update(JSON.stringify([ip, path]))
    .digest();
  return Int32Array.of(
    named.readInt32LE(0),
    named.readInt32LE(4),
    named.readInt32LE(8),
    request.readInt32LE(0),
    request.readInt32LE(4),
  );
}
