/**
 * Answers a task of a scoring thread as soon as the responsive shards have their batches. Batches of a shard that does not answer, or lacks
 * replicas, are postponed and delay no others; a message brings their outcomes later.
 */
import { threadId } from "node:worker_threads";
import type { IngestOutcome } from "../../ingest/commit-batches.js";
import { encodeOutcomes, type PostponedOutcomes, type TaskOutcome } from "../../ingest/task-answer.js";
import type { BegunCommit } from "./cluster-commit.js";

/** One per scoring thread. */
export class PostponedBatches {
  readonly #tell: (news: PostponedOutcomes) => void;
  readonly #onSettled: (outcomes: readonly IngestOutcome[]) => void;
  #count = 0;

  /** `tell` posts to the HTTP thread's queue; `onSettled` is called with outcomes that come later. */
  constructor(
    tell: (news: PostponedOutcomes) => void,
    onSettled: (outcomes: readonly IngestOutcome[]) => void = () => {},
  ) {
    this.#tell = tell;
    this.#onSettled = onSettled;
  }

  /** Returns the outcomes of the group's batches that are known early, and tickets for the others, in order. */
  async answer({ outcomes, early, settled }: BegunCommit): Promise<TaskOutcome[]> {
    await early;
    const tickets = new Map<number, string>();
    const answer = outcomes.map((outcome, index): TaskOutcome => {
      if (outcome !== null) return outcome;
      const ticket = `${threadId}.${this.#count++}`;
      tickets.set(index, ticket);
      return { ticket };
    });
    if (tickets.size > 0) {
      void settled.then(() => {
        const late = Array.from(tickets.keys(), (index) => outcomes[index]!);
        this.#tell({
          tickets: [...tickets.values()],
          postponed: encodeOutcomes(new Uint8Array(64 * late.length), late),
        });
        this.#onSettled(late);
      });
    }
    return answer;
  }
}
