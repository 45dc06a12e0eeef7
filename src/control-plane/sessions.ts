/** Stored sessions as the data plane and the logs see them: the verdict part by token, and the logged-in assertion. */
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken, encodeSessionToken } from "../contract/session-token.js";
import { type ExplainedDetection, explain } from "../engines/score.js";
import { unpackFeatures } from "../engines/session-features.js";
import { type Refusal, refuse } from "../errors.js";
import { sessionKey, sessionRange, tokenBytes } from "../store/keys.js";
import { decodeSession, decodeVerdictPart, loggedInAtMs, withLoggedInAt } from "../store/session-record.js";
import type { Store } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** A session of the log. */
export interface StoredSession {
  readonly token: string;
  readonly part: VerdictPart;
}

/** A session with the detections behind its score, strongest first. */
export interface SessionDetail extends StoredSession {
  readonly detections: readonly ExplainedDetection[];
}

export class Sessions {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What a verdict of this session is made of; null for a token that is malformed, unknown or another project's. */
  verdictPart(projectId: number, token: string): VerdictPart | null {
    const bytes = this.#read(projectId, token);
    return bytes === null ? null : decodeVerdictPart(bytes);
  }

  exists(projectId: number, token: string): boolean {
    return this.#read(projectId, token) !== null;
  }

  /** When the session's visitor was last asserted to be logged in, ms; 0: never. */
  loggedInAtMs(projectId: number, token: string): number {
    const bytes = this.#read(projectId, token);
    return bytes === null ? 0 : loggedInAtMs(bytes);
  }

  /**
   * The project's sessions by first contact, the latest first, from the cursor on; about 5 us a row. `invalidPayload` for a cursor
   * that is none.
   */
  page(projectId: number, limit: number, cursor: string | null): LogPage<StoredSession> | Refusal {
    const position = cursor === null ? null : decodeCursor("s", cursor, tokenBytes);
    if (cursor !== null && position === null) return refuse("invalidPayload", "cursor is not one of this log");
    const { start: first, end: beyond } = sessionRange(projectId);
    const start = position === null ? beyond : sessionKey(projectId, position);
    const rows: StoredSession[] = [];
    let lastKey: Buffer | null = null;
    for (const { key, value } of this.#store.sessions.getRange({
      start,
      end: first,
      reverse: true,
      exclusiveStart: true,
    })) {
      if (rows.length === limit) return { rows, nextCursor: encodeCursor("s", lastKey!.subarray(-tokenBytes)) };
      const part = decodeVerdictPart(value);
      if (part === null) continue;
      lastKey = Buffer.from(key);
      rows.push({ token: encodeSessionToken(lastKey.subarray(-tokenBytes)), part });
    }
    return { rows, nextCursor: null };
  }

  /** One session with what fired on it; null for a token that is malformed, unknown or another project's. */
  detail(projectId: number, token: string): SessionDetail | null {
    const bytes = this.#read(projectId, token);
    const record = bytes === null ? null : decodeSession(bytes);
    if (record === null) return null;
    const { verdict: part, features: packed } = record;
    const features = unpackFeatures(packed, 0, packed.length);
    const explained = features === null ? [] : explain(features, part.last);
    // Only what the stored score was made of: a batch that was recorded without being scored may have added to the features.
    return { token, part, detections: explained.filter(({ id }) => part.detectionIds.includes(id)) };
  }

  /** Starts the logged-in window anew; false when there is no such session in the project. */
  async assertLoggedIn(projectId: number, token: string, atMs: number): Promise<boolean> {
    const id = decodeSessionToken(token);
    if (id === null) return false;
    const key = sessionKey(projectId, id);
    return this.#store.root.childTransaction(() => {
      const bytes = this.#store.sessions.getBinary(key);
      if (bytes === undefined) return false;
      this.#store.sessions.putSync(key, withLoggedInAt(bytes, atMs));
      return true;
    });
  }

  /** The record's bytes: valid until the next read. */
  #read(projectId: number, token: string): Buffer | null {
    const id = decodeSessionToken(token);
    if (id === null) return null;
    return (this.#store.sessions.getBinaryFast(sessionKey(projectId, id)) as Buffer | undefined) ?? null;
  }
}
