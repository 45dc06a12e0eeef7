/**
 * The log of a project's sessions: by first contact, the latest first. Keys order sessions by the second of their first contact;
 * within a second they are sorted here. Reads only.
 */
import type { VerdictPart } from "../contract/session.js";
import { encodeSessionToken } from "../contract/session-token.js";
import { type Refusal, refuse } from "../errors.js";
import { sessionKey, sessionRange, tokenBytes } from "../store/keys.js";
import { decodeVerdictPart, firstSeenMs } from "../store/session-record.js";
import type { Store } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** A session of the log. */
export interface StoredSession {
  readonly token: string;
  readonly part: VerdictPart;
}

interface Candidate {
  readonly firstSeenMs: number;
  readonly token: Buffer;
  readonly record: Buffer;
}

/** Where a page ended. */
type Position = Pick<Candidate, "firstSeenMs" | "token">;

const timeBytes = 6;

/**
 * One page from the cursor on, about 5 us a row, and 2 us for every other session first seen in the seconds of its first and last
 * row. `invalidPayload` for a cursor that is none.
 */
export function sessionPage(
  store: Store,
  projectId: number,
  limit: number,
  cursor: string | null,
): LogPage<StoredSession> | Refusal {
  const after = cursor === null ? null : readPosition(cursor);
  if (cursor !== null && after === null) return refuse("invalidPayload", "cursor is not one of this log");
  const found = candidates(store, projectId, limit + 1, after);
  const rows = found.slice(0, limit).flatMap(({ token, record }) => {
    const part = decodeVerdictPart(record);
    return part === null ? [] : [{ token: encodeSessionToken(token), part }];
  });
  return { rows, nextCursor: found.length > limit ? writePosition(found[limit - 1]!) : null };
}

/** At least `count` sessions after the position, where there are as many, in order. */
function candidates(store: Store, projectId: number, count: number, after: Position | null): Candidate[] {
  const { start: first, end: beyond } = sessionRange(projectId);
  const start = after === null ? beyond : sessionKey(projectId, endOfSecond(after.token));
  const found: Candidate[] = [];
  let second = -1;
  let ofSecond: Candidate[] = [];
  const takeSecond = (): void => {
    ofSecond.sort(latestFirst);
    for (const each of ofSecond) if (after === null || latestFirst(after, each) < 0) found.push(each);
    ofSecond = [];
  };
  for (const { key, value } of store.sessions.getRange({ start, end: first, reverse: true })) {
    const seenMs = firstSeenMs(value);
    if (seenMs === null) continue;
    const token = Buffer.from(key.subarray(-tokenBytes));
    const secondOfKey = token.readUInt32BE(0);
    if (secondOfKey !== second) {
      takeSecond();
      if (found.length >= count) return found;
      second = secondOfKey;
    }
    ofSecond.push({ firstSeenMs: seenMs, token, record: value });
  }
  takeSecond();
  return found;
}

function latestFirst(one: Position, other: Position): number {
  return other.firstSeenMs - one.firstSeenMs || Buffer.compare(other.token, one.token);
}

/** The greatest token of the same second. */
function endOfSecond(token: Buffer): Buffer {
  const end = Buffer.alloc(tokenBytes, 0xff);
  token.copy(end, 0, 0, 4);
  return end;
}

function writePosition({ firstSeenMs, token }: Position): string {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(firstSeenMs, 0, timeBytes);
  return encodeCursor("s", Buffer.concat([time, token]));
}

function readPosition(cursor: string): Position | null {
  const position = decodeCursor("s", cursor, timeBytes + tokenBytes);
  if (position === null) return null;
  return { firstSeenMs: position.readUIntBE(0, timeBytes), token: position.subarray(timeBytes) };
}
