/** Tells the operator which projects have rules that exceed a verdict's budget: each verdict is counted, and a project is logged now and then. */
import { LRUCache } from "lru-cache";
import { limits } from "../limits.js";

/** `onEach` feeds the metric, `warn` the log: at most once per project in `limits.ruleBudgetWarnMs`. */
interface RuleBudgetWatchOptions {
  readonly onEach: () => void;
  readonly warn: (projectId: number) => void;
}

/** The watch of one thread: each thread logs projects separately. */
export class RuleBudgetWatch {
  readonly #options: RuleBudgetWatchOptions;
  /** When a project may be logged again, ms. */
  readonly #quietUntilMs = new LRUCache<number, number>({ max: limits.compiledProjectsMax });

  constructor(options: RuleBudgetWatchOptions) {
    this.#options = options;
  }

  /** Call when a verdict of this project exceeded the budget. */
  record(projectId: number, nowMs: number): void {
    this.#options.onEach();
    if (nowMs < (this.#quietUntilMs.get(projectId) ?? 0)) return;
    this.#quietUntilMs.set(projectId, nowMs + limits.ruleBudgetWarnMs);
    this.#options.warn(projectId);
  }
}
