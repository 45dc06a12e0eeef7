/** A binary heap of items, ordered by the first token of each. */

/** An item of the heap, ordered by its first token. */
interface WithToken {
  /** Its first token; `undefined` means that it has none. */
  readonly head: Buffer | undefined;
}

/** `isReverse`: the greatest token first. After taking a token off `first`, call `settle`. */
export class TokenHeap<T extends WithToken> {
  readonly #items: T[] = [];
  readonly #sign: 1 | -1;

  constructor(items: Iterable<T>, isReverse: boolean) {
    this.#sign = isReverse ? -1 : 1;
    for (const item of items) this.push(item);
  }

  /** The item with the first token of all; `undefined` means that there is none. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Ignores items without a token. */
  push(item: T): void {
    if (item.head === undefined) return;
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  /** Moves the first item to its place after its token changed; removes it when it has no more. */
  settle(): void {
    const items = this.#items;
    if (items[0]?.head === undefined) {
      const last = items.pop();
      if (last === undefined || items.length === 0) return;
      items[0] = last;
    }
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= items.length) return;
      const next = left + 1 < items.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(next, at)) return;
      this.#swap(next, at);
      at = next;
    }
  }

  #isBefore(one: number, other: number): boolean {
    return this.#sign * Buffer.compare(this.#items[one]!.head!, this.#items[other]!.head!) < 0;
  }

  #swap(one: number, other: number): void {
    [this.#items[one], this.#items[other]] = [this.#items[other]!, this.#items[one]!];
  }
}
