/** Asks the cluster for one request or one flush. It returns answers, or throws an error that says that the caller may ask again. */
import { type ClusterClient, scriptCommand } from "../cluster/cluster-client.js";
import { ClusterError } from "../cluster/cluster-error.js";
import type { KeyedCommand } from "../cluster/operation.js";
import type { RespCommand } from "../cluster/resp-encoder.js";
import type { RespReply } from "../cluster/resp-parser.js";
import type { Script } from "../cluster/script.js";
import { keySlot } from "../cluster/slots.js";
import { limits } from "../limits.js";
import { unavailable } from "./fault-line.js";
import { sessionRow, shardOfSession, shardSlots } from "./keys.js";

/** Returns the command with the slot of its first key. */
export function onKey(name: string, key: string, ...args: readonly (string | Buffer | number)[]): KeyedCommand {
  return { command: [name, key, ...args], slot: keySlot(key) };
}

/** Returns the script with keys of one slot. */
export function scriptOn(script: Script, keys: readonly (string | Buffer)[], args: RespCommand): KeyedCommand {
  return scriptCommand(script, keys, args, keySlot(keys[0]!));
}

/** Returns the answer to each command. Throws an `UnavailableError` if one has none. The commands must be safe to run twice. */
export async function askAll(client: ClusterClient, commands: readonly KeyedCommand[]): Promise<RespReply[]> {
  const options = { deadlineMs: limits.clusterWriteMs, isIdempotent: true };
  return (await client.pipeline(commands, options)).map(answerOf);
}

/** As `askAll`, for writes: resolves once this many replicas have them. */
export async function writeAll(
  client: ClusterClient,
  commands: readonly KeyedCommand[],
  acks: number,
): Promise<RespReply[]> {
  const options = { acks, ackMs: limits.clusterAckMs, deadlineMs: limits.clusterWriteMs, isIdempotent: true };
  const { outcomes, missing } = await client.writeGroup(commands, options);
  const replies = outcomes.map(answerOf);
  for (const index of replies.keys()) {
    const fault = missing(index);
    if (fault !== null) throw unavailable(fault);
  }
  return replies;
}

/**
 * Returns for each session, by its `sessionKey`, whether it does not exist. Without an answer it counts as present, because callers have written already
 * what names it.
 */
export async function areSessionsGone(client: ClusterClient, keys: readonly Buffer[]): Promise<boolean[]> {
  const commands = keys.map((key) => ({
    command: ["EXISTS", sessionRow(key)],
    slot: shardSlots[shardOfSession(key)]!,
  }));
  const options = { deadlineMs: limits.clusterWriteMs, isIdempotent: true, failsFast: true };
  return (await client.pipeline(commands, options)).map((outcome) => outcome === 0);
}

function answerOf(outcome: RespReply | ClusterError): RespReply {
  if (outcome instanceof ClusterError) throw unavailable(outcome);
  return outcome;
}
