/** Stored sessions as the data plane and the logs see them: the verdict part by token, and the logged-in assertion. */
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { type ExplainedDetection, explain } from "../engines/score.js";
import { unpackFeatures } from "../engines/session-features.js";
import type { Refusal } from "../errors.js";
import { limits } from "../limits.js";
import { sessionKey, sessionKeyBytes, writeSessionKey } from "../store/keys.js";
import { decodeSession, decodeVerdictPart, loggedInAtMs, withLoggedInAt } from "../store/session-record.js";
import { sessionStoreOf, sessionStoreOfKey } from "../store/session-stores.js";
import type { Store } from "../store/store.js";
import { turn } from "../turn.js";
import type { LogPage } from "./cursor.js";
import {
  type LogPosition,
  type StoredSession,
  sampleOfSessions,
  sessionAt,
  sessionPage,
  sessionsSince,
} from "./session-log.js";

/** A session with the detections behind its score, strongest first. */
export interface SessionDetail extends StoredSession {
  readonly detections: readonly ExplainedDetection[];
}

export class Sessions {
  readonly #store: Store;
  /** Of the read that is just being made. */
  readonly #key = Buffer.alloc(sessionKeyBytes);

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

  /** The project's sessions by first contact, the latest first, from the cursor on (`session-log.ts`). */
  page(projectId: number, limit: number, cursor: string | null): LogPage<StoredSession> | Refusal {
    return sessionPage(this.#store, projectId, limit, cursor);
  }

  /** Tells `visit` of the project's latest sessions one after another, at most `count`. Other requests get their turn meanwhile. */
  async visitLatest(projectId: number, count: number, visit: (session: StoredSession) => void): Promise<void> {
    await this.#visit(projectId, await sessionsSince(this.#store, projectId, 0, count), visit);
  }

  /**
   * As `visitLatest`, of the sessions that began in this time: all of them, or where there are more than `count` an even sample. Resolves
   * to whether it was all.
   */
  async visitSince(
    projectId: number,
    { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
    count: number,
    visit: (session: StoredSession) => void,
  ): Promise<boolean> {
    const latest = await sessionsSince(this.#store, projectId, fromMs, count + 1);
    const areAll = latest.length <= count;
    const chosen = areAll ? latest : await sampleOfSessions(this.#store, projectId, fromMs, untilMs, count);
    await this.#visit(projectId, chosen, visit);
    return areAll;
  }

  async #visit(
    projectId: number,
    positions: readonly LogPosition[],
    visit: (session: StoredSession) => void,
  ): Promise<void> {
    for (const [index, position] of positions.entries()) {
      if (index > 0 && index % limits.ruleTestChunk === 0) await turn();
      const session = sessionAt(this.#store, projectId, position);
      if (session !== null) visit(session);
    }
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
    const { root, sessions } = sessionStoreOf(this.#store, id);
    return root.childTransaction(() => {
      const bytes = sessions.getBinary(key);
      if (bytes === undefined) return false;
      sessions.putSync(key, withLoggedInAt(bytes, atMs));
      return true;
    });
  }

  /** The record's bytes: valid until the next read. */
  #read(projectId: number, token: string): Buffer | null {
    if (!writeSessionKey(this.#key, projectId, token)) return null;
    const { sessions } = sessionStoreOfKey(this.#store, this.#key);
    return (sessions.getBinaryFast(this.#key) as Buffer | undefined) ?? null;
  }
}
