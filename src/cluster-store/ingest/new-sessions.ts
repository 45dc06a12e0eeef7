/**
 * What a group of batches asks of other shards before it makes sessions: whether those that its batches named still don't exist, and their names in the rows
 * of their `Idempotency-Key`. Returns the fates of sessions that can't be made.
 */
import { scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import { keySlot } from "../../cluster/slots.js";
import { limits } from "../../limits.js";
import { tokenAt } from "../../store/keys.js";
import { deadlineWithin } from "../deadline.js";
import { sessionRow, shardOfSession, shardSlots, writtenRow } from "../keys.js";
import { claimIdempotencyKey, confirmAbsent } from "../scripts.js";
import {
  type ClusterUnitOfWork,
  type FetchedRows,
  forgetRows,
  nameOfKey,
  type SavedSession,
} from "./cluster-unit-of-work.js";
import { notAcknowledged, refusedBy, type SessionFate, type SessionWriterOptions } from "./session-writer.js";

/** By `nameOfKey`. */
type Fates = ReadonlyMap<string, SessionFate>;

const noFates: Fates = new Map();

/**
 * Asks whether the sessions that batches named still don't exist, before others are made instead: `sessions`, by the batches' positions. A master that was
 * cut off from the others answers reads until it knows that it was replaced, and lacks the sessions of its successor.
 */
export async function confirmAbsences(
  { client, acks, onFailure, onUnacknowledged }: SessionWriterOptions,
  { rows, endMs }: { readonly rows: FetchedRows; readonly endMs: number },
  { absent, saved }: ClusterUnitOfWork,
  sessions: readonly string[],
  isPatient: boolean,
): Promise<Fates> {
  const asked: { readonly key: Buffer; readonly instead: string }[] = [];
  for (const [position, keys] of absent) {
    const instead = sessions[position]!;
    // A session that is made under its own token is written only where none is.
    if (saved.get(instead)?.isNew === true)
      for (const key of keys) if (nameOfKey(key) !== instead) asked.push({ key, instead });
  }
  if (asked.length === 0) return noFates;
  const deadlineMs = deadlineWithin(isPatient ? limits.clusterAckMs : limits.clusterImpatientMs, endMs);
  const commands = asked.map(({ key }) => {
    const slot = shardSlots[shardOfSession(key)]!;
    return scriptCommand(confirmAbsent, [sessionRow(key), writtenRow(slot)], [limits.clusterPatienceMs], slot);
  });
  const options = { acks, ackMs: deadlineMs, deadlineMs, isIdempotent: true };
  const { outcomes, missing } = await client.writeGroup(commands, options);
  const fates = new Map<string, SessionFate>();
  for (const [index, { key, instead }] of asked.entries()) {
    const outcome = outcomes[index]!;
    const fault = missing(index);
    if (outcome instanceof ClusterError) {
      onFailure(outcome);
      fates.set(instead, refusedBy(outcome));
    } else if (outcome !== 1) {
      // The next run reads it, and whatever named it, anew.
      forgetRows(rows, { key });
      fates.set(instead, "conflict");
    } else if (fault !== null) {
      onUnacknowledged(fault);
      fates.set(instead, notAcknowledged);
    }
  }
  return fates;
}

/**
 * Names these sessions in the rows of their `Idempotency-Key`, which lie in other shards. A row that stays without its session does no harm: its token
 * was issued, and a retry makes the session under it.
 */
export async function claimKeys(
  { client, onFailure }: SessionWriterOptions,
  sessions: readonly SavedSession[],
  endMs: number,
): Promise<Fates> {
  if (sessions.length === 0) return noFates;
  const deadlineMs = deadlineWithin(limits.clusterImpatientMs, endMs);
  const commands = sessions.map(({ key, claim }) => {
    const args = [key.subarray(tokenAt), claim!.replaced, limits.idempotencyKeptMs];
    return scriptCommand(claimIdempotencyKey, [claim!.key], args, keySlot(claim!.key));
  });
  const outcomes = await client.pipeline(commands, { deadlineMs, isIdempotent: true });
  const fates = new Map<string, SessionFate>();
  for (const [index, outcome] of outcomes.entries()) {
    const { name } = sessions[index]!;
    if (outcome instanceof ClusterError) {
      onFailure(outcome);
      fates.set(name, refusedBy(outcome));
    } else if (outcome !== 1) fates.set(name, "conflict");
  }
  return fates;
}
