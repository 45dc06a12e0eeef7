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

/** A figure to reach, in the figure's own unit. */
interface Goal {
  readonly value: number;
  /** Whether `value` is the least or the most that is allowed. */
  readonly bound: "least" | "most";
}

/** A figure that is not one of load: bytes, milliseconds, a ratio of its own. */
export interface Figure {
  /** Says what it is of without its scenario: figures of several are shown in one list. */
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
  /** By which the disk grew with each session of 20 events stored on the way to this point. */
  readonly newSessionBytes: number;
  /** Of the server's memory, mapped files (the store) not among them. */
  readonly privateBytes: number | null;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly measured: readonly Measured[];
  readonly goals: { readonly rateRatio?: number; readonly cpuRatio?: number };
  readonly figures: readonly Figure[];
  readonly fill: readonly FillPoint[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Only in the bench's own store, not against `--url`. */
  readonly localOnly?: boolean;
  /** Left out unless all are asked for, or this one: no figure to reach is measured in it. */
  readonly isExtra?: boolean;
  /** False: it needs no stored sessions before it. */
  readonly readsSessions?: boolean;
  /** About how long it takes, as measured on two cores. */
  readonly estimateS: (options: BenchOptions) => number;
  readonly run: (context: BenchContext) => Promise<Omit<ScenarioResult, "name" | "title">>;
}

/** A figure that is to be at least `goal`. */
export function atLeast(what: string, value: number, unit: string, goal: number): Figure {
  return { what, value, unit, goal: { value: goal, bound: "least" } };
}

/** A figure that is to be at most `goal`. */
export function atMost(what: string, value: number, unit: string, goal: number): Figure {
  return { what, value, unit, goal: { value: goal, bound: "most" } };
}
