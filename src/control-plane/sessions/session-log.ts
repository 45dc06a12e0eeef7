/**
 * The log of a project's sessions: by when they began, the latest first. Keys order sessions by the second of their token, which is that of
 * their beginning or, under load, the next; within a second they are sorted here. Reads only.
 */
import type { ScoredState } from "../../contract/sessions/session.js";
import { beganAtMs, earliestToken, encodeSessionToken, tokenBytes } from "../../contract/sessions/session-token.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import type { Slices } from "../../runtime/long-work.js";
import { sessionKey, sessionRange } from "../../store/keys.js";
import { decodeScoredState, firstSeenMs } from "../../store/session-record.js";
import type { Store } from "../../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "../logs/cursor.js";

/** A session of the log. */
export interface LoggedSession {
  readonly token: string;
  /** As `beganAtMs` of the token says. */
  readonly beganMs: number;
  readonly state: ScoredState;
}

/** Where a session stands in the log. */
export interface LogPosition {
  readonly beganMs: number;
  readonly token: Buffer;
}

const timeBytes = 6;

/**
 * Returns one page after the cursor. Costs about 10 µs per row, and 4 µs for every other session that began in the seconds of its first and last row.
 * `invalidPayload` for an invalid cursor; null if the client has left meanwhile.
 */
export async function sessionPage(
  store: Store,
  projectId: number,
  limit: number,
  cursor: string | null,
  slices: Slices,
): Promise<LogPage<LoggedSession> | Refusal | null> {
  const after = cursor === null ? null : readPosition(cursor);
  if (cursor !== null && after === null) return refuse("invalidPayload", "cursor is not valid for this list");
  const found = await latestSessions(store, projectId, limit + 1, after, slices);
  if (found === null) return null;
  const rows = found.slice(0, limit).flatMap((position) => sessionAt(store, projectId, position) ?? []);
  return { rows, nextCursor: found.length > limit ? writePosition(found[limit - 1]!) : null };
}

/** Before the latest session that began before `untilMs`; its second and the next, to which a token may belong, are read whole. */
export function positionAt(untilMs: number): LogPosition {
  return { beganMs: Number.MAX_SAFE_INTEGER, token: endOfSecond(earliestToken(untilMs + 1000)) };
}

/** Whether a session at this position, and so all further ones of the log, began before `fromMs`. */
export function isBeyond({ token }: LogPosition, fromMs: number): boolean {
  return token.readUInt32BE(0) < Math.floor(fromMs / 1000);
}

/** The session at a position, which was just read; null when it has been erased meanwhile. */
export function sessionAt(store: Store, projectId: number, { token }: LogPosition): LoggedSession | null {
  const record = store.rows.record(sessionKey(projectId, token));
  const state = record === undefined ? null : decodeScoredState(record);
  if (state === null) return null;
  return { token: encodeSessionToken(token), beganMs: beganAtMs(state.firstSeenMs, token), state };
}

/**
 * Positions of at most `count` sessions after `after` (null: of the latest), in the order of the log; about 5 us each. A second is read
 * whole, however busy it was. Null when whoever asked has gone meanwhile.
 */
export async function latestSessions(
  store: Store,
  projectId: number,
  count: number,
  after: LogPosition | null,
  slices: Slices,
): Promise<LogPosition[] | null> {
  const { start: first, end: beyond } = sessionRange(projectId);
  const found: LogPosition[] = [];
  let second = -1;
  let ofSecond: LogPosition[] = [];
  const takeSecond = (): void => {
    ofSecond.sort(latestFirst);
    for (const each of ofSecond) if (after === null || latestFirst(after, each) < 0) found.push(each);
    ofSecond = [];
  };
  let start = after === null ? beyond : sessionKey(projectId, endOfSecond(after.token));
  for (;;) {
    if (slices.isOver && !(await slices.next())) return null;
    const keys = await store.rows.keys({ start, end: first, reverse: true, limit: limits.sessionKeysRead });
    await store.rows.load(keys, "certain");
    for (const key of keys) {
      // Faster than a range with values, which copies each record into a buffer of its own.
      const record = store.rows.record(key);
      const seenMs = record === undefined ? null : firstSeenMs(record);
      if (seenMs === null) continue;
      const token = Buffer.from(key.subarray(-tokenBytes));
      const secondOfKey = token.readUInt32BE(0);
      if (secondOfKey !== second) {
        takeSecond();
        if (found.length >= count) return found.slice(0, count);
        second = secondOfKey;
      }
      ofSecond.push({ beganMs: beganAtMs(seenMs, token), token });
    }
    if (keys.length < limits.sessionKeysRead) break;
    start = keyBefore(keys.at(-1)!);
  }
  takeSecond();
  return found.slice(0, count);
}

/** The greatest key of the same length below this one, which is not all zeros. */
function keyBefore(key: Buffer): Buffer {
  const before = Buffer.from(key);
  let at = before.length - 1;
  while (before[at] === 0) before[at--] = 0xff;
  before[at]!--;
  return before;
}

/** Positions of the latest sessions that began at `fromMs` or later, at most `count`; null when whoever asked has gone meanwhile. */
export async function sessionsSince(
  store: Store,
  projectId: number,
  fromMs: number,
  count: number,
  slices: Slices,
): Promise<LogPosition[] | null> {
  const positions: LogPosition[] = [];
  while (positions.length < count) {
    const page = await latestSessions(store, projectId, limits.ruleTestLookup, positions.at(-1) ?? null, slices);
    if (page === null) return null;
    const begun = page.filter(({ beganMs }) => beganMs >= fromMs);
    positions.push(...begun);
    if (begun.length < limits.ruleTestLookup) break;
  }
  return positions.slice(0, count);
}

/**
 * Positions of about `count` of the sessions that began in this time: as many from each of equal slices of it, so that a quiet hour
 * counts as much as a busy one, at a cost that does not grow with the sessions. The latest slice first. Null when whoever asked has gone.
 */
export async function sampleOfSessions(
  store: Store,
  projectId: number,
  fromMs: number,
  untilMs: number,
  count: number,
  work: Slices,
  isUntilNow = true,
): Promise<LogPosition[] | null> {
  const ofSlice = limits.ruleTestSliceSessions;
  const slices = Math.ceil(count / ofSlice);
  const sliceMs = (untilMs - fromMs) / slices;
  const positions: LogPosition[] = [];
  for (let slice = slices - 1; slice >= 0; slice--) {
    if (work.isOver && !(await work.next())) return null;
    const beganMs = fromMs + slice * sliceMs;
    const start = sessionKey(projectId, earliestToken(beganMs));
    // The latest slice is open: a token may lie ahead of the contact that it was minted for.
    const isLatest = isUntilNow && slice === slices - 1;
    const end = isLatest ? sessionRange(projectId).end : sessionKey(projectId, earliestToken(beganMs + sliceMs));
    const keys = await store.rows.keys({ start, end, limit: ofSlice });
    await store.rows.load(keys, "certain");
    for (const key of keys) positions.push({ beganMs, token: Buffer.from(key.subarray(-tokenBytes)) });
  }
  return positions.slice(0, count);
}

/** By the second of the token, as keys lie; within it by when they began. */
function latestFirst(one: LogPosition, other: LogPosition): number {
  const seconds = other.token.readUInt32BE(0) - one.token.readUInt32BE(0);
  return seconds || other.beganMs - one.beganMs || Buffer.compare(other.token, one.token);
}

/** The greatest token of the same second. */
function endOfSecond(token: Buffer): Buffer {
  const end = Buffer.alloc(tokenBytes, 0xff);
  token.copy(end, 0, 0, 4);
  return end;
}

/** As a cursor. */
export function writePosition({ beganMs, token }: LogPosition): string {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(beganMs, 0, timeBytes);
  return encodeCursor("s", Buffer.concat([time, token]));
}

/** Returns null for text that is no cursor of this log. */
export function readPosition(cursor: string): LogPosition | null {
  const position = decodeCursor("s", cursor, timeBytes + tokenBytes);
  if (position === null) return null;
  return { beganMs: position.readUIntBE(0, timeBytes), token: position.subarray(timeBytes) };
}
