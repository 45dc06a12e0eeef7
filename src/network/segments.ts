/**
 * A table of address space in sorted segments: each reaches from its start to just before the next one and has a value, 0 for nothing. How
 * network facts are built; `fact-table.ts` is how they are held.
 */
import { compareWords } from "../net/words.js";

/** The segments of one family of addresses, in columns that grow. `starts` and `values` are views that the next `push` may leave behind. */
export class Segments {
  /** Words of an address: 1 for IPv4, 4 for IPv6. */
  readonly width: 1 | 4;
  length = 0;
  #starts: Uint32Array;
  #values: Uint32Array;

  constructor(width: 1 | 4) {
    this.width = width;
    this.#starts = new Uint32Array(1024 * width);
    this.#values = new Uint32Array(1024);
  }

  /** Over columns that are there already, which are not to be pushed to. */
  static of(width: 1 | 4, starts: Uint32Array, values: Uint32Array): Segments {
    const made = new Segments(width);
    made.#starts = starts;
    made.#values = values;
    made.length = values.length;
    return made;
  }

  get starts(): Uint32Array {
    return this.#starts.subarray(0, this.length * this.width);
  }

  get values(): Uint32Array {
    return this.#values.subarray(0, this.length);
  }

  /** Begins a segment; starts are given in ascending order, and the last of those with the same start counts. */
  push(start: Uint32Array, startAt: number, value: number): void {
    const { width } = this;
    if (this.length > 0 && compareWords(this.#starts, (this.length - 1) * width, start, startAt, width) === 0) {
      this.length--;
    }
    const before = this.length === 0 ? 0 : this.#values[this.length - 1]!;
    if (value === before) return;
    if (this.length === this.#values.length) this.#grow();
    for (let word = 0; word < width; word++) this.#starts[this.length * width + word] = start[startAt + word]!;
    this.#values[this.length++] = value;
  }

  #grow(): void {
    const [starts, values] = [this.#starts, this.#values];
    this.#starts = new Uint32Array(2 * starts.length);
    this.#starts.set(starts);
    this.#values = new Uint32Array(2 * values.length);
    this.#values.set(values);
  }
}

/** One table of two: at each address the value that `combine` makes of theirs. */
export function overlay(one: Segments, other: Segments, combine: (one: number, other: number) => number): Segments {
  const { width } = one;
  const made = new Segments(width);
  const [a, b] = [one.starts, other.starts];
  let [nextOne, nextOther] = [0, 0];
  let [valueOne, valueOther] = [0, 0];
  while (nextOne < one.length || nextOther < other.length) {
    const order =
      nextOne === one.length
        ? 1
        : nextOther === other.length
          ? -1
          : compareWords(a, nextOne * width, b, nextOther * width, width);
    const [starts, at] = order <= 0 ? [a, nextOne * width] : [b, nextOther * width];
    if (order <= 0) valueOne = one.values[nextOne++]!;
    if (order >= 0) valueOther = other.values[nextOther++]!;
    made.push(starts, at, combine(valueOne, valueOther));
  }
  return made;
}
