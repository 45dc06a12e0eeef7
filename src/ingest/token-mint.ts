/** Mints the session tokens of one scoring thread in order: the sessions of a group come after those of the group before. */
import { randomFillSync } from "node:crypto";
import { mintSessionToken } from "../contract/sessions/session-token.js";

/** Random bytes fetched from the system at once: for 256 tokens. */
const poolBytes = 4096;
/** More than the step of a token's time, ms. */
const stepMs = 4;
/** The most that a token may be ahead of its time, ms. */
const aheadMsMax = 1000;

/** One per scoring thread; the random part comes from a cryptographic source. */
export class TokenMint {
  readonly #pool = new Uint8Array(poolBytes);
  #used = poolBytes;
  /** Start of this group's tokens, and the latest of them, ms. */
  #floorMs = 0;
  #newestMs = 0;

  /** Call when a group begins: its tokens come after all earlier ones. */
  startGroup(): void {
    this.#floorMs = this.#newestMs + stepMs;
  }

  /**
   * Returns a new token's bytes. Contacts that came while the group before was at work would lie between its sessions and split their pages. So a
   * token's time is its contact's time or a moment after the group before, whichever is later. If `shard` (0 to 255) is given, the token contains it.
   */
  mint(nowMs: number, shard: number | null = null): Buffer {
    const aheadMs = this.#floorMs - nowMs;
    const atMs = aheadMs > 0 && aheadMs <= aheadMsMax ? this.#floorMs : nowMs;
    // After a clock was set back, the floor is out of reach; the first token after that forgets it.
    this.#newestMs = this.#newestMs - atMs > aheadMsMax ? atMs : Math.max(this.#newestMs, atMs);
    return mintSessionToken(atMs, (into) => this.#fill(into), shard);
  }

  /** No byte is used twice. */
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
