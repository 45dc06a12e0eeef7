/**
 * Removes what has outlived its retention, a few hundred rows a transaction, while the server runs. Costs the same at ten thousand
 * and ten million sessions: rows lie in the order of their time, so a sweep looks at what is old and stops.
 */
import { setImmediate } from "node:timers/promises";
import type { Database } from "lmdb";
import { limits } from "../limits.js";
import type { Environment } from "./environment.js";
import {
  blockTalliesFrom,
  hourOf,
  idempotencyDay,
  repeatsKey,
  sessionKeyBytes,
  sessionRange,
  solvedChallengeKey,
  writeSightingHour,
} from "./keys.js";
import { countSessions, SessionCount } from "./session-count.js";
import { lastId, type Store } from "./store.js";

export interface Retention {
  /** ms after its last batch that a session is kept. */
  readonly sessionMs: number;
  /** Sessions a project may have: of one that is close to it, the oldest go. */
  readonly sessionsMax: number;
  /** ms that a recorded block, and a mark of a session, is kept. */
  readonly blockMs: number;
  /** ms that hourly counts are kept. */
  readonly trafficMs: number;
}

export interface Swept {
  readonly sessions: number;
  readonly blocks: number;
  readonly idempotencyKeys: number;
  readonly sightings: number;
  readonly traffic: number;
  readonly solvedChallenges: number;
  readonly marks: number;
}

/** One pass over everything that can be old. `isStopping` ends it early between two transactions. */
export async function sweep(
  store: Store,
  retention: Retention,
  nowMs: number,
  isStopping: () => boolean = () => false,
): Promise<Swept> {
  const swept = { sessions: 0, blocks: 0, idempotencyKeys: 0, sightings: 0, traffic: 0, solvedChallenges: 0, marks: 0 };
  swept.idempotencyKeys = await removeBelow(store, "idempotency", idempotencyFloor(nowMs), isStopping);
  swept.sightings = await removeBelow(store, "sightings", sightingFloor(nowMs), isStopping);
  swept.solvedChallenges = await removeBelow(store, "solvedChallenges", solvedChallengeKey(nowMs, ""), isStopping);
  await removeBelow(store, "blockTallies", blockTallyFloor(nowMs), isStopping);
  for (const projectId of store.projects.getKeys({})) {
    swept.sessions += await sweepSessions(store, projectId, nowMs - retention.sessionMs, isStopping);
    swept.traffic += await sweepTraffic(store, projectId, hourOf(nowMs - retention.trafficMs), isStopping);
    swept.sessions += await makeRoom(store, projectId, retention.sessionsMax, isStopping);
    swept.blocks += await sweepBlocks(store, projectId, nowMs - retention.blockMs, isStopping);
    swept.marks += await sweepMarks(store, projectId, nowMs - retention.blockMs, isStopping);
  }
  return swept;
}

/** Keys of the days before yesterday: no look-up asks for them. */
function idempotencyFloor(nowMs: number): Buffer {
  const floor = Buffer.alloc(2);
  floor.writeUInt16BE(idempotencyDay(nowMs - limits.idempotencyKeptMs), 0);
  return floor;
}

function sightingFloor(nowMs: number): Buffer {
  const floor = Buffer.alloc(3);
  writeSightingHour(floor, hourOf(nowMs) - 1);
  return floor;
}

/** Blocks that come late are tallied in the minute before. */
function blockTallyFloor(nowMs: number): Buffer {
  return blockTalliesFrom(Math.floor(nowMs / 60_000) - 1);
}

async function removeBelow<Table extends string>(
  store: { readonly root: Environment } & { readonly [name in Table]: Database<Buffer, Buffer> },
  table: Table,
  end: Buffer,
  isStopping: () => boolean,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const keys = [...store[table].getKeys({ end, limit: limits.sweepRowsMax })];
    if (keys.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      for (const key of keys) store[table].removeSync(key);
    });
    removed += keys.length;
  }
}

/** Where the last-seen time stands in a session's record, see `session-record.ts`. */
const lastSeenAt = 16;

async function sweepSessions(
  store: Store,
  projectId: number,
  cutoffMs: number,
  isStopping: () => boolean,
): Promise<number> {
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
    // Visitors who come back for months are old and stay: nothing to write, but others get their turn.
    if (expired.length === 0) await setImmediate();
    else {
      await store.root.transaction(() => {
        const count = new SessionCount(store, projectId);
        const gone = expired.filter(({ key }) => removeExpired(store, key, cutoffMs)).length;
        count.add(-gone);
        count.save();
        removed += gone;
      });
    }
    from = Buffer.concat([rows.at(-1)!.key, Buffer.alloc(1)]);
  }
}

/** Looks again inside the transaction: the visitor may have come back meanwhile. */
function removeExpired(store: Store, key: Buffer, cutoffMs: number): boolean {
  const bytes = store.sessions.getBinary(key);
  if (bytes === undefined || (bytes.length >= 24 && bytes.readDoubleLE(lastSeenAt) >= cutoffMs)) return false;
  removeSession(store, key);
  return true;
}

/**
 * Removes the sessions of the longest past first contact until a twentieth of `sessionsMax` is free, so that a flood of first contacts
 * does not keep new visitors out until its sessions expire.
 */
async function makeRoom(
  store: Store,
  projectId: number,
  sessionsMax: number,
  isStopping: () => boolean,
): Promise<number> {
  const aim = sessionsMax - Math.ceil(sessionsMax / 20);
  const { start, end } = sessionRange(projectId);
  let removed = 0;
  for (;;) {
    const tooMany = Math.min(countSessions(store, projectId) - aim, limits.sweepRowsMax);
    if (tooMany <= 0 || isStopping()) return removed;
    const gone = await store.root.transaction(() => {
      const kept = new SessionCount(store, projectId);
      const keys = [...store.sessions.getKeys({ start, end, limit: tooMany })];
      for (const key of keys) removeSession(store, key);
      kept.add(-keys.length);
      kept.save();
      return keys.length;
    });
    if (gone === 0) return removed;
    removed += gone;
  }
}

/** Rows that went with a session. */
export interface RemovedSession {
  readonly sessions: number;
  readonly repeats: number;
  readonly trails: number;
}

/** Removes a session's record, the request ids it has seen, and its trail. Call inside a write transaction, with the session's key. */
export function removeSession(store: Store, key: Buffer): RemovedSession {
  const session = key.subarray(0, sessionKeyBytes);
  return {
    sessions: Number(store.sessions.removeSync(session)),
    repeats:
      Number(store.repeats.removeSync(repeatsKey(session, 0))) +
      Number(store.repeats.removeSync(repeatsKey(session, 1))),
    trails: Number(store.trails.removeSync(session)),
  };
}

async function sweepBlocks(
  store: Store,
  projectId: number,
  cutoffMs: number,
  isStopping: () => boolean,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const rows = [
      ...store.blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0], limit: limits.sweepRowsMax }),
    ];
    const surplusId = lastId(store, `block:${projectId}`) - limits.blocksPerProjectMax;
    const expired = rows.filter(({ key, value }) => key[1] <= surplusId || Date.parse(value.createdAt) < cutoffMs);
    if (expired.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      for (const { key } of expired) store.blocks.removeSync(key);
    });
    removed += expired.length;
  }
}

/** They lie in no order of time, and are `limits.marksPerProjectMax` at most. */
async function sweepMarks(
  store: Store,
  projectId: number,
  cutoffMs: number,
  isStopping: () => boolean,
): Promise<number> {
  const range = store.marks.getRange({ start: [projectId, ""], end: [projectId + 1, ""] });
  const expired = [...range.filter(({ value }) => Date.parse(value.markedAt) < cutoffMs)].slice(0, limits.sweepRowsMax);
  if (expired.length === 0 || isStopping()) return 0;
  await store.root.transaction(() => {
    for (const { key } of expired) store.marks.removeSync(key);
  });
  return expired.length;
}

async function sweepTraffic(store: Store, projectId: number, hour: number, isStopping: () => boolean): Promise<number> {
  const keys = [...store.traffic.getKeys({ start: [projectId, 0], end: [projectId, Math.max(0, hour)] })];
  if (keys.length === 0 || isStopping()) return 0;
  await store.root.transaction(() => {
    for (const key of keys) store.traffic.removeSync(key);
  });
  return keys.length;
}
