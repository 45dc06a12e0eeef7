/** Counts what a thread holds for its clients against a bound. Beyond it, the oldest holder is dropped, so slow clients lose before fast ones. */

/** Something that holds bytes for a client. */
export interface Holder {
  /** Gives them up: told once, when the bound is reached. */
  drop(): void;
}

/** Bound and order of one kind of held bytes; `drop` is called on what is given up. */
export class HeldBytes {
  readonly #bytesMax: number;
  /** Bytes by who holds them, in the order in which they began. */
  readonly #holders = new Map<Holder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Never above the bound. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The holder has so many bytes now, in all. It may be dropped itself before this returns. */
  hold(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#holders.get(holder) ?? 0);
    this.#holders.set(holder, bytes);
    for (const oldest of this.#holders.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.release(oldest);
      oldest.drop();
    }
  }

  /** The holder has none any more; does nothing when it had none. */
  release(holder: Holder): void {
    this.#bytes -= this.#holders.get(holder) ?? 0;
    this.#holders.delete(holder);
  }
}
