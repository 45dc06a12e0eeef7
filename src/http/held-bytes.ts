/** Counts the bytes that a thread holds for its clients against a bound. Beyond it, the oldest holder is dropped, so slow clients lose first. */

/** Something that holds bytes for a client. */
export interface Holder {
  /** Releases the bytes. Called once, when the bound is reached. */
  drop(): void;
}

/** Bound and order of one kind of held bytes; `drop` is called on what is given up. */
export class HeldBytes {
  readonly #bytesMax: number;
  /** Bytes by holder, in the order in which they started. */
  readonly #holders = new Map<Holder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Never above the bound. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the total bytes of a holder. It may be dropped itself before this returns. */
  hold(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#holders.get(holder) ?? 0);
    this.#holders.set(holder, bytes);
    for (const oldest of this.#holders.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.release(oldest);
      oldest.drop();
    }
  }

  /** Removes a holder; does nothing if it has no bytes. */
  release(holder: Holder): void {
    if (this.#holders.size === 0) return;
    this.#bytes -= this.#holders.get(holder) ?? 0;
    this.#holders.delete(holder);
  }
}
