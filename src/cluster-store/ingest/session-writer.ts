/**
 * Writes the sessions of groups and waits until replicas acknowledge them, each master apart: one that is slow, or lacks replicas, holds up no write to
 * the others. While a master is slow, one write to it is under way at a time; those of further groups wait for its end and are then sent as one,
 * because a master that lacks replicas answers one `WAIT` after the other, each after its full time.
 */
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import { type Refusal, refuse } from "../../errors.js";
import { faultyBatch } from "../../ingest/commit-batches.js";
import { limits } from "../../limits.js";
import { tokenAt } from "../../store/keys.js";
import { troubleOf } from "../fault-line.js";
import { indexRow, sessionRow, shardOfSession, shardSlots } from "../keys.js";
import { saveSession } from "../scripts.js";
import type { ReadSession, SavedSession } from "./cluster-unit-of-work.js";
import { spilledIdsRows } from "./prefetch.js";

/** What a thread needs to write sessions. */
export interface SessionWriterOptions {
  readonly client: ClusterClient;
  /** Replicas that acknowledge a session's write before its batches are answered. */
  readonly acks: number;
  /** How long a session is kept after its last batch, ms. */
  readonly sessionMs: number;
  /** Called with sessions that too few replicas have: their batches are refused. */
  readonly onUnacknowledged: (error: ClusterError) => void;
  /** Called with faults of the cluster. */
  readonly onFailure: (error: ClusterError) => void;
  /** Called with faults of ours that cost a batch: they are answered as `internal`. */
  readonly onFault: (error: unknown) => void;
}

/** What became of a session: "conflict" means that another write came first, and that nothing of this one is there. */
export type SessionFate = "written" | "conflict" | Refusal;

/** The fates of a group's sessions, by `nameOfKey`, as far as its writes are finished. */
interface GroupWrite {
  readonly fates: ReadonlyMap<string, SessionFate>;
  /** One for each master. */
  readonly writes: readonly MasterWrite[];
}

/** The refusal of batches that have no outcome in time. */
export const tooLate = refuse("unavailable", "the cluster does not answer in time: send the batch again");
/** Of a batch whose write may not outlive its master. */
export const notAcknowledged = refuse("unavailable", "too few replicas of the cluster have the batch: send it again");

/** Returns the refusal of a batch that failed with this error. */
export function refusedBy(error: unknown): Refusal {
  return refuse("unavailable", `${troubleOf(error)}: send the batch again`);
}

/** A master, as far as this thread has written to it. */
interface Master {
  /** Whether its last write took longer than groups wait. */
  isSlow: boolean;
  /** Its writes that were sent and are not finished. */
  underWay: number;
  /** Writes to send once those are. Their batches are postponed, so the queue of the HTTP thread bounds them. */
  waiting: MasterWrite[];
}

/** The sessions of one group that one master has. */
export class MasterWrite {
  readonly commands: KeyedCommand[] = [];
  /** The session of each command, by `nameOfKey`. */
  readonly sessions: string[] = [];
  isFinished = false;
  /** Resolves, and never rejects, once each session has its fate. */
  readonly finished: Promise<void>;
  #resolve = (): void => {};

  constructor(
    readonly master: Master,
    readonly endMs: number,
    private readonly fates: Map<string, SessionFate>,
  ) {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** `fateOf` returns the fate of the session of an index in `sessions`. */
  finish(fateOf: (index: number) => SessionFate): void {
    for (const [index, name] of this.sessions.entries()) this.fates.set(name, fateOf(index));
    this.isFinished = true;
    this.#resolve();
  }
}

/** One per scoring thread. */
export class SessionWriter {
  readonly #options: SessionWriterOptions;
  /** By address; "" stands for unknown ones. A failover leaves an entry behind, which does no harm. */
  readonly #masters = new Map<string, Master>();

  constructor(options: SessionWriterOptions) {
    this.#options = options;
  }

  /**
   * Begins to write the sessions, all masters in the same tick. Sessions in `unchanged` received nothing new, but replicas must acknowledge them too: the
   * earlier write may not have reached them. `endMs`: when the group must be answered, by `performance.now()`. `settled`: fates of sessions that are not
   * written.
   */
  write(
    saved: readonly SavedSession[],
    unchanged: ReadonlyMap<string, ReadSession>,
    endMs: number,
    settled: ReadonlyMap<string, SessionFate> = new Map(),
  ): GroupWrite {
    const { client, acks, sessionMs } = this.#options;
    const fates = new Map<string, SessionFate>(settled);
    const writes = new Map<string, MasterWrite>();
    const add = (name: string, command: KeyedCommand): void => {
      const address = client.shardOf(command.slot)?.master ?? "";
      let write = writes.get(address);
      if (write === undefined) {
        write = new MasterWrite(this.#masterAt(address), endMs, fates);
        writes.set(address, write);
      }
      write.commands.push(command);
      write.sessions.push(name);
    };
    for (const session of saved) add(session.name, saveCommand(session, sessionMs));
    if (acks > 0) for (const [name, read] of unchanged) add(name, confirmCommand(read));
    for (const write of writes.values()) {
      const { master } = write;
      if (master.isSlow && master.underWay > 0) master.waiting.push(write);
      else void this.#send(master, [write]);
    }
    return { fates, writes: [...writes.values()] };
  }

  /**
   * Resolves once the writes are finished, and does not wait for those of slow masters. A master becomes slow if it needs more than
   * `limits.clusterImpatientMs`, and is no longer slow after a write that took less.
   */
  async finishedSoon(writes: readonly MasterWrite[]): Promise<void> {
    const prompt = writes.filter(({ master }) => !master.isSlow);
    if (prompt.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      // If this thread was busy meanwhile, answers that arrived in time are read first.
      timer = setTimeout(() => setImmediate(resolve), limits.clusterImpatientMs);
    });
    await Promise.race([allFinished(prompt), patience]);
    clearTimeout(timer);
    for (const { master, isFinished } of prompt) if (!isFinished) master.isSlow = true;
  }

  #masterAt(address: string): Master {
    let master = this.#masters.get(address);
    if (master === undefined) {
      master = { isSlow: false, underWay: 0, waiting: [] };
      this.#masters.set(address, master);
    }
    return master;
  }

  /** Sends the writes as one. Never rejects. */
  async #send(master: Master, writes: readonly MasterWrite[]): Promise<void> {
    if (writes.length === 0) return;
    const { client, acks, onFault } = this.#options;
    const sentMs = performance.now();
    master.underWay++;
    try {
      const commands = writes.length === 1 ? writes[0]!.commands : writes.flatMap((write) => write.commands);
      const group = await client.writeGroup(commands, {
        acks,
        ackMs: limits.clusterAckMs,
        deadlineMs: Math.max(limits.clusterAckMs, Math.min(...writes.map(({ endMs }) => endMs)) - sentMs),
        // Each version is written once: when it is sent again, the script finds it.
        isIdempotent: true,
      });
      let from = 0;
      for (const write of writes) {
        const at = from;
        write.finish((index) => this.#fateOf(group, at + index));
        from += write.sessions.length;
      }
    } catch (error) {
      onFault(error);
      for (const write of writes) write.finish(() => faultyBatch);
    }
    master.underWay--;
    const nowMs = performance.now();
    master.isSlow = nowMs - sentMs > limits.clusterImpatientMs;
    if (master.underWay > 0 && master.isSlow) return;
    const waiting = master.waiting.splice(0);
    const inTime = waiting.filter(({ endMs }) => endMs > nowMs);
    for (const write of waiting) if (write.endMs <= nowMs) write.finish(() => tooLate);
    void this.#send(master, inTime);
  }

  #fateOf({ outcomes, missing }: Awaited<ReturnType<ClusterClient["writeGroup"]>>, index: number): SessionFate {
    const outcome = outcomes[index]!;
    if (outcome instanceof ClusterError) {
      this.#options.onFailure(outcome);
      return refusedBy(outcome);
    }
    const fault = missing(index);
    if (outcome !== 1) return "conflict";
    if (fault === null) return "written";
    this.#options.onUnacknowledged(fault);
    return notAcknowledged;
  }
}

/** Resolves once all of the writes are finished. */
export async function allFinished(writes: readonly MasterWrite[]): Promise<void> {
  for (const { finished } of writes) await finished;
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
