/** Asks a list of detections which of them fire. What is missing of the evidence is found out once, not once a detection. */
import type { Detection } from "../detections/detection.js";
import type { Evidence, EvidenceName } from "./session-evidence.js";

const wordBits = 32;

/** A list of detections, made ready to be asked often. */
export class DetectionRunner {
  readonly #detections: readonly Detection[];
  /** The evidence that any of them reads. */
  readonly #names: readonly EvidenceName[];
  readonly #words: number;
  /** For each detection, a bit for each name that it reads. */
  readonly #reads: Int32Array;
  /** A bit for each name that is missing, of the evidence looked at last. */
  readonly #missing: Int32Array;

  constructor(list: readonly Detection[]) {
    this.#detections = list.filter(({ state }) => state !== "retired");
    this.#names = [...new Set(this.#detections.flatMap(({ reads }) => reads))];
    this.#words = Math.ceil(this.#names.length / wordBits);
    this.#reads = new Int32Array(this.#words * this.#detections.length);
    this.#missing = new Int32Array(this.#words);
    for (const [index, { reads }] of this.#detections.entries()) {
      for (const name of reads) {
        const bit = this.#names.indexOf(name);
        this.#reads[index * this.#words + Math.floor(bit / wordBits)]! |= 1 << (bit % wordBits);
      }
    }
  }

  /** Those that fire, in the order of the list; a missing value skips a detection. */
  fired(evidence: Evidence): Detection[] {
    const names = this.#names;
    const missing = this.#missing.fill(0);
    for (let index = 0; index < names.length; index++) {
      if (evidence[names[index]!] === undefined) missing[index >> 5]! |= 1 << (index & 31);
    }
    const fired: Detection[] = [];
    for (let index = 0; index < this.#detections.length; index++) {
      if (!this.#isObserved(index)) continue;
      const each = this.#detections[index]!;
      if (each.when(evidence as Parameters<typeof each.when>[0])) fired.push(each);
    }
    return fired;
  }

  #isObserved(index: number): boolean {
    const words = this.#words;
    for (let word = 0; word < words; word++) {
      if ((this.#reads[index * words + word]! & this.#missing[word]!) !== 0) return false;
    }
    return true;
  }
}
