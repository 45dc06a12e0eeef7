/**
 * Logs that the cluster can't be used: a line at the start, at most one a minute, and one at the end, however many calls fail in however many
 * threads. Without stacks, because they are always the same.
 */
import { limits } from "../limits.js";
import { loggedFault } from "./fault-line.js";

/** Receives the lines: fields, then what happened. */
interface Lines {
  error(fields: object, what: string): void;
  info(fields: object, what: string): void;
}

/** Shared state of one kind of outage, for all threads of a process; can be posted to them. */
export function newOutage(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * 8);
}

/** Whether something has failed and its end is not logged yet. */
export function isOutageOpen(outage: SharedArrayBuffer): boolean {
  return Atomics.load(new BigInt64Array(outage), failedMs) !== 0n;
}

// Content of each cell. Times are by the machine's monotonic clock, ms, 0 for none.
/** When the last line was logged. */
const saidMs = 0;
/** When something failed last; none after the log said that all works. */
const failedMs = 1;
/** Failures since the last line. */
const silent = 2;
/** 1: an outage was logged, and its end will be logged too. */
const told = 3;

const nowMs = (): bigint => process.hrtime.bigint() / 1_000_000n;

/** One per thread that has a log; all of one process share `outage`. */
export class OutageLog {
  readonly #log: Lines;
  readonly #cells: BigInt64Array<SharedArrayBuffer>;
  readonly #overLine: string;

  /** `overLine`: logged once nothing has failed for a moment. */
  constructor(log: Lines, outage: SharedArrayBuffer, overLine = "what the cluster refused is stored again") {
    this.#log = log;
    this.#cells = new BigInt64Array(outage);
    this.#overLine = overLine;
  }

  /** As `isOutageOpen`. */
  get isOpen(): boolean {
    return isOutageOpen(this.#cells.buffer);
  }

  /** `what` could not be done: logs a line, unless one was logged a moment ago. Other faults than the cluster's are logged whole. */
  failed(error: unknown, what: string): void {
    const fault = loggedFault(error);
    if ("err" in fault) {
      this.#log.error(fault, what);
      return;
    }
    const now = nowMs();
    Atomics.store(this.#cells, failedMs, now);
    const said = Atomics.load(this.#cells, saidMs);
    const isDue = said === 0n || now - said >= limits.outageSaidEveryMs;
    // The first of several threads logs it.
    if (isDue && Atomics.compareExchange(this.#cells, saidMs, said, now) === said) this.#say(fault.reason, what);
    else Atomics.add(this.#cells, silent, 1n);
  }

  /** Like `failed`, but always logs, and lasts until `over`. */
  began(error: unknown, what: string): void {
    const fault = loggedFault(error);
    Atomics.store(this.#cells, told, 1n);
    if ("err" in fault) {
      this.#log.error(fault, what);
      return;
    }
    Atomics.store(this.#cells, saidMs, nowMs());
    this.#say(fault.reason, what);
  }

  /** The outage that `began` logged is over. */
  over(what: string): void {
    Atomics.store(this.#cells, told, 0n);
    Atomics.store(this.#cells, failedMs, 0n);
    this.#end(what);
  }

  /** Something was stored. Ends the outage that `failed` reported, if nothing has failed for a moment. */
  worked(): void {
    const failed = Atomics.load(this.#cells, failedMs);
    if (failed === 0n || Atomics.load(this.#cells, told) === 1n || nowMs() - failed <= limits.outageOverMs) return;
    if (Atomics.compareExchange(this.#cells, failedMs, failed, 0n) === failed) this.#end(this.#overLine);
  }

  #end(what: string): void {
    Atomics.store(this.#cells, saidMs, 0n);
    this.#log.info(this.#silentFields(), what);
  }

  #say(reason: string, what: string): void {
    this.#log.error({ reason, ...this.#silentFields() }, what);
  }

  #silentFields(): object {
    const count = Atomics.exchange(this.#cells, silent, 0n);
    return count === 0n ? {} : { furtherFailures: Number(count) };
  }
}
