/**
 * Removes expired rows while the server runs, a few hundred per transaction. It costs the same with ten thousand and ten million sessions: rows are
 * ordered by time, so a sweep reads the old ones and stops.
 */
import { setImmediate } from "node:timers/promises";
import type { Database } from "lmdb";
import { limits } from "../limits.js";
import { expiredJudged } from "./judged-rows.js";
import {
  blockTalliesFrom,
  crossSessionCountsFrom,
  hourOf,
  idempotencyFrom,
  judgedRange,
  sessionRange,
  solvedChallengeKey,
  type TableName,
} from "./keys.js";
import { contactsUntil, removeBlocks } from "./naming-rows.js";
import type { Retention } from "./retention.js";
import { countSessions, SessionCount } from "./session-count.js";
import { removeSession } from "./session-erasure.js";
import { lastId, type Store } from "./store.js";

/** When rows of a table expire. */
type Expiry =
  /** Never: records of the control plane, what is bounded by them or by itself, and rows that go with a session. */
  | "kept"
  /** Those below this key, in a table whose keys begin with a time. */
  | { readonly below: (nowMs: number) => Buffer }
  /** Removes expired rows of a project; returns how many rows of the table were removed. */
  | { readonly ofProject: (of: ProjectSweep) => Promise<number> };

interface ProjectSweep {
  readonly store: Store;
  readonly projectId: number;
  readonly retention: Retention;
  readonly nowMs: number;
  readonly isStopping: () => boolean;
}

/** A table that is added to `tableNames` does not compile until it is here. */
const expiries = {
  meta: "kept",
  revision: "kept",
  accounts: "kept",
  slugs: "kept",
  users: "kept",
  emails: "kept",
  memberships: "kept",
  tokens: "kept",
  tokenHashes: "kept",
  tokenUses: "kept",
  projects: "kept",
  keys: "kept",
  accountRows: "kept",
  rules: "kept",
  // Configuration: erased by a change of it, on a cluster too.
  exceptions: "kept",
  blocks: { ofProject: sweepBlocks },
  // Of a block with it; of the rest by age.
  namingRows: { below: contactsUntil },
  blockTallies: { below: blockTallyFloor },
  usage: "kept",
  traffic: { ofProject: sweepTraffic },
  judged: { ofProject: sweepJudged },
  verifiedBots: "kept",
  declaredBots: "kept",
  agentMarks: "kept",
  ipLists: "kept",
  signedAgents: "kept",
  sessions: { ofProject: async (of) => (await sweepSessions(of)) + (await makeRoom(of)) },
  repeats: "kept",
  idempotency: { below: idempotencyFrom },
  crossSessionCounts: { below: (nowMs) => crossSessionCountsFrom(hourOf(nowMs) - 1) },
  pathReuse: "kept",
  trails: "kept",
  solvedChallenges: { below: (nowMs) => solvedChallengeKey(nowMs, "") },
  marks: { ofProject: sweepMarks },
  audit: "kept",
  // Bounded in number where they are written.
  alerting: "kept",
  baselines: "kept",
  mirror: "kept",
} as const satisfies Record<TableName, Expiry>;

type SweptTable = { [T in TableName]: (typeof expiries)[T] extends "kept" ? never : T }[TableName];

/** Number of removed rows by table; of a session, only the record counts. */
export type Swept = Readonly<Record<SweptTable, number>>;

/** Makes one pass over everything that can expire. `isStopping` ends it early, between two transactions. */
export async function sweep(
  store: Store,
  retention: Retention,
  nowMs: number,
  isStopping: () => boolean = () => false,
): Promise<Swept> {
  const swept: Partial<Record<TableName, number>> = {};
  const byTable = Object.entries(expiries) as [TableName, Expiry][];
  for (const [table, expiry] of byTable) {
    if (expiry === "kept") continue;
    swept[table] = "below" in expiry ? await removeBelow(store, table, expiry.below(nowMs), isStopping) : 0;
  }
  for (const projectId of store.projects.getKeys({})) {
    for (const [table, expiry] of byTable) {
      if (expiry === "kept" || "below" in expiry) continue;
      const removed = await expiry.ofProject({ store, projectId, retention, nowMs, isStopping });
      swept[table] = (swept[table] ?? 0) + removed;
    }
  }
  return swept as Swept;
}

/** Late blocks are tallied in the previous minute. */
function blockTallyFloor(nowMs: number): Buffer {
  return blockTalliesFrom(Math.floor(nowMs / 60_000) - 1);
}

async function removeBelow(store: Store, table: TableName, end: Buffer, isStopping: () => boolean): Promise<number> {
  const rows = store[table] as unknown as Database<Buffer, Buffer>;
  let removed = 0;
  for (;;) {
    const keys = [...rows.getKeys({ end, limit: limits.sweepRowsMax })];
    if (keys.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      for (const key of keys) rows.removeSync(key);
    });
    removed += keys.length;
  }
}

/** Position of the last-seen time in a session's record, see `session-record.ts`. */
const lastSeenAt = 16;

async function sweepSessions({ store, projectId, retention, nowMs, isStopping }: ProjectSweep): Promise<number> {
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
        const gone = expired.filter(({ key }) => removeExpired(store, key, cutoffMs)).length;
        count.add(-gone);
        count.save();
        removed += gone;
      });
    }
    from = Buffer.concat([rows.at(-1)!.key, Buffer.alloc(1)]);
  }
}

/** Checks again inside the transaction, because the visitor may have come back meanwhile. */
function removeExpired(store: Store, key: Buffer, cutoffMs: number): boolean {
  const bytes = store.sessions.getBinary(key);
  if (bytes === undefined || (bytes.length >= 24 && bytes.readDoubleLE(lastSeenAt) >= cutoffMs)) return false;
  removeSession(store, key);
  return true;
}

/**
 * Removes the oldest sessions by first contact until a twentieth of `sessionsMax` is free, so that a flood of first contacts does not keep new visitors
 * out until its sessions expire.
 */
async function makeRoom({ store, projectId, retention, isStopping }: ProjectSweep): Promise<number> {
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
      for (const key of keys) removeSession(store, key);
      kept.add(-keys.length);
      kept.save();
      return keys.length;
    });
    if (gone === 0) return removed;
    removed += gone;
  }
}

async function sweepBlocks({ store, projectId, retention, nowMs, isStopping }: ProjectSweep): Promise<number> {
  const cutoffMs = nowMs - retention.blockMs;
  let removed = 0;
  for (;;) {
    const rows = [
      ...store.blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0], limit: limits.sweepRowsMax }),
    ];
    const surplusId = lastId(store, `block:${projectId}`) - limits.blocksPerProjectMax;
    const expired = rows.filter(({ key, value }) => key[1] <= surplusId || Date.parse(value.createdAt) < cutoffMs);
    if (expired.length === 0 || isStopping()) return removed;
    await store.root.transaction(() => {
      removeBlocks(store, expired);
    });
    removed += expired.length;
  }
}

/** Marks are not ordered by time; there are at most `limits.marksPerProjectMax`. */
async function sweepMarks({ store, projectId, retention, nowMs, isStopping }: ProjectSweep): Promise<number> {
  const cutoffMs = nowMs - retention.blockMs;
  const range = store.marks.getRange({ start: [projectId, ""], end: [projectId + 1, ""] });
  const expired = [...range.filter(({ value }) => Date.parse(value.markedAt) < cutoffMs)].slice(0, limits.sweepRowsMax);
  if (expired.length === 0 || isStopping()) return 0;
  await store.root.transaction(() => {
    for (const { key } of expired) store.marks.removeSync(key);
  });
  return expired.length;
}

async function sweepTraffic({ store, projectId, retention, nowMs, isStopping }: ProjectSweep): Promise<number> {
  const hour = hourOf(nowMs - retention.trafficMs);
  const keys = [...store.traffic.getKeys({ start: [projectId, 0], end: [projectId, Math.max(0, hour)] })];
  if (keys.length === 0 || isStopping()) return 0;
  await store.root.transaction(() => {
    for (const key of keys) store.traffic.removeSync(key);
  });
  return keys.length;
}

async function sweepJudged({ store, projectId, retention, nowMs, isStopping }: ProjectSweep): Promise<number> {
  let removed = 0;
  for (const { kind, hour } of expiredJudged(retention, nowMs)) {
    for (;;) {
      const range = { ...judgedRange(projectId, kind, 0, hour), limit: limits.sweepRowsMax };
      const keys = [...store.judged.getKeys(range)].map((key) => Buffer.from(key));
      if (keys.length === 0) break;
      if (isStopping()) return removed;
      await store.root.transaction(() => {
        for (const key of keys) store.judged.removeSync(key);
      });
      removed += keys.length;
    }
  }
  return removed;
}
