/** What a scenario is and what it leaves behind. */
import type { Bed } from "../bed.js";
import type { Generator } from "../load/generator.js";
import type { Measured } from "../measure.js";
import type { BenchOptions } from "../options.js";

export interface BenchContext {
  readonly bed: Bed;
  readonly generator: Generator;
  readonly options: BenchOptions;
  /** Told of progress, for people who wait. */
  readonly say: (line: string) => void;
  /** Results so far, by scenario: later ones build on the rates of earlier ones. */
  readonly results: ScenarioResult[];
}

/** A figure to reach, as the README states it. */
export interface Goal {
  readonly what: string;
  readonly value: number;
  /** Whether `value` is the least or the most that is allowed. */
  readonly bound: "least" | "most";
}

/** A figure that is not one of load: bytes, milliseconds, a ratio of its own. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: Goal;
}

export interface FillPoint {
  readonly sessions: number;
  /** First contacts a second while filling up to here. */
  readonly fillRate: number;
  readonly ingestRate: number;
  readonly verdictRate: number;
  readonly diskBytes: number;
  readonly privateBytes: number | null;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly measured: readonly Measured[];
  readonly goals: { readonly rateRatio?: number; readonly cpuRatio?: number; readonly peerRatio?: number };
  readonly figures: readonly Figure[];
  readonly fill: readonly FillPoint[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Only in the bench's own store, not against `--url`. */
  readonly localOnly?: boolean;
  /** False: it needs no stored sessions before it. */
  readonly readsSessions?: boolean;
  readonly run: (context: BenchContext) => Promise<Omit<ScenarioResult, "name" | "title">>;
}
