/** How late the event loop of this thread runs what is due, over the last half minute to minute. */
import { createHistogram } from "node:perf_hooks";

/** How often the loop is probed, ms. One timer for both histograms, as each probe wakes an idle thread, which costs more than the probe. */
const probeMs = 50;
/** ms that one of the two histograms is filled alone. */
const halfMs = 30_000;
const nsPerMs = 1e6;

/** Delays in ms beyond the time that was due; 0 where nothing was measured. */
interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * Two overlapping histograms: the older one always covers at least half a minute, so nothing that was measured is lost between two scrapes. A delay
 * shorter than `probeMs` may fall between two probes.
 */
export class LoopDelayMonitor {
  #older = createHistogram();
  #younger = createHistogram();
  readonly #now: () => number;
  #turnedAtMs: number;
  #dueMs: number;
  readonly #timer: NodeJS.Timeout;

  /** `now`: ms, on any monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
    this.#turnedAtMs = now();
    this.#dueMs = this.#turnedAtMs + probeMs;
    this.#timer = setInterval(() => this.probe(), probeMs).unref();
  }

  read(): LoopDelay {
    const nowMs = this.#now();
    if (nowMs - this.#turnedAtMs >= halfMs) {
      const emptied = this.#older;
      emptied.reset();
      this.#older = this.#younger;
      this.#younger = emptied;
      this.#turnedAtMs = nowMs;
    }
    const { count } = this.#older;
    const delayMs = (percentile: number): number => (count === 0 ? 0 : this.#older.percentile(percentile) / nsPerMs);
    return { p50Ms: delayMs(50), p99Ms: delayMs(99), maxMs: delayMs(100) };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Measures how late it is called; its timer does so. */
  probe(): void {
    const nowMs = this.#now();
    // A histogram takes 1 ns at least.
    const lateNs = Math.max(1, Math.round((nowMs - this.#dueMs) * nsPerMs));
    this.#older.record(lateNs);
    this.#younger.record(lateNs);
    this.#dueMs = nowMs + probeMs;
  }
}
