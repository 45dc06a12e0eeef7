/**
 * Commits groups of batches to the cluster. It fetches the rows that they need, runs them on an overlay, writes each session by one script and waits
 * until replicas acknowledge the writes. A batch runs again if another node changed its session meanwhile, or if it needed a row that was not
 * fetched. Batches of a slow shard don't delay the others: they are postponed.
 */
import { LRUCache } from "lru-cache";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { Outcome } from "../../cluster/operation.js";
import { Refusal, refuse } from "../../errors.js";
import type { UnreadBatch } from "../../ingest/batch-reads.js";
import {
  BatchFault,
  type CommitContext,
  commitBatches,
  type DirtySession,
  faultyBatch,
  type GroupResult,
  type IngestOutcome,
} from "../../ingest/commit-batches.js";
import type { IngestRequest } from "../../ingest/frame.js";
import { limits } from "../../limits.js";
import { deadlineWithin } from "../deadline.js";
import { shardOfSession, shardSlots } from "../keys.js";
import type { CountSender } from "./batch-counts.js";
import type { ClusterPathReuseIndex } from "./cluster-path-reuse-index.js";
import {
  type BatchCounts,
  ClusterUnitOfWork,
  type FetchedRows,
  forgetRows,
  type NeededRow,
  nameOfKey,
  type ReadSession,
} from "./cluster-unit-of-work.js";
import { claimKeys, confirmAbsences } from "./new-sessions.js";
import { needsOf, spilledIdsNeeds } from "./prefetch.js";
import type { ClusterCounts } from "./recent-counts.js";
import {
  allFinished,
  type MasterWrite,
  refusedBy,
  type SessionFate,
  SessionWriter,
  type SessionWriterOptions,
  tooLate,
} from "./session-writer.js";

/** What a scoring thread of a cluster needs to commit. */
interface ClusterCommitOptions extends SessionWriterOptions {
  readonly context: CommitContext;
  readonly paths: ClusterPathReuseIndex;
  readonly counts: ClusterCounts;
  readonly sender: CountSender;
  /** Called with each detection that newly fired on a session, once that is written. */
  readonly onFired: (detectionId: number) => void;
  readonly onConflict: (batches: number) => void;
}

/** A group of batches being committed. */
export interface BegunCommit {
  /** In the order of the batches; `null` means not known yet. */
  readonly outcomes: readonly (IngestOutcome | null)[];
  /** Resolves, and never rejects, once all outcomes are known except those that wait for slow shards. No bodies are read after that point. */
  readonly early: Promise<void>;
  /** Resolves when all outcomes are known. Never rejects. */
  readonly settled: Promise<void>;
}

/** The rows of the cluster that a group has so far, and its outcomes. */
interface Group {
  readonly rows: FetchedRows;
  /** Why a row can't be had, by the row's name: only the batches that need it are refused. */
  readonly failed: Map<string, ClusterError>;
  /** When the whole group must be answered, by `performance.now()`. */
  readonly endMs: number;
  readonly outcomes: (IngestOutcome | null)[];
  /** Takes the batches of slow shards; `null` means that this group consists of such batches, and waits for them. */
  readonly postponed: Postponed | null;
}

/** The batches of a group that delay no others. */
interface Postponed {
  /** Those whose rows could not be had at once. They run again. */
  readonly unread: Pending[];
  readonly late: LateWrite[];
  /** The same by the names of their sessions (`nameOfKey`). */
  readonly bySession: Map<string, LateWrite>;
}

/** Sessions whose write was sent and not acknowledged soon, with what is needed to give their batches an outcome. */
interface LateWrite {
  readonly batches: LateBatch[];
  /** Batches to run once the outcomes are known: those that ran on another version than the master has, and later ones of these sessions. */
  readonly again: Pending[];
  /** Resolves, and never rejects, once each of `batches` has an outcome or is in `again`. */
  settled: Promise<void>;
}

interface LateBatch {
  readonly batch: Pending;
  readonly session: string;
  /** What it gets if its session is written. */
  readonly outcome: IngestOutcome;
  readonly counts: BatchCounts;
}

/** A batch without an outcome yet. */
interface Pending extends UnreadBatch {
  readonly index: number;
}

interface Again {
  readonly batches: Pending[];
  /** How many times another node, or another task, changed its session first. */
  conflicts: number;
}

/** Rounds beyond the conflicts: for rows that were not foreseen, or for a batch that breaks the scoring. */
const roundsMax = 64;
/** How many sessions are remembered as copiers. */
const copiersMax = 20_000;

const contended = refuse("unavailable", "the session is being written by others: send the batch again");

/** One per scoring thread. A session's batches take effect in one script, or not at all. */
export class ClusterCommit {
  readonly #options: ClusterCommitOptions;
  readonly #writer: SessionWriter;
  /** Sessions, by `nameOfKey`, that had a batch which counted its shape unforeseen: the next batch most likely does too. */
  readonly #copiers = new LRUCache<string, true>({ max: copiersMax });

  constructor(options: ClusterCommitOptions) {
    this.#options = options;
    this.#writer = new SessionWriter(options);
  }

  /**
   * Commits the batches and answers each, in order. Never rejects: a batch that can't be written is refused as `unavailable`, by a fault of ours as
   * `internal`.
   */
  async commit(requests: readonly IngestRequest[]): Promise<IngestOutcome[]> {
    const { outcomes, settled } = this.begin(requests);
    await settled;
    return outcomes as IngestOutcome[];
  }

  /** As `commit`, but batches of a shard that does not answer, or that lacks replicas, don't delay the others: their outcomes follow later. */
  begin(requests: readonly IngestRequest[]): BegunCommit {
    const outcomes: (IngestOutcome | null)[] = requests.map(() => null);
    const postponed: Postponed = { unread: [], late: [], bySession: new Map() };
    const common = { outcomes, endMs: performance.now() + limits.clusterWriteMs };
    const all = requests.map((request, index) => ({ index, request, body: null }));
    const early = this.#settle({ ...common, rows: new Map(), failed: new Map(), postponed }, all);
    const settleLeft = (batches: readonly Pending[]): Promise<void> => {
      const left = batches.filter(({ index }) => outcomes[index] === null);
      return this.#settle({ ...common, rows: new Map(), failed: new Map(), postponed: null }, left);
    };
    const settled = early.then(async () => {
      const unread = settleLeft(postponed.unread.map(copyOf));
      await Promise.all(postponed.late.map((write) => write.settled.then(() => settleLeft(write.again))));
      await unread;
    });
    return { outcomes, early, settled };
  }

  /** Sets the outcome of each batch, or postpones the batch. */
  async #settle(group: Group, batches: readonly Pending[]): Promise<void> {
    const { outcomes, endMs } = group;
    let pending = batches;
    try {
      for (let rounds = 0, conflicts = 0; pending.length > 0; rounds++) {
        if (conflicts > limits.clusterConflictRounds || rounds > roundsMax) {
          for (const { index } of pending) outcomes[index] = contended;
          break;
        }
        if (rounds > 0 && performance.now() > endMs) {
          for (const { index } of pending) outcomes[index] = tooLate;
          break;
        }
        await this.#fetch(group, pending);
        const again = await this.#round(group, pending);
        if (again.conflicts > 0) {
          conflicts++;
          this.#options.onConflict(again.conflicts);
        }
        pending = again.batches.sort((one, other) => one.index - other.index);
      }
    } catch (error) {
      const refusal = this.#reported(error);
      for (const { index } of pending) outcomes[index] ??= refusal;
    }
  }

  /** Reports what went wrong; returns what its batches are answered. */
  #reported(error: unknown): Refusal {
    if (error instanceof ClusterError) {
      this.#options.onFailure(error);
      return refusedBy(error);
    }
    this.#options.onFault(error);
    return faultyBatch;
  }

  /** Fetches the rows that the batches need and that were not requested before. */
  async #fetch(group: Group, pending: readonly Pending[]): Promise<void> {
    const { context, paths } = this.#options;
    const { rows, failed } = group;
    const needs = needsOf(context.credentials, pending, this.#copiers);
    const loads = [...needs.projectIds].map((projectId) => paths.load(projectId));
    for (const name of [...rows.keys(), ...failed.keys()]) needs.rows.delete(name);
    await Promise.all([this.#fetchRows(group, needs.rows), ...loads]);
    // Spilled ids are fetched ahead as well: a batch that runs without them has to run again.
    await this.#fetchRows(group, spilledIdsNeeds(needs, rows));
  }

  /**
   * Runs the batches and writes the complete ones. Returns the batches that have to run again, and whether other nodes changed their sessions. `isPart`:
   * others of the group run afterwards, perhaps of the same sessions.
   */
  async #round(group: Group, pending: readonly Pending[], isPart = false): Promise<Again> {
    const { paths, counts } = this.#options;
    const { rows, failed, outcomes, postponed } = group;
    const unit = new ClusterUnitOfWork(rows, counts, paths, failed);
    const result = this.#run(unit, pending);
    if (result instanceof BatchFault) return this.#halves(group, pending, result);
    const sessions = result.sessions.map((key) => (key === null ? "" : nameOfKey(key)));
    const unfinished = new Set(unit.incompleteSessions);
    for (const position of unit.incompleteBatches) {
      unfinished.add(sessions[position]!);
      this.#rememberCopier(sessions[position]!);
    }
    unfinished.delete("");
    const silent = new Set(postponed === null ? nobody : this.#silentSessions(unit, postponed));
    const unconfirmed = await confirmAbsences(this.#options, group, unit, sessions, postponed === null);
    // Batches of a shard that does not confirm soon run again, and delay no others.
    if (postponed !== null) for (const [name, fate] of unconfirmed) if (fate instanceof Refusal) silent.add(name);
    for (const name of silent) unfinished.add(name);
    const saved = [...unit.saved.values()].filter(({ name }) => !unfinished.has(name));
    const unchanged = new Map<string, ReadSession>();
    for (const session of sessions) {
      const read = unit.read.get(session);
      if (read !== undefined && !unit.saved.has(session) && !unfinished.has(session)) unchanged.set(session, read);
    }
    const claims = saved.filter(({ name, claim }) => claim !== undefined && !unconfirmed.has(name));
    const unclaimed = await claimKeys(this.#options, claims, group.endMs);
    const settled = new Map([...unconfirmed, ...unclaimed]);
    const writable = settled.size === 0 ? saved : saved.filter(({ name }) => !settled.has(name));
    const { fates, writes } = this.#writer.write(writable, unchanged, group.endMs, settled);
    if (postponed === null) await allFinished(writes);
    else {
      await this.#writer.finishedSoon(writes);
      for (const write of writes) if (!write.isFinished) this.#postpone(group, postponed, write, fates, result.dirty);
    }
    const again: Again = { batches: [], conflicts: 0 };
    for (const [position, batch] of pending.entries()) {
      const session = sessions[position]!;
      const outcome = result.outcomes[position]!;
      const counted = unit.countsOf(position);
      const lateWrite = postponed?.bySession.get(session);
      if (unit.incompleteBatches.has(position) || unfinished.has(session)) {
        unit.forgetPaths(position);
        const fault = unit.hopelessBatches.get(position);
        if (lateWrite !== undefined) lateWrite.again.push(copyOf(batch));
        else if (postponed !== null && (fault !== undefined || silent.has(session))) postponed.unread.push(batch);
        else if (fault !== undefined) outcomes[batch.index] = refusedBy(fault);
        else again.batches.push(batch);
      } else if (lateWrite !== undefined) {
        lateWrite.batches.push({ batch: copyOf(batch), session, outcome, counts: counted });
      } else if (this.#conclude(outcomes, batch, fates.get(session), outcome, counted)) {
        // Batches that run again see what these have counted.
        for (const { row } of counted.across) rows.set(row, Buffer.from(String(Number(rows.get(row) ?? 0) + 1)));
      } else if (outcomes[batch.index] === null) {
        again.batches.push(batch);
        again.conflicts++;
      }
    }
    this.#countFired(result.dirty, fates);
    for (const session of saved) if (isPart || fates.get(session.name) === "conflict") forgetRows(rows, session);
    for (const [name, { key }] of unchanged) if (fates.get(name) === "conflict") forgetRows(rows, { key });
    await this.#fetchRows(group, unit.missing);
    return again;
  }

  /** Sets the outcome of a batch by the fate of its session, unless that is a conflict. Returns whether the batch is taken. */
  #conclude(
    outcomes: (IngestOutcome | null)[],
    { index }: Pending,
    fate: SessionFate | undefined,
    outcome: IngestOutcome,
    counts: BatchCounts,
  ): boolean {
    const isTaken = fate === undefined || fate === "written";
    if (isTaken) {
      outcomes[index] = outcome;
      this.#options.sender.add(counts);
      return true;
    }
    this.#options.paths.forget(counts.projectId, counts.paths);
    if (fate instanceof Refusal) outcomes[index] = fate;
    return false;
  }

  /** Lets a write end after its group. Keeps nothing of the group but what concerns the write. */
  #postpone(
    { outcomes }: Group,
    { late, bySession }: Postponed,
    { sessions, finished }: MasterWrite,
    fates: ReadonlyMap<string, SessionFate>,
    groupDirty: readonly DirtySession[],
  ): void {
    const write: LateWrite = { batches: [], again: [], settled: finished };
    for (const name of sessions) bySession.set(name, write);
    const dirty = groupDirty.filter(({ key }) => bySession.get(nameOfKey(key)) === write);
    write.settled = finished.then(() => this.#settleLate(outcomes, write, fates, dirty));
    late.push(write);
  }

  /** Sets the outcomes of a finished write's batches. Must not throw. */
  #settleLate(
    outcomes: (IngestOutcome | null)[],
    { batches, again }: LateWrite,
    fates: ReadonlyMap<string, SessionFate>,
    dirty: readonly DirtySession[],
  ): void {
    const { onConflict } = this.#options;
    try {
      let conflicts = 0;
      for (const { batch, session, outcome, counts } of batches) {
        this.#conclude(outcomes, batch, fates.get(session), outcome, counts);
        if (outcomes[batch.index] !== null) continue;
        again.push(batch);
        conflicts++;
      }
      if (conflicts > 0) onConflict(conflicts);
      this.#countFired(dirty, fates);
    } catch (error) {
      const refusal = this.#reported(error);
      for (const { batch } of batches) outcomes[batch.index] ??= refusal;
    }
  }

  #countFired(dirty: readonly DirtySession[], fates: ReadonlyMap<string, SessionFate>): void {
    for (const { key, fired } of dirty) {
      if (fates.get(nameOfKey(key)) === "written") for (const id of fired) this.#options.onFired(id);
    }
  }

  /** Returns the sessions, by `nameOfKey`, that only a master with unanswered commands could write or confirm, or whose write is under way. */
  #silentSessions({ saved, read }: ClusterUnitOfWork, { bySession }: Postponed): ReadonlySet<string> {
    const { client } = this.#options;
    if (!client.hasSuspected && bySession.size === 0) return nobody;
    const silent = new Set<string>();
    for (const [name, { key }] of [...saved, ...read]) {
      if (bySession.has(name) || client.isSuspected(shardSlots[shardOfSession(key)]!)) silent.add(name);
    }
    return silent;
  }

  #rememberCopier(name: string): void {
    if (name === "") return;
    this.#copiers.set(name, true);
  }

  /** When a batch breaks the scoring, runs one half after the other until that batch is alone, and refuses it. */
  async #halves(group: Group, pending: readonly Pending[], fault: BatchFault): Promise<Again> {
    if (pending.length === 1) {
      this.#options.onFault(fault);
      group.outcomes[pending[0]!.index] = faultyBatch;
      return { batches: [], conflicts: 0 };
    }
    const middle = pending.length >> 1;
    const first = await this.#round(group, pending.slice(0, middle), true);
    return { batches: [...first.batches, ...pending.slice(middle)], conflicts: first.conflicts };
  }

  /** A `BatchFault` means that one of the batches breaks the scoring. Then only their first half runs, until that batch is alone and refused. */
  #run(unit: ClusterUnitOfWork, pending: readonly Pending[]): GroupResult | BatchFault {
    try {
      return commitBatches(
        unit,
        this.#options.context,
        pending.map(({ request }) => request),
        pending.map(({ body }) => body),
      );
    } catch (error) {
      unit.forgetAllPaths();
      if (error instanceof BatchFault) return error;
      throw error;
    }
  }

  /** Fetches rows. It waits less for counts than for other rows, because a new session must not depend on another shard. */
  async #fetchRows(group: Group, needed: ReadonlyMap<string, NeededRow>): Promise<void> {
    const counts: [string, NeededRow][] = [];
    const others: [string, NeededRow][] = [];
    for (const row of needed) (row[1].isCount === true ? counts : others).push(row);
    await Promise.all([this.#fetchCounts(group, counts), this.#fetchOthers(group, others)]);
  }

  /** If a shard does not return a count in time, or is not asked because it does not answer, the count is taken as 0. */
  async #fetchCounts({ rows, endMs }: Group, needed: readonly [string, NeededRow][]): Promise<void> {
    const outcomes = await this.#read(needed, endMs, true);
    for (const [index, row] of needed.entries()) setRow(rows, row, outcomes[index]!);
  }

  /** A row that can't be had is recorded as failed. */
  async #fetchOthers(group: Group, needed: readonly [string, NeededRow][]): Promise<void> {
    const { rows, failed, endMs, postponed } = group;
    const outcomes = await this.#read(needed, endMs, postponed !== null);
    for (const [index, row] of needed.entries()) {
      const outcome = outcomes[index]!;
      if (outcome instanceof ClusterError) failed.set(row[0], outcome);
      else setRow(rows, row, outcome);
    }
  }

  /** Waits for answers, at most for half of the group's time, to leave some for writing. */
  async #read(
    needed: readonly [string, NeededRow][],
    endMs: number,
    isImpatient: boolean,
  ): Promise<readonly Outcome[]> {
    if (needed.length === 0) return [];
    const mostMs = isImpatient ? limits.clusterImpatientMs : limits.clusterWriteMs / 2;
    const deadlineMs = deadlineWithin(mostMs, endMs);
    const commands = needed.map(([, { key, also, slot }]) => ({
      command: also === undefined ? ["GET", key] : ["MGET", key, also],
      slot,
    }));
    const outcomes = await this.#options.client.pipeline(commands, { deadlineMs, isImpatient, isIdempotent: true });
    const fault = outcomes.find((outcome) => outcome instanceof ClusterError);
    if (fault !== undefined) this.#options.onFailure(fault);
    return outcomes;
  }
}

const nobody: ReadonlySet<string> = new Set();

/** Returns the batch in memory of its own, because the group's memory is given away with the first answers. */
function copyOf({ index, request }: Pending): Pending {
  return { index, request: { ...request, body: Buffer.from(request.body) }, body: null };
}

function setRow(rows: FetchedRows, [name, { also }]: [string, NeededRow], outcome: Outcome): void {
  const [value, other] = Array.isArray(outcome) ? outcome : [outcome];
  rows.set(name, value instanceof Buffer ? value : null);
  if (also !== undefined) rows.set(also, other instanceof Buffer ? other : null);
}
