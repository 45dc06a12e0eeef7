/** How late the event loop of this thread runs what is due, over the last half minute to minute. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** How often the loop is probed, ms: 50 timers a second cost too little to measure. */
const resolutionMs = 20;
/** ms that one of the two histograms is filled alone. */
const halfMs = 30_000;
const nsPerMs = 1e6;

/** Delays in ms beyond the time that was due; 0 where nothing was measured. */
interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Two overlapping histograms: the older one always covers at least half a minute, so no spike is lost between two scrapes. */
export class LoopDelayMonitor {
  #older = startedHistogram();
  #younger = startedHistogram();
  #turnedAtMs: number;

  /** `nowMs` is any monotonic clock, the same as `read`'s. */
  constructor(nowMs: number) {
    this.#turnedAtMs = nowMs;
  }

  read(nowMs: number): LoopDelay {
    if (nowMs - this.#turnedAtMs >= halfMs) {
      const emptied = this.#older;
      emptied.reset();
      this.#older = this.#younger;
      this.#younger = emptied;
      this.#turnedAtMs = nowMs;
    }
    return {
      p50Ms: delayMs(this.#older.percentile(50)),
      p99Ms: delayMs(this.#older.percentile(99)),
      maxMs: delayMs(this.#older.max),
    };
  }

  stop(): void {
    this.#older.disable();
    this.#younger.disable();
  }
}

function startedHistogram(): IntervalHistogram {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  return histogram;
}

/** The histogram holds the time between two probes: what is above the resolution is delay. Empty ones have wild extremes. */
function delayMs(ns: number): number {
  const ms = ns / nsPerMs - resolutionMs;
  return Number.isFinite(ms) && ms > 0 && ms < 1e9 ? ms : 0;
}
