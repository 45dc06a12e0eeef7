/**
 * Reads and writes many rows for commands that run for minutes. It sends them piece by piece, retries when a node is replaced meanwhile, and counts a
 * write only once enough replicas have it. Every command given to it must be safe to run twice.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ClusterClient, scriptCommand } from "../cluster/cluster-client.js";
import { ClusterError, passingCodes } from "../cluster/cluster-error.js";
import type { KeyedCommand, Outcome } from "../cluster/operation.js";
import type { RespReply } from "../cluster/resp-parser.js";
import { limits } from "../limits.js";
import { deadlineWithin } from "./deadline.js";
import { writtenRow } from "./keys.js";
import { touchMaster } from "./scripts.js";

const pauseMs = 200;

/** For commands such as `store migrate`: retries a write until `acks` replicas have it. */
export class BulkClient {
  /** `acks`: replicas that must have each write. `patienceMs`: how long a piece is retried. */
  constructor(
    readonly client: ClusterClient,
    readonly acks: number,
    readonly patienceMs: number = limits.clusterPatienceMs,
  ) {}

  /** Returns the answers in the order of the commands. Throws a `ClusterError` when an answer can't be had. */
  read(commands: readonly KeyedCommand[]): Promise<RespReply[]> {
    return this.#persist(commands, (left, deadlineMs) =>
      this.client.pipeline(left, { deadlineMs, isIdempotent: true }),
    );
  }

  /** As `read`, but a command whose row has another type than it is for has that error as its outcome. */
  async readAny(commands: readonly KeyedCommand[]): Promise<Outcome[]> {
    const faults = new Map<KeyedCommand, ClusterError>();
    const replies = await this.#persist(commands, async (left, deadlineMs) => {
      const answers = await this.client.pipeline(left, { deadlineMs, isIdempotent: true });
      return answers.map((outcome, index) => {
        if (!isWrongType(outcome)) return outcome;
        faults.set(left[index]!, outcome);
        return null;
      });
    });
    return replies.map((reply, index) => faults.get(commands[index]!) ?? reply);
  }

  /** As `read`, for commands that write: resolves once the replicas have all of it. A command that ran more than once has its first answer. */
  write(commands: readonly KeyedCommand[]): Promise<RespReply[]> {
    const { acks } = this;
    const options = { acks, ackMs: limits.clusterAckMs };
    let isRepeat = false;
    const unacknowledged = new Map<KeyedCommand, RespReply>();
    return this.#persist(commands, async (left, deadlineMs) => {
      // What has nothing left to do writes nothing that replicas could acknowledge.
      const touches = isRepeat && acks > 0 ? touchesOf(left) : [];
      const group = [...touches, ...left];
      const { outcomes, missing } = await this.client.writeGroup(group, { ...options, deadlineMs, isRepeat });
      return outcomes.slice(touches.length).map((outcome, index) => {
        const command = left[index]!;
        const fault = missing(touches.length + index);
        if (outcome instanceof ClusterError) {
          isRepeat ||= outcome.outcome === "unknown";
          return outcome;
        }
        // Its repetition finds nothing to do, and would say so.
        const first = unacknowledged.has(command) ? unacknowledged.get(command)! : outcome;
        if (fault === null) return first;
        unacknowledged.set(command, first);
        isRepeat = true;
        return fault;
      });
    });
  }

  /** Returns the answer of one node, such as a page of its keys, and waits for it as long as for others. Throws `ClusterError`. */
  async onNode(address: string, command: KeyedCommand["command"]): Promise<RespReply> {
    const untilMs = performance.now() + this.patienceMs;
    for (;;) {
      try {
        return await this.client.onNode(address, command, Math.max(1, untilMs - performance.now()));
      } catch (error) {
        if (!mayPass(error) || performance.now() + pauseMs >= untilMs) throw error;
        await delay(pauseMs);
      }
    }
  }

  async #persist(
    commands: readonly KeyedCommand[],
    ask: (left: readonly KeyedCommand[], deadlineMs: number) => Promise<readonly Outcome[]>,
  ): Promise<RespReply[]> {
    const replies = new Array<RespReply>(commands.length);
    const untilMs = performance.now() + this.patienceMs;
    let left = [...commands.keys()];
    while (left.length > 0) {
      const deadlineMs = deadlineWithin(limits.clusterWriteMs, untilMs);
      const asked = left.map((index) => commands[index]!);
      const outcomes = await ask(asked, deadlineMs);
      const failed: number[] = [];
      let fault: ClusterError | null = null;
      for (const [position, index] of left.entries()) {
        const outcome = outcomes[position]!;
        if (outcome instanceof ClusterError) {
          failed.push(index);
          fault = outcome;
          // Waiting helps neither against a missing permission nor against full memory.
          if (outcome.reason === "refused" || outcome.reason === "closed") throw outcome;
        } else replies[index] = outcome;
      }
      if (fault !== null) {
        if (performance.now() + pauseMs >= untilMs) throw fault;
        await delay(pauseMs);
      }
      left = failed;
    }
    return replies;
  }
}

/** Whether a node that failed may answer later: it lost the connection, or still loads its data. */
function mayPass(error: unknown): boolean {
  return error instanceof ClusterError && (error.reason === "unreachable" || passingCodes.has(error.serverCode));
}

/** Returns a write for the master of each of these commands. */
function touchesOf(commands: readonly KeyedCommand[]): KeyedCommand[] {
  return [...new Set(commands.map(({ slot }) => slot))].map((slot) =>
    scriptCommand(touchMaster, [writtenRow(slot)], [limits.clusterPatienceMs], slot),
  );
}

/** Whether a command was refused because its row has another type than the command is for. */
function isWrongType(outcome: Outcome): outcome is ClusterError {
  return outcome instanceof ClusterError && outcome.serverCode === "WRONGTYPE";
}

/** Returns the bulk strings of an answer that is a list. */
export function buffersOf(reply: RespReply | undefined): Buffer[] {
  return Array.isArray(reply) ? reply.filter((each): each is Buffer => each instanceof Buffer) : [];
}
