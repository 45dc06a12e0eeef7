/**
 * How sessions, and what is kept of them for longer, expire: by their own time and by the number that a project may have. A few hundred rows a transaction;
 * rows are ordered by time, so a sweep reads the old ones and stops.
 */
import { setImmediate } from "node:timers/promises";
import type { Database } from "lmdb";
import type { Block } from "../contract/configuration/entities.js";
import type { SessionMark } from "../contract/sessions/marks.js";
import { limits } from "../limits.js";
import type { Environment } from "./environment.js";
import { metaKeys, sessionRange } from "./keys.js";
import { removeBlocks } from "./naming-rows.js";
import { type CountedSessions, countSessions, SessionCount } from "./session-count.js";
import type { ProjectSweep } from "./table.js";

interface SweptSessions extends CountedSessions {
  readonly root: Environment;
}

/** Position of the last-seen time in a session's record, see `session-record.ts`. */
const lastSeenAt = 16;

/** Removes sessions that were not seen for too long, then the oldest ones of a project with too many. */
export async function expireSessions(of: ProjectSweep<SweptSessions>): Promise<number> {
  return (await sweepOld(of)) + (await makeRoom(of));
}

async function sweepOld(of: ProjectSweep<SweptSessions>): Promise<number> {
  const { store, projectId, retention, nowMs, isStopping } = of;
  const cutoffMs = nowMs - retention.sessionMs;
  const { start, end } = sessionRange(projectId);
  const youngest = Buffer.from(start);
  youngest.writeUInt32BE(Math.max(0, Math.floor(cutoffMs / 1000)), 4);
  let from = start;
  let removed = 0;
  for (;;) {
    // Only sessions first seen before the cutoff can have been last seen before it.
    const rows = [...store.sessions.getRange({ start: from, end: youngest, limit: limits.sweepRowsMax })];
    if (rows.length === 0 || isStopping() || Buffer.compare(from, end) >= 0) return removed;
    const expired = rows.filter(({ value }) => value.length < 24 || value.readDoubleLE(lastSeenAt) < cutoffMs);
    // Sessions of visitors who come back for months are old and stay. There is nothing to write, but other work must run in between.
    if (expired.length === 0) await setImmediate();
    else {
      await store.root.transaction(() => {
        const count = new SessionCount(store, projectId);
        const gone = expired.filter(({ key }) => removeExpired(of, key, cutoffMs)).length;
        count.add(-gone);
        count.save();
        removed += gone;
      });
    }
    from = Buffer.concat([rows.at(-1)!.key, Buffer.alloc(1)]);
  }
}

/** Checks again inside the transaction, because the visitor may have come back meanwhile. */
function removeExpired({ store, removeSession }: ProjectSweep<SweptSessions>, key: Buffer, cutoffMs: number): boolean {
  const bytes = store.sessions.getBinary(key);
  if (bytes === undefined || (bytes.length >= 24 && bytes.readDoubleLE(lastSeenAt) >= cutoffMs)) return false;
  removeSession(key);
  return true;
}

/**
 * Removes the oldest sessions by first contact until a twentieth of `sessionsMax` is free, so that a flood of first contacts does not keep new visitors
 * out until its sessions expire.
 */
async function makeRoom(of: ProjectSweep<SweptSessions>): Promise<number> {
  const { store, projectId, retention, isStopping, removeSession } = of;
  const { sessionsMax } = retention;
  const aim = sessionsMax - Math.ceil(sessionsMax / 20);
  const { start, end } = sessionRange(projectId);
  let removed = 0;
  for (;;) {
    const tooMany = Math.min(countSessions(store, projectId) - aim, limits.sweepRowsMax);
    if (tooMany <= 0 || isStopping()) return removed;
    const gone = await store.root.transaction(() => {
      const kept = new SessionCount(store, projectId);
      const keys = [...store.sessions.getKeys({ start, end, limit: tooMany })];
      for (const key of keys) removeSession(key);
      kept.add(-keys.length);
      kept.save();
      return keys.length;
    });
    if (gone === 0) return removed;
    removed += gone;
  }
}

interface SweptBlocks {
  readonly root: Environment;
  readonly meta: Database<number, string>;
  readonly blocks: Database<Block, [number, number]>;
  readonly namingRows: Database<Buffer, Buffer>;
}

/** Removes recorded blocks that are too old or too many. */
export async function expireBlocks(of: ProjectSweep<SweptBlocks>): Promise<number> {
  const { store, projectId, retention, nowMs, isStopping } = of;
  const cutoffMs = nowMs - retention.blockMs;
  let removed = 0;
  for (;;) {
    const range = { start: [projectId, 0] as [number, number], end: [projectId + 1, 0] as [number, number] };
    const rows = [...store.blocks.getRange({ ...range, limit: limits.sweepRowsMax })];
    const lastId = store.meta.get(metaKeys.nextId(`block:${projectId}`)) ?? 0;
    const surplusId = lastId - limits.blocksPerProjectMax;
    const expired = rows.filter(({ key, value }) => key[1] <= surplusId || Date.parse(value.createdAt) < cutoffMs);
    if (expired.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      removeBlocks(store, expired);
    });
    removed += expired.length;
  }
}

interface SweptMarks {
  readonly root: Environment;
  readonly marks: Database<SessionMark, [number, string]>;
}

/** Removes old marks. They are not ordered by time; there are at most `limits.marksPerProjectMax`. */
export async function expireMarks(of: ProjectSweep<SweptMarks>): Promise<number> {
  const { store, projectId, retention, nowMs, isStopping } = of;
  const cutoffMs = nowMs - retention.blockMs;
  const range = store.marks.getRange({ start: [projectId, ""], end: [projectId + 1, ""] });
  const expired = [...range.filter(({ value }) => Date.parse(value.markedAt) < cutoffMs)].slice(0, limits.sweepRowsMax);
  if (expired.length === 0 || isStopping()) return 0;
  await store.root.transaction(() => {
    for (const { key } of expired) store.marks.removeSync(key);
  });
  return expired.length;
}
