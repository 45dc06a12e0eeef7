/**
 * Long work of a thread that also answers requests: cut by time, and of all that is under way one slice a tick of the event loop. So
 * however much is asked for, other requests wait for one slice at most, and what nobody waits for any more ends.
 */
import { limits } from "../limits.js";

/** One a thread, shared by everything in it that takes long; `begin` for each piece of work. */
export class LongWork {
  readonly #clock: () => number;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** `clock` gives ms. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** A piece of work; nothing of it may be done before `next` says so. */
  begin(isAborted: () => boolean = () => false): Slices {
    return new Slices(
      this.#clock,
      () => this.#nextTick(),
      () => this.#takeTick(),
      isAborted,
    );
  }

  /** Takes this tick's slice at once, if nobody has it or waits for one. */
  #takeTick(): boolean {
    if (this.#isScheduled) return false;
    this.#schedule();
    return true;
  }

  /** Resolves when it is this caller's turn: one after another, each on a tick of its own. */
  #nextTick(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}

/** The slices of one piece of work. */
export class Slices {
  readonly #clock: () => number;
  readonly #nextTick: () => Promise<void>;
  readonly #takeTick: () => boolean;
  readonly #isAborted: () => boolean;
  #endsMs = 0;

  constructor(clock: () => number, nextTick: () => Promise<void>, takeTick: () => boolean, isAborted: () => boolean) {
    this.#clock = clock;
    this.#nextTick = nextTick;
    this.#takeTick = takeTick;
    this.#isAborted = isAborted;
  }

  /** Whether the slice is used up: time to call `next`. About 50 ns. */
  get isOver(): boolean {
    return this.#clock() >= this.#endsMs;
  }

  /**
   * Begins the first slice at once where nothing else of this kind runs in this tick, so that a short list is answered in the callback in which it was
   * asked for, as a pipelined request has to be. False: ask `next`.
   */
  beginNow(): boolean {
    if (!this.#takeTick()) return false;
    this.#endsMs = this.#clock() + limits.workSliceMs;
    return true;
  }

  /** Resolves when the next slice begins: true, or false when whoever asked has gone and the work is to end. */
  async next(): Promise<boolean> {
    await this.#nextTick();
    this.#endsMs = this.#clock() + limits.workSliceMs;
    return !this.#isAborted();
  }
}
