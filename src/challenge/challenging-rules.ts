/**
 * Which rule challenged a session or a visitor without one last, with which band, and which of the session's challenges counts for it: one for each time window, and only where a verdict
 * really was `challenge`. The site key is public, so anybody can ask for challenges without end; a rule's pass rate must not change by that. In
 * memory that all HTTP threads of a process share, of a fixed size: a later session takes the slot of an earlier one, whose challenge then
 * counts for no rule.
 */
import { createHash } from "node:crypto";
import { decodeSessionTokenInto, tokenBytes } from "../contract/sessions/session-token.js";
import { type Band, bands } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";

/** A power of two: 448 KiB. */
const slotsMax = 1 << 14;
/** Two words of the token's random bytes, the project, and the three that follow. */
const wordsPerSlot = 7;
/** The rule that challenged the session since its last challenge that counted; 0: none. */
const challengedBy = 3;
/** The rule that the session's last counted challenge was counted for, and when: seconds since the epoch. */
const countedFor = 4;
const countedAt = 5;
/** The band of the last verdict that challenged it: 1 + its index in `bands`; 0: not known. */
const bandOfLast = 6;
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

/** Whom a verdict challenged, or who asks for a challenge. */
interface Challenged {
  readonly projectId: number;
  /** null: a visitor without a session, who is known by address and user agent. */
  readonly token: string | null;
  readonly ip: string;
  readonly userAgent: string;
}

const noCause: ChallengeCause = { rule: 0, countedAtMs: 0, isCounted: false };

/** Memory for `ChallengingRules`; can be posted to other threads. */
export function newChallengingRules(): SharedArrayBuffer {
  return new SharedArrayBuffer(slotsMax * wordsPerSlot * Uint32Array.BYTES_PER_ELEMENT);
}

/** One thread's way to the memory: `record` when a verdict is a challenge, `take` when the puzzles are asked for. */
export class ChallengingRules {
  readonly #words: Uint32Array;
  readonly #name = Buffer.alloc(tokenBytes);

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Uint32Array(memory);
  }

  /** The rule has challenged the session, or the visitor without one. */
  record(challenged: Challenged, rule: number, band: Band): void {
    const at = challenged.token === null ? this.#slotOfVisitor(challenged) : this.#slotOfSession(challenged.token);
    if (at === -1) return;
    if (!this.#isOf(at, challenged.projectId)) this.#begin(at, challenged.projectId);
    this.#words[at + challengedBy] = rule;
    this.#words[at + bandOfLast] = 1 + bands.indexOf(band);
  }

  /**
   * The rule of a challenge that is issued now to a session. Of any number asked for at the same time, on all threads, one counts. A session that no
   * verdict has challenged takes over the challenge of the visitor who has its address and user agent: the first page that he asked for.
   */
  take(asking: Challenged & { readonly token: string }, nowMs: number): ChallengeCause {
    const { projectId, token } = asking;
    const at = this.#slotOfSession(token);
    if (at === -1) return noCause;
    const isKnown = this.#isOf(at, projectId);
    const countedAtMs = isKnown ? this.#words[at + countedAt]! * 1000 : 0;
    if (nowMs < countedAtMs + limits.challengeMs) {
      return { rule: this.#words[at + countedFor]!, countedAtMs, isCounted: false };
    }
    let rule = isKnown ? Atomics.exchange(this.#words, at + challengedBy, 0) : 0;
    let band = isKnown ? this.#words[at + bandOfLast]! : 0;
    if (rule === 0) {
      const visitor = this.#slotOfVisitor(asking);
      if (!this.#isOf(visitor, projectId)) return noCause;
      rule = Atomics.exchange(this.#words, visitor + challengedBy, 0);
      band = this.#words[visitor + bandOfLast]!;
    }
    if (rule === 0) return noCause;
    this.#slotOfSession(token);
    if (!this.#isOf(at, projectId)) this.#begin(at, projectId);
    const nowS = Math.floor(nowMs / 1000);
    this.#words[at + countedFor] = rule;
    this.#words[at + countedAt] = nowS;
    this.#words[at + bandOfLast] = band;
    return { rule, countedAtMs: nowS * 1000, isCounted: true };
  }

  /** The band of the last verdict that challenged the session, or its visitor's first page; null where it is not known. */
  bandOf(projectId: number, token: string): Band | null {
    const at = this.#slotOfSession(token);
    if (at === -1 || !this.#isOf(at, projectId)) return null;
    return bands[this.#words[at + bandOfLast]! - 1] ?? null;
  }

  #begin(at: number, projectId: number): void {
    this.#words[at] = this.#name.readUInt32LE(randomAt + 4);
    this.#words[at + 1] = this.#name.readUInt32LE(randomAt + 8);
    this.#words[at + 2] = projectId;
    for (const word of [challengedBy, countedFor, countedAt, bandOfLast]) this.#words[at + word] = 0;
  }

  #slotOfSession(token: string): number {
    return decodeSessionTokenInto(token, this.#name, 0) ? this.#slot() : -1;
  }

  #slotOfVisitor({ ip, userAgent }: Challenged): number {
    createHash("sha256")
      .update(`${ip} ${userAgent}`)
      .digest()
      .copy(this.#name, randomAt, 0, tokenBytes - randomAt);
    return this.#slot();
  }

  #slot(): number {
    return (this.#name.readUInt32LE(randomAt) & (slotsMax - 1)) * wordsPerSlot;
  }

  /** Whether the slot is of the session or visitor whose name was read last. */
  #isOf(at: number, projectId: number): boolean {
    return (
      this.#words[at] === this.#name.readUInt32LE(randomAt + 4) &&
      this.#words[at + 1] === this.#name.readUInt32LE(randomAt + 8) &&
      this.#words[at + 2] === projectId
    );
  }
}
