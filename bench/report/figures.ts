/** What the scenarios found as rows of two lists: figures with a goal, reached or not, and figures without one. */
import type { Figure, ScenarioResult } from "../scenarios/scenario.js";

export interface FigureRow {
  readonly figure: string;
  readonly measured: string;
  /** "" for a figure without a goal. */
  readonly goal: string;
  readonly isReached: boolean;
}

/** Every figure, in the order of the scenarios. A row's name says what it is of, wherever it is shown. */
export function figureRows(results: readonly ScenarioResult[]): FigureRow[] {
  return allFigures(results).map(rowOf);
}

/** The ratios of the races, and all other figures. */
export function allFigures(results: readonly ScenarioResult[]): Figure[] {
  return results.flatMap((result) => [...raceFigures(result), ...result.figures]);
}

/** What somebody who chooses would compare: each race with what he would build in an afternoon, and how long a site waits under a steady load. */
export function frontRows(results: readonly ScenarioResult[]): FigureRow[] {
  const isAsked = ({ what }: Figure): boolean =>
    /to Fastify \+ Redis'$|p99 at half of (its|ingest's) capacity$/.test(what);
  return allFigures(results).filter(isAsked).map(rowOf);
}

/** The ratios of a race as figures: to the bare server, and to the peer where there is one. */
function raceFigures({ title, goals, measured }: ScenarioResult): Figure[] {
  const own = measured.find(({ target }) => target === "verdictd");
  const peer = measured.find(({ target }) => target.startsWith("Fastify"));
  if (own === undefined || own.rateRatio === null) return [];
  const ratio = (what: string, value: number | null, bound: "least" | "most", goal?: number): readonly Figure[] => {
    if (value === null) return [];
    const figure = { what: `${title}: ${what}`, value, unit: "×" };
    return [goal === undefined ? figure : { ...figure, goal: { value: goal, bound } }];
  };
  return [
    ...ratio("requests a second, to the bare server's", own.rateRatio, "least", goals.rateRatio),
    ...ratio("server CPU a request, to the bare server's", own.cpuRatio, "most", goals.cpuRatio),
    ...(peer === undefined ? [] : ratio("requests a second, to Fastify + Redis'", own.rate / peer.rate, "least")),
  ];
}

function rowOf({ what, value, unit, goal }: Figure): FigureRow {
  const isReached = goal === undefined || (goal.bound === "least" ? value >= goal.value : value <= goal.value);
  return {
    figure: what,
    measured: withUnit(value, unit),
    goal: goal === undefined ? "" : `${goal.bound === "least" ? "≥" : "≤"} ${withCommas(goal.value)}${unitOf(unit)}`,
    isReached,
  };
}

/** As the tables show it. */
export function withUnit(value: number, unit: string): string {
  return `${shown(value)}${unitOf(unit)}`;
}

/** Three digits of what is small, whole numbers of what is not. */
function shown(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return withCommas(Math.round(value));
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

function withCommas(value: number): string {
  return value.toLocaleString("en");
}

function unitOf(unit: string): string {
  return unit === "" || unit === "×" ? unit : ` ${unit}`;
}
