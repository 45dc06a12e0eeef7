/**
 * The bound of a log of changes. Above it the oldest change of the user who has most of them goes first, so that nobody pushes out what others did by
 * many changes of his own. It works through the interface of recorded rows: on one host and in a cluster alike.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { AuditEntry } from "../contract/configuration/audit.js";
import { limits } from "../limits.js";
import { logNumberOf } from "./keys.js";
import type { RecordedChanges } from "./recorded-rows.js";

/** A kept change and who made it; null: the command line. */
type OwnedChange = Pick<AuditEntry, "id" | "userId">;

/**
 * Brings the logs of these entries, which were just appended, back to their bound, if it is time to look: once in `auditEntriesOver` entries of a log.
 * Never rejects: the change is made, and the next look does what this one could not.
 */
export async function keepAuditBound(changes: RecordedChanges, written: readonly AuditEntry[]): Promise<void> {
  // An entry that counts repeated changes was looked at when it was new.
  const due = written.filter(({ id, count }) => count === undefined && id % limits.auditEntriesOver === 0);
  for (const log of new Set(due.map(logNumberOf))) {
    try {
      const surplus = surplusChanges(await ownersOf(changes, log), limits.auditEntriesMax);
      if (surplus.length > 0) await changes.remove(log, surplus);
    } catch {
      // The store does not answer now.
    }
  }
}

/** All changes of a log, the oldest first, read in portions of some milliseconds. */
async function ownersOf(changes: RecordedChanges, log: number): Promise<OwnedChange[]> {
  const owned: OwnedChange[] = [];
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const entries = await changes.before(log, before, limits.auditEntriesOver);
    for (const { id, userId } of entries) owned.push({ id, userId });
    if (entries.length < limits.auditEntriesOver) return owned.reverse();
    before = entries.at(-1)!.id;
    await nextTick();
  }
}

/**
 * Returns the ids to remove so that `max` of these changes, given the oldest first, are left, as if each further one had taken the place of the oldest
 * of whoever had most then, itself included: who has less than an equal share loses none.
 */
export function surplusChanges(owned: readonly OwnedChange[], max: number): number[] {
  const kept = new Map<number | null, number[]>();
  const removed: number[] = [];
  for (const [index, { id, userId }] of owned.entries()) {
    const own = kept.get(userId) ?? [];
    kept.set(userId, own);
    own.push(id);
    if (index < max) continue;
    const most = [...kept.values()].reduce((found, ids) => (ids.length > found.length ? ids : found), own);
    removed.push(most.shift()!);
  }
  return removed;
}
