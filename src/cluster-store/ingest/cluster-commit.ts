/**
 * Commits groups of batches to the cluster. It fetches the rows that they need, runs them on an overlay, writes each session by one script and waits
 * until replicas acknowledge the writes. A batch runs again if another node changed its session meanwhile, or if it needed a row that was not
 * fetched.
 */
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand, Outcome } from "../../cluster/operation.js";
import { decodeSessionToken } from "../../contract/session-token.js";
import { Refusal, refuse } from "../../errors.js";
import {
  BatchFault,
  type CommitContext,
  commitBatches,
  faultyBatch,
  type GroupResult,
  type IngestOutcome,
} from "../../ingest/commit-batches.js";
import type { IngestRequest } from "../../ingest/frame.js";
import { limits } from "../../limits.js";
import { tokenAt } from "../../store/keys.js";
import { troubleOf } from "../fault-line.js";
import { indexRow, seenIdsRow, sessionRow, shardOfSession, shardSlots } from "../keys.js";
import { saveSession } from "../scripts.js";
import type { CountSender } from "./batch-counts.js";
import type { ClusterPathReuseIndex } from "./cluster-path-reuse-index.js";
import {
  ClusterUnitOfWork,
  type FetchedRows,
  type NeededRow,
  type ReadSession,
  type SavedSession,
} from "./cluster-unit-of-work.js";
import { needsOf, spilledIdsNeeds, spilledIdsRows, type UnreadBatch } from "./prefetch.js";
import type { ClusterCounts } from "./recent-counts.js";

/** What a scoring thread of a cluster needs to commit. */
export interface ClusterCommitOptions {
  readonly client: ClusterClient;
  readonly context: CommitContext;
  readonly paths: ClusterPathReuseIndex;
  readonly counts: ClusterCounts;
  readonly sender: CountSender;
  /** Replicas that acknowledge a session's write before its batches are answered. */
  readonly acks: number;
  /** How long a session is kept after its last batch, ms. */
  readonly sessionMs: number;
  /** Called with each detection that newly fired on a session, once that is written. */
  readonly onFired: (detectionId: number) => void;
  readonly onConflict: (batches: number) => void;
  /** Called with sessions that too few replicas have: their batches are refused. */
  readonly onUnacknowledged: (error: ClusterError) => void;
  /** Called with faults of the cluster. */
  readonly onFailure: (error: ClusterError) => void;
  /** Called with faults of ours that cost a batch: they are answered as `internal`. */
  readonly onFault: (error: unknown) => void;
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
  /** Takes the batches of shards that do not answer at once; `null` means that this group consists of such batches, and waits for them. */
  readonly slow: Pending[] | null;
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
/** How many sessions are remembered as copiers; beyond that, all are forgotten. */
const copiersMax = 20_000;

const notAcknowledged = refuse("unavailable", "too few replicas of the cluster have the batch: send it again");
const late = refuse("unavailable", "the cluster does not answer in time: send the batch again");
const contended = refuse("unavailable", "the session is being written by others: send the batch again");

/** One per scoring thread. A session's batches take effect in one script, or not at all. */
export class ClusterCommit {
  readonly #options: ClusterCommitOptions;
  /** Sessions, by their token's text, that had a batch which counted its shape unforeseen: the next batch most likely does too. */
  readonly #copiers = new Set<string>();

  constructor(options: ClusterCommitOptions) {
    this.#options = options;
  }

  /** Commits the batches and answers each, in order. Never rejects: a batch that can't be written is refused as `unavailable`, by a fault of ours as `internal`. */
  async commit(requests: readonly IngestRequest[]): Promise<IngestOutcome[]> {
    const { outcomes, settled } = this.begin(requests);
    await settled;
    return outcomes as IngestOutcome[];
  }

  /** As `commit`, but batches of a shard that does not answer don't delay the others: they follow later, in a group of their own. */
  begin(requests: readonly IngestRequest[]): BegunCommit {
    const outcomes: (IngestOutcome | null)[] = requests.map(() => null);
    const slow: Pending[] = [];
    const common = { outcomes, endMs: performance.now() + limits.clusterWriteMs };
    const all = requests.map((request, index) => ({ index, request, body: null }));
    const early = this.#settle({ ...common, rows: new Map(), failed: new Map(), slow }, all);
    const settled = early.then(() => {
      const left = slow.filter(({ index }) => outcomes[index] === null).map(copyOf);
      return this.#settle({ ...common, rows: new Map(), failed: new Map(), slow: null }, left);
    });
    return { outcomes, early, settled };
  }

  /** Sets the outcome of each batch, or moves the batch to the slow ones. */
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
          for (const { index } of pending) outcomes[index] = late;
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
      const isOfCluster = error instanceof ClusterError;
      if (isOfCluster) this.#options.onFailure(error);
      else this.#options.onFault(error);
      for (const { index } of pending) outcomes[index] ??= isOfCluster ? refusedBy(error) : faultyBatch;
    }
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
    const { paths, counts, sender, onFired } = this.#options;
    const { rows, failed, outcomes, slow } = group;
    const unit = new ClusterUnitOfWork(rows, counts, paths, failed);
    const result = this.#run(unit, pending);
    if (result instanceof BatchFault) return this.#halves(group, pending, result);
    const sessions = result.outcomes.map(tokenOf);
    const unfinished = new Set(unit.incompleteSessions);
    for (const position of unit.incompleteBatches) {
      unfinished.add(sessions[position]!);
      this.#rememberCopier(result.outcomes[position]!);
    }
    unfinished.delete("");
    const silent = slow === null ? nobody : this.#silentSessions(unit);
    for (const token of silent) unfinished.add(token);
    const saved = [...unit.saved.values()].filter(({ token }) => !unfinished.has(token));
    const unchanged = new Map<string, ReadSession>();
    for (const session of sessions) {
      const read = unit.read.get(session);
      if (read !== undefined && !unit.saved.has(session) && !unfinished.has(session)) unchanged.set(session, read);
    }
    const fates = await this.#write(saved, unchanged, group.endMs);
    const again: Again = { batches: [], conflicts: 0 };
    for (const [position, batch] of pending.entries()) {
      const session = sessions[position]!;
      const fate = fates.get(session);
      const isUnfinished = unit.incompleteBatches.has(position) || unfinished.has(session);
      if (isUnfinished || fate === "conflict" || fate instanceof Refusal) {
        unit.forgetPaths(position);
        const fault = unit.hopelessBatches.get(position);
        if (slow !== null && (fault !== undefined || silent.has(session))) slow.push(batch);
        else if (fault !== undefined) outcomes[batch.index] = refusedBy(fault);
        else if (!isUnfinished && fate instanceof Refusal) outcomes[batch.index] = fate;
        else again.batches.push(batch);
        if (!isUnfinished && fate === "conflict") again.conflicts++;
        continue;
      }
      outcomes[batch.index] = result.outcomes[position] as IngestOutcome;
      const counted = unit.countsOf(position);
      sender.add(counted);
      // Batches that run again see what these have counted.
      for (const { row } of counted.across) rows.set(row, Buffer.from(String(Number(rows.get(row) ?? 0) + 1)));
    }
    for (const { key, fired } of result.dirty) {
      if (fates.get(key.toString("latin1", tokenAt)) === "written") for (const id of fired) onFired(id);
    }
    for (const session of saved) if (isPart || fates.get(session.token) === "conflict") forget(rows, session);
    for (const [token, { key }] of unchanged) if (fates.get(token) === "conflict") forget(rows, { key });
    await this.#fetchRows(group, unit.missing);
    return again;
  }

  /** Returns the sessions, by their token, that only a master with unanswered commands could write or confirm. */
  #silentSessions({ saved, read }: ClusterUnitOfWork): ReadonlySet<string> {
    if (!this.#options.client.hasSuspected) return nobody;
    const silent = new Set<string>();
    for (const [token, { key }] of [...saved, ...read]) {
      if (this.#options.client.isSuspected(shardSlots[shardOfSession(key)]!)) silent.add(token);
    }
    return silent;
  }

  #rememberCopier(outcome: IngestOutcome): void {
    if (!("session_token" in outcome)) return;
    if (this.#copiers.size >= copiersMax) this.#copiers.clear();
    this.#copiers.add(outcome.session_token);
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

  /**
   * Writes the sessions and returns the result of each, by its token. Sessions in `unchanged` received nothing new, but replicas must acknowledge
   * them too: the earlier write may not have reached them.
   */
  async #write(
    saved: readonly SavedSession[],
    unchanged: ReadonlyMap<string, ReadSession>,
    endMs: number,
  ): Promise<Map<string, SessionFate>> {
    const fates = new Map<string, SessionFate>();
    const { client, acks, sessionMs } = this.#options;
    const commands = saved.map((session) => saveCommand(session, sessionMs));
    const tokens = saved.map(({ token }) => token);
    for (const [token, read] of acks > 0 ? unchanged : []) {
      commands.push(confirmCommand(read));
      tokens.push(token);
    }
    if (commands.length === 0) return fates;
    const { outcomes, missing } = await client.writeGroup(commands, {
      acks,
      ackMs: limits.clusterAckMs,
      deadlineMs: Math.max(limits.clusterAckMs, endMs - performance.now()),
      // Each version is written once: when it is sent again, the script finds it.
      isIdempotent: true,
    });
    for (const [index, token] of tokens.entries()) {
      const outcome = outcomes[index]!;
      if (outcome instanceof ClusterError) {
        this.#options.onFailure(outcome);
        fates.set(token, refusedBy(outcome));
        continue;
      }
      const fault = missing(index);
      if (outcome === 1 && fault !== null) this.#options.onUnacknowledged(fault);
      if (outcome !== 1) fates.set(token, "conflict");
      else fates.set(token, fault === null ? "written" : notAcknowledged);
    }
    return fates;
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
    const { rows, failed, endMs, slow } = group;
    const outcomes = await this.#read(needed, endMs, slow !== null);
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
    const deadlineMs = Math.max(1, Math.min(mostMs, endMs - performance.now()));
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

type SessionFate = "written" | "conflict" | Refusal;

function refusedBy(error: unknown): Refusal {
  return refuse("unavailable", `${troubleOf(error)}: send the batch again`);
}

function saveCommand(session: SavedSession, sessionMs: number): KeyedCommand {
  const { key, version, nextVersion, record, isNew, idempotency, seenIds } = session;
  const shard = shardOfSession(key);
  const row = sessionRow(key);
  const index = isNew ? indexRow(shard, key.readUInt32BE(0)) : row;
  // The other generation of its ids lives on with it.
  const kept = spilledIdsRows(key, record).filter((each) => !seenIds.some((written) => written.key.equals(each)));
  const keys = [row, idempotency?.key ?? row, index, ...seenIds.map((each) => each.key), ...kept];
  const keptMs = idempotency === undefined ? 0 : limits.idempotencyKeptMs;
  const args = [
    version,
    nextVersion,
    record,
    sessionMs,
    key.subarray(tokenAt),
    keptMs,
    idempotency?.replaced ?? "",
    ...seenIds.map((each) => each.value),
  ];
  return scriptCommand(saveSession, keys, args, shardSlots[shard]!);
}

/** Checks that the session still has the version that was read. */
function confirmCommand({ key, version }: ReadSession): KeyedCommand {
  return scriptCommand(saveSession, [sessionRow(key)], [version, version], shardSlots[shardOfSession(key)]!);
}

/** Forgets the fetched rows of a session, and of the key that it was minted for, to fetch them again. */
function forget(rows: FetchedRows, { key, idempotency }: Pick<SavedSession, "key"> & Partial<SavedSession>): void {
  rows.delete(key.toString("latin1"));
  for (const generation of [0, 1] as const) rows.delete(seenIdsRow(key, generation).toString("latin1"));
  if (idempotency !== undefined) rows.delete(idempotency.key.toString("latin1"));
}

/** Returns the token of the session that a batch was recorded in, as text of its bytes; "" when there is none. */
function tokenOf(outcome: object): string {
  if (!("session_token" in outcome)) return "";
  return decodeSessionToken(String(outcome.session_token))?.toString("latin1") ?? "";
}
