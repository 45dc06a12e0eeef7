/** Commands on all rows of a session at once. */
import { scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import { tokenAt } from "../../store/keys.js";
import { onKey } from "../cluster-asking.js";
import { furtherRows, indexRow, sessionRow, shardOfSession, shardSlots, timelineIndexRow } from "../keys.js";
import { eraseSessionRows, readSession } from "../scripts.js";

/** Reads all rows of a session at once, in the form that `readSession` returns. */
export function readCommand(key: Buffer): KeyedCommand {
  const shard = shardOfSession(key);
  const rows = [sessionRow(key), indexRow(shard, key.readUInt32BE(0)), ...furtherRows(key)];
  return scriptCommand(readSession, rows, [key.subarray(tokenAt)], shardSlots[shard]!);
}

/** Removes all rows of a session and its place in the index. The answer is 1 if it existed. */
export function eraseCommand(key: Buffer): KeyedCommand {
  const shard = shardOfSession(key);
  const rows = [sessionRow(key), ...furtherRows(key), indexRow(shard, key.readUInt32BE(0))];
  return scriptCommand(eraseSessionRows, rows, [key.subarray(tokenAt)], shardSlots[shard]!);
}

/** Takes sessions of a project out of the index of those with a timeline: otherwise they take up places of sessions whose timelines are kept. */
export function unindexTimelines(projectId: number, tokens: readonly Buffer[]): KeyedCommand {
  return onKey("ZREM", timelineIndexRow(projectId), ...tokens);
}
