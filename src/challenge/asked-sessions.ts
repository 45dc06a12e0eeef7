/**
 * Which sessions asked for a challenge recently, and how many batches of each are under way: those are scored whatever the load is, since a pass is
 * decided by them. In memory that all HTTP threads of a process share, of a fixed size: a later session takes the slot of an earlier one.
 */
import { TokenSlots } from "../contract/sessions/token-slots.js";
import { limits } from "../limits.js";

/** A power of two: 256 KiB. */
const slotsMax = 1 << 14;
/** Two words of the token's random bytes, and those that follow. */
const wordsPerSlot = 4;
/** Seconds since the epoch. */
const askedAt = 2;
const underWay = 3;
/** Before the slots: when any session asked last, seconds. */
const headWords = 1;

/** Memory for `AskedSessions`; can be posted to other threads. */
export function newAskedSessions(): SharedArrayBuffer {
  return new SharedArrayBuffer((headWords + slotsMax * wordsPerSlot) * Uint32Array.BYTES_PER_ELEMENT);
}

/** A batch of a session that asked: call `end` once it was answered. */
interface AwaitedBatch {
  end(): void;
}

/** One thread's way to the memory. */
export class AskedSessions {
  readonly #words: Int32Array;
  readonly #slots = new TokenSlots(slotsMax);

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** The session asks for a challenge. */
  record(token: string, nowMs: number): void {
    const slot = this.#slots.of(token);
    if (slot === -1) return;
    const at = wordOf(slot);
    const nowS = Math.floor(nowMs / 1000);
    if (!this.#isOf(at)) {
      this.#words[at] = this.#slots.word(1);
      this.#words[at + 1] = this.#slots.word(2);
      Atomics.store(this.#words, at + underWay, 0);
    }
    this.#words[at + askedAt] = nowS;
    this.#words[0] = nowS;
  }

  /** Whether any session asked within the time of a challenge. Reads one word. */
  hasAny(nowMs: number): boolean {
    return isRecent(this.#words[0]!, nowMs);
  }

  /** Takes note of a batch that begins; null unless it is of a session that asked. Searches the body for a token: the first one counts. */
  begin(body: Buffer, nowMs: number): AwaitedBatch | null {
    if (!this.hasAny(nowMs)) return null;
    const slot = this.#slots.inBody(body);
    const at = wordOf(slot);
    if (slot === -1 || !this.#isOf(at) || !isRecent(this.#words[at + askedAt]!, nowMs)) return null;
    const words = this.#words;
    const [one, other] = [words[at], words[at + 1]];
    Atomics.add(words, at + underWay, 1);
    return {
      end() {
        // Another session may have taken the slot since.
        if (words[at] === one && words[at + 1] === other) Atomics.sub(words, at + underWay, 1);
      },
    };
  }

  /** Whether a batch of the session is under way. */
  isAwaited(token: string): boolean {
    const slot = this.#slots.of(token);
    const at = wordOf(slot);
    return slot !== -1 && this.#isOf(at) && Atomics.load(this.#words, at + underWay) > 0;
  }

  /** Whether the words there are of the session whose slot was found last. */
  #isOf(at: number): boolean {
    return this.#words[at] === this.#slots.word(1) && this.#words[at + 1] === this.#slots.word(2);
  }
}

/** Where the words of a slot begin. */
function wordOf(slot: number): number {
  return headWords + slot * wordsPerSlot;
}

function isRecent(atS: number, nowMs: number): boolean {
  return nowMs < (atS + 1) * 1000 + limits.challengeMs;
}
