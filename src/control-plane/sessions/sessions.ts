/** Stored sessions as the data plane and the logs see them: the scored state by token, and the logged-in assertion. */
import { networkUse } from "../../challenge/clearance.js";
import type { ProjectSettings, ScoredState } from "../../contract/sessions/session.js";
import { beganAtMs, decodeSessionToken } from "../../contract/sessions/session-token.js";
import type { Clearance } from "../../contract/verdicts/challenge.js";
import { agentSigns, type ExplainedDetection, explain } from "../../engines/score.js";
import { type AgentTimes, agentTimes } from "../../engines/score-session.js";
import { newFeatures, unpackFeatures } from "../../engines/session-features.js";
import type { Refusal } from "../../errors.js";
import type { Slices } from "../../runtime/long-work.js";
import { sessionKey, sessionKeyBytes, tokenAt, writeSessionKey } from "../../store/keys.js";
import {
  decodeScoredState,
  decodeSession,
  hasClearance,
  loggedInAtMs,
  withClearance,
  withLoggedInAt,
} from "../../store/session-record.js";
import type { Freshness } from "../../store/session-rows.js";
import type { Store } from "../../store/store.js";
import type { ClearanceUse } from "../../verdict/resolve.js";
import { stateStamp } from "../../verdict/verdict-reader.js";
import type { LogPage } from "../logs/cursor.js";
import {
  isBeyond,
  type LoggedSession,
  type LogPosition,
  latestSessions,
  positionAt,
  sampleOfSessions,
  sessionAt,
  sessionPage,
  sessionsSince,
} from "./session-log.js";

/** A session with the detections behind its score, strongest first. */
export interface SessionDetail extends LoggedSession {
  readonly detections: readonly ExplainedDetection[];
  readonly agentTimes: AgentTimes;
}

/** Which sessions were visited: those asked for, a sample of them, or not all because whoever asked has gone. */
type Visited = "all" | "sample" | "aborted";

/** Stored sessions by project: a session of another project does not exist here. On a cluster, call `load` before the reads. */
export class Sessions {
  readonly #store: Store;
  /** Of the read that is just being made. */
  readonly #key = Buffer.alloc(sessionKeyBytes);
  /** Changes of clearances under way, by session. */
  readonly #uses = new Map<string, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Lets the reads of this session below find it, as in `SessionRows`; null: it is at hand. */
  load(projectId: number, token: string, freshness: Freshness = "recent"): Promise<void> | null {
    if (!writeSessionKey(this.#key, projectId, token)) return null;
    return this.#store.rows.load([this.#key], freshness);
  }

  /** Returns the scored state of this session; null for a malformed or unknown token, or one of another project. */
  scoredState(projectId: number, token: string): ScoredState | null {
    const bytes = this.#read(projectId, token);
    return bytes === null ? null : decodeScoredState(bytes);
  }

  /** As `SessionRows.isUnanswered`. */
  isUnanswered(projectId: number, token: string): boolean {
    return writeSessionKey(this.#key, projectId, token) && this.#store.rows.isUnanswered(this.#key);
  }

  /** As `SessionRows.later`, after one of these reads found nothing. */
  later(): Promise<void> | null {
    return this.#store.rows.later();
  }

  exists(projectId: number, token: string): boolean {
    return this.#read(projectId, token) !== null;
  }

  /** `stateStamp` of a session of this project; 0 for one that is gone. Reads eight bytes of most sessions. */
  stateStamp(project: ProjectSettings, token: string, nowMs: number): number {
    const bytes = this.#read(project.id, token);
    if (bytes === null) return 0;
    const state = hasClearance(bytes) ? decodeScoredState(bytes) : null;
    return state === null ? loggedInAtMs(bytes) : stateStamp(state, project, nowMs);
  }

  /** The project's sessions by when they began, the latest first, from the cursor on (`session-log.ts`). */
  page(
    projectId: number,
    limit: number,
    cursor: string | null,
    slices: Slices,
  ): Promise<LogPage<LoggedSession> | Refusal | null> {
    return sessionPage(this.#store, projectId, limit, cursor, slices);
  }

  /** Tells `visit` of the project's latest sessions one after another, at most `count`. */
  async visitLatest(
    projectId: number,
    count: number,
    slices: Slices,
    visit: (session: LoggedSession) => void,
  ): Promise<Visited> {
    const latest = await sessionsSince(this.#store, projectId, 0, count, slices);
    return this.#visit(projectId, latest, "all", slices, visit);
  }

  /** As `visitLatest`, of the sessions that began in this time: all of them, or where there are more than `count` an even sample. */
  async visitSince(
    projectId: number,
    { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
    count: number,
    slices: Slices,
    visit: (session: LoggedSession) => void,
  ): Promise<Visited> {
    const latest = await sessionsSince(this.#store, projectId, fromMs, count + 1, slices);
    if (latest === null || latest.length <= count) return this.#visit(projectId, latest, "all", slices, visit);
    const sample = await sampleOfSessions(this.#store, projectId, fromMs, untilMs, count, slices);
    return this.#visit(projectId, sample, "sample", slices, visit);
  }

  /** As `visitSince`, of sessions that began before a time that has passed. */
  async visitBetween(
    projectId: number,
    { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
    count: number,
    slices: Slices,
    visit: (session: LoggedSession) => void,
  ): Promise<Visited> {
    const latest = await latestSessions(this.#store, projectId, count + 1, positionAt(untilMs), slices);
    const within = latest?.filter((position) => !isBeyond(position, fromMs)) ?? null;
    if (within === null || within.length <= count) return this.#visit(projectId, within, "all", slices, visit);
    const sample = await sampleOfSessions(this.#store, projectId, fromMs, untilMs, count, slices, false);
    return this.#visit(projectId, sample, "sample", slices, visit);
  }

  async #visit(
    projectId: number,
    positions: readonly LogPosition[] | null,
    which: Visited,
    slices: Slices,
    visit: (session: LoggedSession) => void,
  ): Promise<Visited> {
    if (positions === null) return "aborted";
    for (const position of positions) {
      if (slices.isOver && !(await slices.next())) return "aborted";
      const session = sessionAt(this.#store, projectId, position);
      if (session !== null) visit(session);
    }
    return which;
  }

  /** Returns one session with the detections that fired; null for a malformed or unknown token, or one of another project. */
  detail(projectId: number, token: string): SessionDetail | null {
    const session = this.#withFeatures(projectId, token);
    if (session === null) return null;
    const { state, features } = session;
    const explained = features === null ? [] : explain(features, state.last);
    // Only what the stored score was made of: a batch that was recorded without being scored may have added to the features.
    const detections = explained.filter(({ id }) => state.detectionIds.includes(id));
    const beganMs = beganAtMs(state.firstSeenMs, this.#key.subarray(tokenAt));
    return { token, beganMs, state, detections, agentTimes: agentTimes(features ?? newFeatures()) };
  }

  /** Returns the slugs of the signs by which this session acts as agents do; none for another session. Costs some microseconds. */
  agentSigns(projectId: number, token: string): readonly string[] {
    const session = this.#withFeatures(projectId, token);
    return session === null || session.features === null ? [] : agentSigns(session.features, session.state.last);
  }

  /** A session as it is scored; its features are null where they can't be read. Leaves its key in `#key`. */
  #withFeatures(projectId: number, token: string) {
    const bytes = this.#read(projectId, token);
    const record = bytes === null ? null : decodeSession(bytes);
    if (record === null) return null;
    const { state, features } = record;
    return { state, features: unpackFeatures(features, 0, features.length) };
  }

  /** Restarts the logged-in window; returns false if the project has no such session. */
  async assertLoggedIn(projectId: number, token: string, atMs: number): Promise<boolean> {
    const id = decodeSessionToken(token);
    if (id === null) return false;
    const key = sessionKey(projectId, id);
    return (await this.#store.rows.change(key, (record) => withLoggedInAt(record, atMs))) === "changed";
  }

  /**
   * Adds a network to the session's clearance, or ends the clearance if it has as many of that family as the project allows. Resolves with what the
   * clearance is then, null for none. If the store can't be written, the use counts for this answer alone.
   */
  async useClearance(
    project: ProjectSettings,
    token: string,
    { clearance, mark }: ClearanceUse,
  ): Promise<Clearance | null> {
    const { challenge } = project;
    const id = decodeSessionToken(token);
    if (id === null || challenge === undefined) return null;
    let outcome: Clearance | null = null;
    const change = (record: Buffer): Buffer | null => {
      const stored = decodeScoredState(record)?.clearance ?? null;
      outcome = stored;
      if (stored === null) return null;
      const use = networkUse(stored, mark, challenge);
      if (use === "known") return null;
      outcome = use === "new" ? { ...stored, networks: [...stored.networks, mark] } : null;
      return withClearance(record, outcome);
    };
    const key = sessionKey(project.id, id);
    const name = key.toString("latin1");
    // One after another: on a cluster, many at once would be conflicts.
    const written = (this.#uses.get(name) ?? Promise.resolve())
      .then(() => this.#store.rows.change(key, change))
      .catch(() => {
        outcome = { ...clearance, networks: [...clearance.networks, mark] };
      });
    this.#uses.set(name, written);
    await written;
    if (this.#uses.get(name) === written) this.#uses.delete(name);
    return outcome;
  }

  /** The record's bytes: valid until the next read. */
  #read(projectId: number, token: string): Buffer | null {
    if (!writeSessionKey(this.#key, projectId, token)) return null;
    return this.#store.rows.record(this.#key) ?? null;
  }
}
