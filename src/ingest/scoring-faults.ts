/** Brings faults of ours from the scoring threads, which have no log, to the log of the HTTP thread. */
import { limits } from "../limits.js";

/** A message of a scoring thread: an error that cost a batch, and how many further ones there were since its last message. */
interface FaultNews {
  readonly scoringFault: Error;
  readonly furtherFailures: number;
}

/** One per scoring thread; tells of one fault a minute, however many batches fail. */
export class ScoringFaults {
  readonly #tell: (news: FaultNews) => void;
  #saidMs = Number.NEGATIVE_INFINITY;
  #silent = 0;

  /** `tell` posts to the HTTP thread. */
  constructor(tell: (news: FaultNews) => void) {
    this.#tell = tell;
  }

  failed(error: unknown): void {
    if (performance.now() - this.#saidMs < limits.outageSaidEveryMs) {
      this.#silent++;
      return;
    }
    const scoringFault = error instanceof Error ? error : new Error(String(error));
    this.#tell({ scoringFault, furtherFailures: this.#silent });
    this.#saidMs = performance.now();
    this.#silent = 0;
  }
}

/** Logs a scoring thread's fault, with its stack; ignores any other message. */
export function logScoringFault(log: { error(fields: object, what: string): void }, news: unknown): void {
  const { scoringFault: err, furtherFailures = 0 } = (news ?? {}) as Partial<FaultNews>;
  if (err === undefined) return;
  log.error({ err, ...(furtherFailures > 0 && { furtherFailures }) }, "a batch could not be processed");
}
