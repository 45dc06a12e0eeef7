/** Mints the session tokens of one scoring thread, so that the sessions of a group lie behind those of the one before. */
import { randomFillSync } from "node:crypto";
import { mintSessionToken } from "../contract/session-token.js";

/** Randomness had from the system at once: for 256 tokens. */
const poolBytes = 4096;
/** More than the step of a token's time, ms. */
const stepMs = 4;
/** No token is ahead of its time by more, ms. */
const aheadMsMax = 1000;

/** One a scoring thread; the random part comes from a cryptographic source. */
export class TokenMint {
  readonly #pool = new Uint8Array(poolBytes);
  #used = poolBytes;
  /** Where the tokens of this group begin, and the latest of them, ms. */
  #floorMs = 0;
  #newestMs = 0;

  /** Call when a group begins: what it mints comes behind what the ones before have minted. */
  startGroup(): void {
    this.#floorMs = this.#newestMs + stepMs;
  }

  /**
   * A new token's bytes. Contacts that came while the group before was at work would lie between its sessions and split their pages, so
   * a token's time is that of its contact or a moment behind the group before, whichever is later. `shard` (0 to 255) stands in the token,
   * if it is given.
   */
  mint(nowMs: number, shard: number | null = null): Buffer {
    const aheadMs = this.#floorMs - nowMs;
    const atMs = aheadMs > 0 && aheadMs <= aheadMsMax ? this.#floorMs : nowMs;
    // The floor of a clock that was set back is out of reach, and forgotten with the first token after that.
    this.#newestMs = this.#newestMs - atMs > aheadMsMax ? atMs : Math.max(this.#newestMs, atMs);
    return mintSessionToken(atMs, (into) => this.#fill(into), shard);
  }

  /** No byte is handed out twice. */
  #fill(into: Uint8Array): void {
    if (this.#used + into.length > poolBytes) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    into.set(this.#pool.subarray(this.#used, this.#used + into.length));
    this.#pool.fill(0, this.#used, this.#used + into.length);
    this.#used += into.length;
  }
}
