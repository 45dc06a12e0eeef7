/** Slots of memory for sessions by the random bytes of their tokens: of tables of a fixed size, whose other rules are their user's. */
import { decodeSessionTokenInto, tokenBytes } from "./session-token.js";

/** Where the random bytes of a token begin. */
const randomAt = 5;

const front = Buffer.from("sess_");
const tokenCharacters = 33;
/** A path or a request id may begin like a token; a body made to be searched costs no more than a few looks. */
const looksMax = 4;

/** Finds slots; remembers the token that it was asked for last. */
export class TokenSlots {
  readonly #mask: number;
  readonly #token = Buffer.alloc(tokenBytes);

  /** `count` is a power of two. */
  constructor(count: number) {
    this.#mask = count - 1;
  }

  /** The slot of a token; -1 for any other text. */
  of(token: string): number {
    return decodeSessionTokenInto(token, this.#token, 0) ? this.#token.readUInt32LE(randomAt) & this.#mask : -1;
  }

  /** The slot of the first token in the body of a batch; -1 without one among the first few texts that begin like a token. */
  inBody(body: Buffer): number {
    let from = body.indexOf(front);
    for (let looks = 0; from !== -1 && looks < looksMax; looks++) {
      const slot = this.of(body.toString("latin1", from, from + tokenCharacters));
      if (slot !== -1) return slot;
      from = body.indexOf(front, from + front.length);
    }
    return -1;
  }

  /** A word of the random bytes, behind the one that chose the slot, of the token whose slot was found last. */
  word(index: 1 | 2): number {
    return this.#token.readInt32LE(randomAt + 4 * index);
  }
}
