/** Tells the operator of projects whose rules cost more than a verdict may: each verdict is counted, a project is logged now and then. */
import { limits } from "../limits.js";

/** `onEach` is for the metric, `warn` for the log: of a project at most once in `limits.ruleBudgetWarnMs`. */
export interface RuleBudgetWatchOptions {
  readonly onEach: () => void;
  readonly warn: (projectId: number) => void;
}

/** The watch of one thread: each thread logs a project for itself. */
export class RuleBudgetWatch {
  readonly #options: RuleBudgetWatchOptions;
  /** When a project may be logged again, ms. */
  readonly #quietUntilMs = new Map<number, number>();

  constructor(options: RuleBudgetWatchOptions) {
    this.#options = options;
  }

  /** A verdict of this project was over the budget. */
  record(projectId: number, nowMs: number): void {
    this.#options.onEach();
    if (nowMs < (this.#quietUntilMs.get(projectId) ?? 0)) return;
    if (this.#quietUntilMs.size >= limits.compiledProjectsMax) this.#quietUntilMs.clear();
    this.#quietUntilMs.set(projectId, nowMs + limits.ruleBudgetWarnMs);
    this.#options.warn(projectId);
  }
}
