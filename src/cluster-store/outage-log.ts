/**
 * What the log says while the cluster can't be used: a line at the start, at most one a minute, and one when it is over, however much fails
 * meanwhile. Without stacks: they are always the same.
 */
import { limits } from "../limits.js";
import { loggedFault } from "./fault-line.js";

/** Where the lines go: fields, then what happened. */
export interface Lines {
  error(fields: object, what: string): void;
  info(fields: object, what: string): void;
}

/** One an HTTP thread. */
export class OutageLog {
  readonly #log: Lines;
  readonly #overLine: string;
  #saidMs = Number.NEGATIVE_INFINITY;
  /** Since the last line. */
  #silent = 0;
  /** Since when nothing has failed; null: it was said that all works. */
  #failedMs: number | null = null;
  /** Whether an outage was told of whose end will be told, too. */
  #isTold = false;

  /** `overLine`: what is said once nothing has failed for a moment. */
  constructor(log: Lines, overLine = "what the cluster refused is stored again") {
    this.#log = log;
    this.#overLine = overLine;
  }

  /** Whether something has failed whose end was not told yet. */
  get isOpen(): boolean {
    return this.#failedMs !== null;
  }

  /** `what` could not be done: a line, unless there was one a moment ago. Faults that are not the cluster's are logged whole. */
  failed(error: unknown, what: string): void {
    const fault = loggedFault(error);
    if ("err" in fault) {
      this.#log.error(fault, what);
      return;
    }
    this.#failedMs = performance.now();
    if (performance.now() - this.#saidMs < limits.outageSaidEveryMs) {
      this.#silent++;
      return;
    }
    this.#say(fault.reason, what);
  }

  /** As `failed`, of what is told once, and ends with `over`: always a line. */
  began(error: unknown, what: string): void {
    const fault = loggedFault(error);
    this.#isTold = true;
    if ("err" in fault) this.#log.error(fault, what);
    else this.#say(fault.reason, what);
  }

  /** What `began` is over. */
  over(what: string): void {
    this.#isTold = false;
    this.#end(what);
  }

  /** Something was stored: what `failed` before is over when nothing has failed for a moment. */
  worked(): void {
    if (this.#isTold || this.#failedMs === null) return;
    if (performance.now() - this.#failedMs > limits.outageOverMs) this.#end(this.#overLine);
  }

  #end(what: string): void {
    this.#log.info(this.#silent === 0 ? {} : { furtherFailures: this.#silent }, what);
    this.#silent = 0;
    this.#failedMs = null;
    this.#saidMs = Number.NEGATIVE_INFINITY;
  }

  #say(reason: string, what: string): void {
    this.#log.error({ reason, ...(this.#silent > 0 && { furtherFailures: this.#silent }) }, what);
    this.#saidMs = performance.now();
    this.#silent = 0;
  }
}
