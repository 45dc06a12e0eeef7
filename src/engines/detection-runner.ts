/** Runs a list of detections on evidence. It determines the missing values once, not once per detection. */
import type { Detection, EvidenceName, Observed } from "../detections/detection.js";

const wordBits = 32;

/** A list of detections, prepared for many runs. */
export class DetectionRunner {
  readonly #detections: readonly Detection[];
  /** Their predicates, in an array of their own: a call then finds them in one step. */
  readonly #predicates: readonly ((evidence: Observed) => boolean)[];
  /** The bit of each name that any detection reads. */
  readonly #bits: ReadonlyMap<string, number>;
  /** The names of an evidence in their order, which is always the same, and the bit of each, -1 if no detection reads it. */
  #order: string[] = [];
  #bitsInOrder = new Int32Array(0);
  /** A bit for each name that was observed, in the latest evidence. */
  readonly #observed: Int32Array;
  /** What each detection reads: pairs of a word's number and the bits that must be set in it, starting at the detection's `#readsAt`. */
  readonly #reads: Int32Array;
  readonly #readsAt: Int32Array;

  constructor(list: readonly Detection[]) {
    this.#detections = list.filter(({ state }) => state !== "retired");
    this.#predicates = this.#detections.map(({ when }) => when as (evidence: Observed) => boolean);
    const names = new Set(this.#detections.flatMap(({ reads }) => reads));
    this.#bits = new Map([...names].map((name, bit) => [name, bit]));
    this.#observed = new Int32Array(Math.ceil(names.size / wordBits));
    const reads: number[] = [];
    const readsAt = [0];
    for (const detection of this.#detections) {
      reads.push(...this.#pairsOf(detection.reads));
      readsAt.push(reads.length);
    }
    this.#reads = Int32Array.from(reads);
    this.#readsAt = Int32Array.from(readsAt);
  }

  /** Returns the detections that fire, in the order of the list; a missing value skips a detection. */
  fired(evidence: Observed): Detection[] {
    const observed = this.#observed.fill(0);
    let position = 0;
    // A loop over an object is many times cheaper than a look-up of each name.
    for (const name in evidence) {
      if (this.#order[position] !== name) this.#learnOrder(evidence);
      const bit = this.#bitsInOrder[position++]!;
      if (bit >= 0 && evidence[name as EvidenceName] !== undefined) observed[bit >> 5]! |= 1 << (bit & 31);
    }
    const fired: Detection[] = [];
    for (let index = 0; index < this.#predicates.length; index++) {
      if (this.#isObserved(index) && this.#predicates[index]!(evidence)) fired.push(this.#detections[index]!);
    }
    return fired;
  }

  #learnOrder(evidence: Observed): void {
    this.#order = Object.keys(evidence);
    this.#bitsInOrder = Int32Array.from(this.#order, (name) => this.#bits.get(name) ?? -1);
  }

  #isObserved(index: number): boolean {
    const reads = this.#reads;
    const end = this.#readsAt[index + 1]!;
    for (let at = this.#readsAt[index]!; at < end; at += 2) {
      const bits = reads[at + 1]!;
      if ((this.#observed[reads[at]!]! & bits) !== bits) return false;
    }
    return true;
  }

  #pairsOf(names: readonly EvidenceName[]): number[] {
    const bits = new Map<number, number>();
    for (const name of names) {
      const bit = this.#bits.get(name)!;
      const word = Math.floor(bit / wordBits);
      bits.set(word, (bits.get(word) ?? 0) | (1 << (bit % wordBits)));
    }
    return [...bits].flat();
  }
}
