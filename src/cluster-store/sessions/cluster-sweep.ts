/**
 * Removes sessions from the index of their project when their record has expired, and erases sessions that are older than now allowed. Records expire
 * on their own; the sweep applies a shorter `--session-days` or `--sessions-max` to stored sessions.
 */

import { randomUUID } from "node:crypto";
import { scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import { limits } from "../../limits.js";
import { sessionKey, tokenAt } from "../../store/keys.js";
import type { Retention } from "../../store/retention.js";
import type { BulkClient } from "../bulk-client.js";
import { takeLease } from "../cluster-leases.js";
import { configKeys, configSlot, furtherRows, indexRow, sessionRow, shardOfSession, shardSlots } from "../keys.js";
import { sweepIndex } from "../scripts.js";
import { indexedSessions, oldestSessions } from "./indexed-sessions.js";
import { eraseCommand, unindexTimelines } from "./session-commands.js";

/** Whether this node sweeps now; any node may do the next sweep. */
export async function isSweeper(bulk: BulkClient): Promise<boolean> {
  // A new holder each time, because the lease is not prolonged.
  const args = [randomUUID(), Math.floor(0.9 * limits.sweepEveryMs)];
  return (await bulk.read([scriptCommand(takeLease, [configKeys.sweeper], args, configSlot)]))[0] === 1;
}

/** Removes sessions of a project that are too old or have an expired record; returns how many. Throws `ClusterError`. */
export async function sweepSessions(
  bulk: BulkClient,
  projectId: number,
  { sessionMs }: Pick<Retention, "sessionMs">,
  nowMs: number,
  isStopping: () => boolean,
): Promise<number> {
  const cutoffMs = nowMs - sessionMs;
  // Only a session first seen before the cutoff can have been last seen before it.
  const before = Buffer.alloc(4);
  before.writeUInt32BE(Math.max(0, Math.floor(cutoffMs / 1000)), 0);
  let swept = 0;
  for await (const tokens of indexedSessions(bulk, projectId, before)) {
    if (isStopping()) break;
    const byShard = new Map<number, Buffer[]>();
    for (const token of tokens) {
      const key = sessionKey(projectId, token);
      const shard = shardOfSession(key);
      byShard.set(shard, [...(byShard.get(shard) ?? []), key]);
    }
    const commands = [...byShard].map(([shard, keys]) => sweepCommand(shard, projectId, keys, cutoffMs));
    const gone = (await bulk.write(commands)).flatMap((reply) => (Array.isArray(reply) ? (reply as Buffer[]) : []));
    if (gone.length > 0) await bulk.write([unindexTimelines(projectId, gone)]);
    swept += gone.length;
  }
  return swept;
}

function sweepCommand(shard: number, projectId: number, keys: readonly Buffer[], cutoffMs: number): KeyedCommand {
  const rows = keys.flatMap((key) => [sessionRow(key), ...furtherRows(key)]);
  const tokens = keys.map((key) => key.subarray(tokenAt));
  const args = [cutoffMs, rows.length / keys.length, ...tokens];
  return scriptCommand(sweepIndex, [indexRow(shard, projectId), ...rows], args, shardSlots[shard]!);
}

/** Erases the sessions with the oldest first contact until a twentieth of `sessionsMax` is free; returns how many. Throws `ClusterError`. */
export async function makeRoom(
  bulk: BulkClient,
  projectId: number,
  count: number,
  { sessionsMax }: Pick<Retention, "sessionsMax">,
  isStopping: () => boolean,
): Promise<number> {
  const tooMany = count - (sessionsMax - Math.ceil(sessionsMax / 20));
  let erased = 0;
  while (erased < tooMany && !isStopping()) {
    const keys = await oldestSessions(bulk, projectId, Math.min(tooMany - erased, limits.sweepRowsMax));
    if (keys.length === 0) break;
    await bulk.write(keys.map(eraseCommand));
    const tokens = keys.map((key) => key.subarray(tokenAt));
    await bulk.write([unindexTimelines(projectId, tokens)]);
    erased += keys.length;
  }
  return erased;
}
