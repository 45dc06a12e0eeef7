/**
 * Which rule challenged a session last, and which of the session's challenges counts for it: one for each time window, and only where a verdict
 * really was `challenge`. The site key is public, so anybody can ask for challenges without end; a rule's pass rate must not change by that. In
 * memory that all HTTP threads of a process share, of a fixed size: a later session takes the slot of an earlier one, whose challenge then
 * counts for no rule.
 */
import { decodeSessionTokenInto, tokenBytes } from "../contract/session-token.js";
import { limits } from "../limits.js";

/** A power of two: 384 KiB. */
const slotsMax = 1 << 14;
/** Two words of the token's random bytes, the project, and the three that follow. */
const wordsPerSlot = 6;
/** The rule that challenged the session since its last challenge that counted; 0: none. */
const challengedBy = 3;
/** The rule that the session's last counted challenge was counted for, and when: seconds since the epoch. */
const countedFor = 4;
const countedAt = 5;
/** Where the random bytes of a token begin. */
const randomAt = 5;

/** The rule that a challenge belongs to. */
export interface ChallengeCause {
  /** 0: none that is known. */
  readonly rule: number;
  /** When the session's challenge was issued that counts for the rule: this one or an earlier one; ms, 0 where there is none. */
  readonly countedAtMs: number;
  /** Whether this is the one that counts. */
  readonly isCounted: boolean;
}

const noCause: ChallengeCause = { rule: 0, countedAtMs: 0, isCounted: false };

/** Memory for `ChallengingRules`; can be posted to other threads. */
export function newChallengingRules(): SharedArrayBuffer {
  return new SharedArrayBuffer(slotsMax * wordsPerSlot * Uint32Array.BYTES_PER_ELEMENT);
}

/** One thread's way to the memory: `record` when a verdict is a challenge, `take` when the puzzle is asked for. */
export class ChallengingRules {
  readonly #words: Uint32Array;
  readonly #token = Buffer.alloc(tokenBytes);

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Uint32Array(memory);
  }

  /** The rule has challenged the session. */
  record(projectId: number, token: string, rule: number): void {
    const at = this.#slotOf(token);
    if (at === -1) return;
    if (!this.#isOf(at, projectId)) {
      this.#words[at] = this.#token.readUInt32LE(randomAt + 4);
      this.#words[at + 1] = this.#token.readUInt32LE(randomAt + 8);
      this.#words[at + 2] = projectId;
      this.#words[at + countedFor] = 0;
      this.#words[at + countedAt] = 0;
    }
    this.#words[at + challengedBy] = rule;
  }

  /** The rule of a challenge that is issued now. Of any number asked for at the same time, on all threads, one counts. */
  take(projectId: number, token: string, nowMs: number): ChallengeCause {
    const at = this.#slotOf(token);
    if (at === -1 || !this.#isOf(at, projectId)) return noCause;
    const countedAtMs = this.#words[at + countedAt]! * 1000;
    if (nowMs < countedAtMs + limits.challengeMs) {
      return { rule: this.#words[at + countedFor]!, countedAtMs, isCounted: false };
    }
    const rule = Atomics.exchange(this.#words, at + challengedBy, 0);
    if (rule === 0) return noCause;
    const nowS = Math.floor(nowMs / 1000);
    this.#words[at + countedFor] = rule;
    this.#words[at + countedAt] = nowS;
    return { rule, countedAtMs: nowS * 1000, isCounted: true };
  }

  #slotOf(token: string): number {
    if (!decodeSessionTokenInto(token, this.#token, 0)) return -1;
    return (this.#token.readUInt32LE(randomAt) & (slotsMax - 1)) * wordsPerSlot;
  }

  /** Whether the slot is the session's whose token `#slotOf` has read. */
  #isOf(at: number, projectId: number): boolean {
    return (
      this.#words[at] === this.#token.readUInt32LE(randomAt + 4) &&
      this.#words[at + 1] === this.#token.readUInt32LE(randomAt + 8) &&
      this.#words[at + 2] === projectId
    );
  }
}
