/**
 * Hands batches from an HTTP thread to the scoring workers. All batches that arrive while the workers are busy form the next task: small tasks when
 * idle (latency), large ones under load (throughput). Bounded: above one mark batches are recorded without scoring, above the next they are shed.
 */
import { Refusal } from "../errors.js";
import { limits } from "../limits.js";
import type { IngestOutcome } from "./commit-batches.js";
import { FrameMemory, FrameWriter, HeaderBlocks, type UnscoredRequest } from "./frame.js";
import { decodeOutcomes, type PostponedOutcomes, type TaskOutcome } from "./task-answer.js";

/** Runs one task on a scoring worker: the frame is transferred, the answer (`task-answer.ts`) comes back in its memory. */
export type RunTask = (frame: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** The runner of the tasks, and the marks in bytes for not scoring and for shedding. */
interface QueueOptions {
  readonly run: RunTask;
  /** Tasks at the workers at once. */
  readonly tasksMax: number;
  /** Bytes waiting or at the workers above which batches are not scored. */
  readonly sampleAboveBytes: number;
  /** Bytes waiting or at the workers above which batches are shed. */
  readonly shedAboveBytes: number;
  readonly meter: QueueMeter;
  /** Called with errors that a `Settle` threw. */
  readonly onFailure: (error: unknown) => void;
}

/** Counts batches; must not throw. */
interface QueueMeter {
  /** Returns the current time, ms, on any monotonic clock. */
  now(): number;
  /** From a batch's arrival to its commit. */
  observeLag(ms: number): void;
  countBatch(counts: { readonly accepted: number; readonly duplicates: number }): void;
  add(
    name: "batchesSampled" | "batchesShed" | "batchesFailed" | "batchesUnavailable" | "batchesNoRoom" | "contactsShed",
  ): void;
  set(name: "queueBatches" | "queueBytes" | "queueTasks", value: number): void;
}

/** Called once per batch, with its outcome or with the failure. An error that it throws affects only its own batch. */
type Settle = (outcome: IngestOutcome | Error) => void;

/** The current state of the queue; `sampled` and `shed` count batches since the start. */
interface QueueCounts {
  readonly waitingBatches: number;
  readonly bytes: number;
  readonly tasks: number;
  readonly sampled: number;
  readonly shed: number;
}

interface Task {
  readonly frame: FrameWriter;
  readonly settle: Settle[];
  /** When each batch arrived, ms. */
  readonly arrivedMs: number[];
  /** Size of each body. */
  readonly bytes: number[];
  bodyBytes: number;
  /** How many times `tick` has seen it. */
  ticks: number;
}

/** A batch that has no outcome, although its task was answered. */
interface LateBatch {
  readonly settle: Settle;
  readonly arrivedMs: number;
  readonly bytes: number;
  ticks: number;
}

/** How full the queue may be of batches that a pass is decided by. */
const awaitedShare = 1.25;

/** One per HTTP thread, in front of the scoring threads of its pool. */
export class IngestQueue {
  readonly #options: QueueOptions;
  /** Waiting tasks; new batches join the last one. */
  #waiting: Task[] = [];
  /**
   * At the workers, a few. Not a set: each table that V8 makes for one refers to the next. Once one is among the old objects, all tasks since then are
   * copied there with all of their batches, by collections that take twice as long.
   */
  #running: Task[] = [];
  /** Postponed batches, by their ticket. */
  readonly #late = new Map<string, LateBatch>();
  /** Outcomes, by ticket, that came before the answer which names the ticket, and how many times `tick` has seen them. */
  readonly #early = new Map<string, { readonly outcome: IngestOutcome; ticks: number }>();
  readonly #headerBlocks = new HeaderBlocks();
  readonly #frameMemory = new FrameMemory();
  #bytes = 0;
  #sampled = 0;
  #shed = 0;
  #waitingBatches = 0;
  #drained: (() => void) | null = null;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get counts(): QueueCounts {
    return {
      waitingBatches: this.#waitingBatches,
      bytes: this.#bytes,
      tasks: this.#running.length,
      sampled: this.#sampled,
      shed: this.#shed,
    };
  }

  /** Whether a batch with a body of this size is shed now; if so, counts it. */
  sheds(bodyBytes: number): boolean {
    if (this.#bytes + bodyBytes <= this.#options.shedAboveBytes) return false;
    this.countShed();
    return true;
  }

  /** Counts a batch that was shed before it reached the queue. */
  countShed(): void {
    this.#shed++;
    this.#options.meter.add("batchesShed");
  }

  /** Counts a batch that was refused before it reached the queue, because the disk is almost full. */
  countNoRoom(): void {
    this.#options.meter.add("batchesNoRoom");
  }

  /**
   * Queues a batch and settles it later. Returns false if the batch is shed; nothing of it is kept then. `isAwaited`: a pass is decided by it, so it is
   * scored and not shed, unless such batches fill a quarter more than the queue.
   */
  offer(request: UnscoredRequest, settle: Settle, isAwaited = false): boolean {
    const { length } = request.body;
    const hasRoom = isAwaited && this.#bytes + length <= this.#options.shedAboveBytes * awaitedShare;
    if (!hasRoom && this.sheds(length)) return false;
    const score = isAwaited || this.#bytes <= this.#options.sampleAboveBytes;
    if (!score) {
      this.#sampled++;
      this.#options.meter.add("batchesSampled");
    }
    const task = this.#openTask(request.body.length);
    task.frame.add(request, score);
    task.settle.push(settle);
    task.arrivedMs.push(this.#options.meter.now());
    task.bytes.push(request.body.length);
    task.bodyBytes += request.body.length;
    this.#bytes += request.body.length;
    this.#waitingBatches++;
    this.#dispatch();
    this.#showDepth();
    return true;
  }

  /** Settles postponed batches by a worker's message; ignores any other message. */
  settlePostponed(news: unknown): void {
    const { tickets, postponed } = (news ?? {}) as Partial<PostponedOutcomes>;
    if (tickets === undefined || postponed === undefined) return;
    const outcomes = decodeOutcomes(postponed);
    for (const [index, ticket] of tickets.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined || "ticket" in outcome) continue;
      const late = this.#late.get(ticket);
      if (late !== undefined) this.#settleLate(ticket, late, outcome);
      // Its task's answer is still under way, or it was given up.
      else this.#early.set(ticket, { outcome, ticks: 0 });
    }
    this.#showDepth();
    this.#considerDrained();
  }

  /** Resolves when nothing waits and nothing is at the workers. */
  drain(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  /**
   * Call every `limits.watchEveryMs`. Batches that wait, or are at a worker, for more than `limits.watchTicksMax` calls are settled with a failure:
   * no client waits for ever. A batch at a worker may still be committed; its retry is a duplicate then. Returns whether such batches are at a
   * worker.
   */
  tick(): boolean {
    let isStuck = false;
    for (const task of [...this.#running, ...this.#waiting]) {
      if (++task.ticks <= limits.watchTicksMax) continue;
      const late = task.settle.splice(0);
      if (this.#running.includes(task)) isStuck = true;
      else {
        this.#waiting = this.#waiting.filter((each) => each !== task);
        this.#waitingBatches -= late.length;
        this.#bytes -= task.bodyBytes;
      }
      const failure = new Error("scoring the batch took too long");
      for (const settle of late) this.#settle(settle, failure);
    }
    for (const [ticket, late] of this.#late) {
      if (++late.ticks > limits.watchTicksMax)
        this.#settleLate(ticket, late, new Error("storing the batch took too long"));
    }
    for (const [ticket, early] of this.#early) if (++early.ticks > limits.watchTicksMax) this.#early.delete(ticket);
    return isStuck;
  }

  #openTask(bytes: number): Task {
    const last = this.#waiting.at(-1);
    if (
      last !== undefined &&
      last.settle.length < limits.taskBatchesMax &&
      last.frame.byteLength + bytes <= limits.taskBytesMax
    ) {
      return last;
    }
    const frame = new FrameWriter(this.#headerBlocks, this.#frameMemory);
    const task: Task = { frame, settle: [], arrivedMs: [], bytes: [], bodyBytes: 0, ticks: 0 };
    this.#waiting.push(task);
    return task;
  }

  #dispatch(): void {
    while (this.#running.length < this.#options.tasksMax) {
      const task = this.#waiting[0];
      const isAhead = this.#running.length >= this.#options.tasksMax / limits.tasksInFlightPerThread;
      if (task === undefined || (isAhead && task.settle.length < limits.taskBatchesAhead)) return;
      this.#waiting.shift();
      this.#waitingBatches -= task.settle.length;
      this.#running.push(task);
      void this.#run(task);
    }
  }

  async #run(task: Task): Promise<void> {
    let outcomes: readonly (TaskOutcome | Error)[];
    try {
      const answer = await this.#options.run(task.frame.take());
      outcomes = decodeOutcomes(answer);
      this.#frameMemory.give(answer.buffer);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      outcomes = task.settle.map(() => failure);
    }
    this.#running = this.#running.filter((each) => each !== task);
    this.#bytes -= task.bodyBytes;
    this.#dispatch();
    this.#showDepth();
    const nowMs = this.#options.meter.now();
    for (const [index, settle] of task.settle.entries()) {
      const outcome = outcomes[index] ?? new Error("the batch got no result");
      const arrivedMs = task.arrivedMs[index]!;
      if ("ticket" in outcome)
        this.#postpone(outcome.ticket, { settle, arrivedMs, bytes: task.bytes[index]!, ticks: 0 });
      else this.#conclude(settle, outcome, nowMs - arrivedMs);
    }
    this.#considerDrained();
  }

  #postpone(ticket: string, late: LateBatch): void {
    this.#late.set(ticket, late);
    this.#bytes += late.bytes;
    const early = this.#early.get(ticket);
    if (early === undefined) return;
    this.#early.delete(ticket);
    this.#settleLate(ticket, late, early.outcome);
  }

  #settleLate(ticket: string, { settle, arrivedMs, bytes }: LateBatch, outcome: IngestOutcome | Error): void {
    this.#late.delete(ticket);
    this.#bytes -= bytes;
    this.#conclude(settle, outcome, this.#options.meter.now() - arrivedMs);
  }

  get #isEmpty(): boolean {
    return this.#running.length === 0 && this.#waiting.length === 0 && this.#late.size === 0;
  }

  #considerDrained(): void {
    if (this.#isEmpty) this.#drained?.();
  }

  #conclude(settle: Settle, outcome: IngestOutcome | Error, lagMs: number): void {
    this.#count(outcome, lagMs);
    this.#settle(settle, outcome);
  }

  #settle(settle: Settle, outcome: IngestOutcome | Error): void {
    try {
      settle(outcome);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #showDepth(): void {
    const { meter } = this.#options;
    meter.set("queueBatches", this.#waitingBatches);
    meter.set("queueBytes", this.#bytes);
    meter.set("queueTasks", this.#running.length);
  }

  /** Batches that were refused for what they are, are counted with their request; an entry without events is no batch. */
  #count(outcome: IngestOutcome | Error, lagMs: number): void {
    const { meter } = this.#options;
    if (outcome instanceof Error || (outcome instanceof Refusal && outcome.error === "internal")) {
      meter.add("batchesFailed");
    } else if (outcome instanceof Refusal && outcome.error === "unavailable") {
      meter.add("batchesUnavailable");
    } else if ("isShed" in outcome) {
      meter.add("contactsShed");
    } else if (!(outcome instanceof Refusal) && outcome.accepted + outcome.duplicates > 0) {
      meter.countBatch(outcome);
      meter.observeLag(lagMs);
    }
  }
}
