/**
 * How many reports of a session have arrived and are not scored yet. A form's report and its POST arrive within milliseconds of each other, so a verdict that may
 * wait (`wait_ms`) waits for these. In memory that all HTTP threads of a process share, of a fixed size: where the tokens of two sessions have the same slot, one
 * waits for the other's reports too, no longer than it may.
 */
import { TokenSlots } from "../contract/sessions/token-slots.js";
import { limits } from "../limits.js";

/** A power of two: 64 KiB. */
const slotsMax = 1 << 14;
/** Before the slots: when somebody last asked for a wait, seconds since the epoch. */
const headWords = 1;

/** Memory for `ReportsUnderWay`; can be posted to other threads. */
export function newReportsUnderWay(): SharedArrayBuffer {
  return new SharedArrayBuffer((headWords + slotsMax) * Int32Array.BYTES_PER_ELEMENT);
}

/** A report that is counted: call `end` once, when it is scored or given up. */
interface ReportUnderWay {
  end(): void;
}

/** One thread's way to the memory. */
export class ReportsUnderWay {
  readonly #words: Int32Array;
  readonly #slots = new TokenSlots(slotsMax);

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Somebody asks for waits: reports are counted from now on, for as long as nobody else has to say so. */
  expect(nowMs: number): void {
    this.#words[0] = Math.floor(nowMs / 1000);
  }

  /** Counts a report that has arrived; null where nobody waits for reports, or where it names no session. The first token in the body counts. */
  begin(body: Buffer, nowMs: number): ReportUnderWay | null {
    if (nowMs >= this.#words[0]! * 1000 + limits.reportWaitsAwaitedMs) return null;
    const slot = this.#slots.inBody(body);
    if (slot === -1) return null;
    const words = this.#words;
    const at = headWords + slot;
    Atomics.add(words, at, 1);
    return { end: () => void Atomics.sub(words, at, 1) };
  }

  /** Whether a report of the session is under way. */
  has(token: string): boolean {
    const slot = this.#slots.of(token);
    return slot !== -1 && Atomics.load(this.#words, headWords + slot) > 0;
  }
}
