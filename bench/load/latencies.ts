/** Times of single requests: every one is kept, so that percentiles are exact. */

/** Percentiles the plots show: from the middle to one in ten thousand. */
export const curve = [50, 75, 90, 95, 99, 99.5, 99.9, 99.99] as const;

export class Latencies {
  #values = new Float64Array(1 << 14);
  #count = 0;

  add(milliseconds: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(2 * this.#values.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = milliseconds;
  }

  /** Milliseconds, by percent from 0 to 100; zeros when nothing was added. */
  at(percents: readonly number[]): number[] {
    const sorted = this.#values.subarray(0, this.#count).sort();
    return percents.map((percent) => {
      if (sorted.length === 0) return 0;
      return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? sorted[0]!;
    });
  }
}
