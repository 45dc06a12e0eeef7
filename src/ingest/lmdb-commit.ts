/** Commits groups of batches to LMDB: a group is one write transaction. */
import type { GroupWriter } from "../store/group-writer.js";
import {
  BatchFault,
  type CommitContext,
  commitBatches,
  faultyBatch,
  type GroupResult,
  type IngestOutcome,
} from "./commit-batches.js";
import { type ReadBody, readBody } from "./decode-batch.js";
import type { IngestRequest } from "./frame.js";
import type { LmdbUnitOfWork } from "./lmdb-unit-of-work.js";

/** What a scoring thread of a single host keeps from group to group. */
export interface LmdbCommit {
  readonly unit: LmdbUnitOfWork;
  readonly writer: GroupWriter;
  readonly context: CommitContext;
  /**
   * Whether bodies are read before the transaction, to shorten it for other waiting threads. Otherwise each is read when it is used, and is then in
   * the core's cache.
   */
  readonly readsAhead?: boolean;
  /** Called with each detection that newly fired on a session, after the commit. */
  readonly onFired: (detectionId: number) => void;
  /** Called with the fault of ours for which a batch is answered `internal`. */
  readonly onFault?: (error: unknown) => void;
}

/**
 * Commits the batches and answers each, in order. Throws when the store can't be written; nothing of the group is kept then. A
 * batch that breaks the scoring itself (a fault of ours) is answered `internal` and costs the others nothing.
 */
export function commitToLmdb(commit: LmdbCommit, requests: readonly IngestRequest[]): readonly IngestOutcome[] {
  const bodies = commit.readsAhead === true ? requests.map((request) => readBody(request.body)) : null;
  let result: GroupResult;
  try {
    result = inTransaction(commit, requests, bodies);
  } catch (error) {
    if (!(error instanceof BatchFault)) throw error;
    if (requests.length === 1) {
      commit.onFault?.(error);
      return [faultyBatch];
    }
    return requests.flatMap((request) => commitToLmdb(commit, [request]));
  }
  for (const { fired } of result.dirty) for (const detectionId of fired) commit.onFired(detectionId);
  return result.outcomes;
}

function inTransaction(
  { unit, writer, context }: LmdbCommit,
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[] | null,
): GroupResult {
  const work = (): GroupResult => {
    const result = commitBatches(unit, context, requests, bodies);
    unit.save();
    return result;
  };
  try {
    return writer.write(work);
  } catch (error) {
    unit.discard();
    throw error;
  }
}
