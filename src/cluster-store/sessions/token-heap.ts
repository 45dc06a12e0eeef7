/** A binary heap of items ordered by the token at their head. */

/** What a heap orders by: the first of its tokens. */
export interface WithToken {
  /** Its first token; undefined: it has none. */
  readonly head: Buffer | undefined;
}

/** `isReverse`: the greatest token first. Whoever takes a token off `first` calls `settle` next. */
export class TokenHeap<T extends WithToken> {
  readonly #items: T[] = [];
  readonly #sign: 1 | -1;

  constructor(items: Iterable<T>, isReverse: boolean) {
    this.#sign = isReverse ? -1 : 1;
    for (const item of items) this.push(item);
  }

  /** What has the first token of all; undefined: there is none. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Takes nothing that has no token. */
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

  /** Puts the first one where it belongs, since its token is another now; takes it out when it has none any more. */
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
