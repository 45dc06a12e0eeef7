/**
 * Stops asking a verdictd that does not answer, so that a dead one costs the site's visitors nothing. Stands before every call of
 * the client; knows nothing of HTTP. One probe at a time finds out whether verdictd is back.
 */

/** When the breaker opens, and for how long. */
export interface BreakerOptions {
  /** Failures in a row after which it opens; default 5. */
  readonly failuresMax?: number | undefined;
  /** How long it stays open at first, ms; doubled by every failed probe. Default 1000. */
  readonly openMs?: number | undefined;
  /** The longest it stays open, ms, at least `openMs`; default 30 000. */
  readonly openMsMax?: number | undefined;
}

/** How long the breaker stays open at first, ms, where the options don't say. */
export const openMsDefault = 1000;

/** Leave to call. A probe is the one call that an open breaker lets through after its time. */
type Pass = "normal" | "probe";

/** A breaker with the clock left to its caller: `admit` before a call, then `succeed`, `fail` or `abstain` with what came of it. */
export class CircuitBreaker {
  readonly #failuresMax: number;
  readonly #firstOpenMs: number;
  readonly #openMsMax: number;
  #failures = 0;
  /** Visitors who met a slow answer since the last success; at most as many as failures. */
  readonly #slowFor = new Set<string>();
  #openMs: number;
  /** 0: closed. */
  #openUntilMs = 0;

  constructor({ failuresMax = 5, openMs = openMsDefault, openMsMax = Math.max(30_000, openMs) }: BreakerOptions = {}) {
    this.#failuresMax = failuresMax;
    this.#firstOpenMs = openMs;
    this.#openMsMax = openMsMax;
    this.#openMs = openMs;
  }

  /**
   * Leave to call, or null while open. Leaving for a probe puts the end of the open time off at once: other calls stay out while
   * it is under way, and a probe whose runtime was stopped under it does not hold the breaker open for ever.
   */
  admit(nowMs: number): Pass | null {
    if (this.#openUntilMs === 0) return "normal";
    if (nowMs < this.#openUntilMs) return null;
    this.#openUntilMs = nowMs + this.#openMs;
    return "probe";
  }

  succeed(): void {
    this.#failures = 0;
    this.#slowFor.clear();
    this.#openMs = this.#firstOpenMs;
    this.#openUntilMs = 0;
  }

  /**
   * For a call whose answer says nothing of others: changes nothing. Neither a failure, or one visitor could open the breaker for all; nor a
   * success, or one could keep it closed. After a probe the next one comes when the time that `admit` set is over.
   */
  abstain(): void {}

  /**
   * As `fail`, for a call that had no answer in time. Of one visitor's only the first in a row counts, because a visitor can make answers to his own
   * requests slow; an unknown visitor's all do.
   */
  failSlowly(pass: Pass, nowMs: number, visitor: string | undefined): boolean {
    if (visitor === undefined || pass === "probe") return this.fail(pass, nowMs);
    if (this.#slowFor.has(visitor)) return false;
    this.#slowFor.add(visitor);
    return this.fail(pass, nowMs);
  }

  /** Counts a failed call; true when this one opened the breaker. Late failures of calls begun before it opened change nothing. */
  fail(pass: Pass, nowMs: number): boolean {
    if (pass === "probe") {
      this.#openMs = Math.min(2 * this.#openMs, this.#openMsMax);
      this.#openUntilMs = nowMs + this.#openMs;
      return false;
    }
    if (this.#openUntilMs !== 0) return false;
    this.#failures++;
    if (this.#failures < this.#failuresMax) return false;
    this.#openUntilMs = nowMs + this.#openMs;
    return true;
  }
}
