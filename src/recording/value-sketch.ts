/**
 * Counts of the most frequent values, in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi 2005), pruned in batches instead of one value at a
 * time, so that counting costs one look-up. Of `n` counted, at most n/slots of a value are missed, and none is counted that was not.
 */

interface Slot {
  /** Counted since the value has this slot. */
  count: number;
  /** May have been counted before: the largest count of what was dropped until then. */
  readonly missed: number;
}

/** The count of a value, which the true one exceeds by `missed` at most. */
type SketchedCount = Readonly<Slot>;

/** Values held before a prune, in slots: the more, the less often. What a count misses at most does not depend on it. */
const heldMax = 4;

/** Holds at most four times `slots` values. */
export class ValueSketch {
  #slots: number;
  #values = new Map<string, Slot>();
  #missed = 0;
  /** Of the value that was counted last: most requests have the host, the network and the browser of the one before. */
  #last = "";
  #lastSlot: Slot | null = null;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** How many values it holds. */
  get size(): number {
    return this.#values.size;
  }

  /** The most that is missing in the count of any value, also of one that it does not hold. */
  get missed(): number {
    return this.#missed;
  }

  add(value: string, count = 1): void {
    if (this.#lastSlot !== null && value === this.#last) {
      this.#lastSlot.count += count;
      return;
    }
    let slot = this.#values.get(value);
    if (slot !== undefined) slot.count += count;
    else {
      slot = { count, missed: this.#missed };
      this.#values.set(value, slot);
      if (this.#values.size >= heldMax * this.#slots) {
        this.#prune();
        return;
      }
    }
    this.#last = value;
    this.#lastSlot = slot;
  }

  /** From now on holds fewer values, at once and for good. */
  shrink(slots: number): void {
    if (slots >= this.#slots) return;
    this.#slots = slots;
    if (this.#values.size > slots) this.#prune();
  }

  /** All values that it holds, in no order. */
  values(): Iterable<readonly [value: string, counted: SketchedCount]> {
    return this.#values;
  }

  /** Keeps as many as there are slots, in a new map: most are dropped, and taking them out one by one would cost more. */
  #prune(): void {
    const most = new Float64Array(this.#values.size);
    let at = 0;
    for (const { count, missed } of this.#values.values()) most[at++] = count + missed;
    most.sort();
    const bound = most[most.length - this.#slots - 1]!;
    let equals = this.#slots;
    for (let index = most.length - 1; most[index]! > bound; index--) equals--;
    const kept = new Map<string, Slot>();
    for (const [value, slot] of this.#values) {
      const each = slot.count + slot.missed;
      if (each > bound || (each === bound && equals-- > 0)) kept.set(value, slot);
    }
    this.#values = kept;
    this.#missed = Math.max(this.#missed, bound);
    this.#lastSlot = null;
  }
}
