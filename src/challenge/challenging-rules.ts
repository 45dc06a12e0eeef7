/**
 * Which rule challenged a session last, so that its challenge counts for that rule. In memory that all HTTP threads of a process share, of a
 * fixed size: a later session takes the place of an earlier one, whose challenge then counts for no rule.
 */
import { decodeSessionTokenInto } from "../contract/session-token.js";

/** A power of two: 256 KiB. */
const placesMax = 1 << 14;
/** Two words of the token's random bytes, the project, the rule. */
const wordsPerPlace = 4;
const tokenBytes = 21;
/** Where the random bytes of a token begin. */
const randomAt = 5;

/** Memory for `ChallengingRules`; can be posted to other threads. */
export function newChallengingRules(): SharedArrayBuffer {
  return new SharedArrayBuffer(placesMax * wordsPerPlace * Uint32Array.BYTES_PER_ELEMENT);
}

export class ChallengingRules {
  readonly #words: Uint32Array;
  readonly #token = Buffer.alloc(tokenBytes);

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Uint32Array(memory);
  }

  note(projectId: number, token: string, rule: number): void {
    const at = this.#placeOf(token);
    if (at === -1) return;
    this.#words[at] = this.#token.readUInt32LE(randomAt + 4);
    this.#words[at + 1] = this.#token.readUInt32LE(randomAt + 8);
    this.#words[at + 2] = projectId;
    this.#words[at + 3] = rule;
  }

  /** 0 where that is not known. */
  ruleOf(projectId: number, token: string): number {
    const at = this.#placeOf(token);
    const isIt =
      at !== -1 &&
      this.#words[at] === this.#token.readUInt32LE(randomAt + 4) &&
      this.#words[at + 1] === this.#token.readUInt32LE(randomAt + 8) &&
      this.#words[at + 2] === projectId;
    return isIt ? this.#words[at + 3]! : 0;
  }

  #placeOf(token: string): number {
    if (!decodeSessionTokenInto(token, this.#token, 0)) return -1;
    return (this.#token.readUInt32LE(randomAt) & (placesMax - 1)) * wordsPerPlace;
  }
}
