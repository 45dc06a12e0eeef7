/**
 * Waits for a report of a session that is on its way, such as one that a page sends with the form that the visitor submits. The session is looked at every
 * few ms, whichever thread or node scores it: a wait costs no thread and holds up nobody. It never fails; what can't be read is waited for no longer than
 * anything else.
 */
import type { ProjectSettings, ScoredState } from "../contract/sessions/session.js";
import { limits } from "../limits.js";

/** What a wait reads. `load` is asked first where a session has to be fetched; null: it is at hand. */
interface ReportWaitSources {
  readonly load?: (projectId: number, token: string) => Promise<void> | null;
  readonly state: (projectId: number, token: string) => Pick<ScoredState, "scored" | "lastSeenMs"> | null;
  /** Reports of sessions that have arrived and are not scored yet. */
  readonly underWay: { expect(nowMs: number): void; has(token: string): boolean };
  /** Whether a report can arrive under a token without a state: none does under one that is forged, foreign or expired. */
  readonly mayReport: (project: ProjectSettings, token: string) => boolean;
  readonly now: () => number;
}

/** One per HTTP thread. */
export class ReportWait {
  readonly #sources: ReportWaitSources;
  #waiting = 0;

  constructor(sources: ReportWaitSources) {
    this.#sources = sources;
  }

  /**
   * Resolves once the session has a score, its last report is at most 2 s older than now, none is under way and none can be just behind this question
   * (a form's POST may overtake its own report by some ms), after `waitMs`, or when `isOver` says that nobody waits any more. Null: there is nothing to wait for, or too many wait already. Never rejects.
   */
  wait(project: ProjectSettings, token: string, waitMs: number, isOver: () => boolean): Promise<void> | null {
    if (waitMs <= 0) return null;
    const nowMs = this.#sources.now();
    this.#sources.underWay.expect(nowMs);
    if (this.#waiting >= limits.reportWaitsMax) return null;
    const isRemote = this.#sources.load !== undefined;
    if (!isRemote && this.#isEnough(project, token, nowMs)) return null;
    this.#waiting++;
    return new Promise((resolve) => {
      let isEnded = false;
      let pause: NodeJS.Timeout | undefined;
      const end = (): void => {
        if (isEnded) return;
        isEnded = true;
        clearTimeout(limit);
        clearTimeout(pause);
        this.#waiting--;
        resolve();
      };
      const limit = setTimeout(end, waitMs);
      const look = (): void => {
        if (isEnded) return;
        if (isOver() || this.#isEnough(project, token, nowMs)) end();
        else pause = setTimeout(begin, isRemote ? limits.reportPollRemoteMs : limits.reportPollMs);
      };
      const begin = (): void => {
        const loading = this.#sources.load?.(project.id, token) ?? null;
        if (loading === null) look();
        else void loading.then(look, look);
      };
      begin();
    });
  }

  /** Whether a report is there for a question of `askedMs`, or none can come. */
  #isEnough(project: ProjectSettings, token: string, askedMs: number): boolean {
    try {
      const state = this.#sources.state(project.id, token);
      if (state === null) return !this.#sources.mayReport(project, token);
      // Of a form that is filled in fast, the report of its first input is fresh, and the one that leaves with the POST still to be scored.
      const { scored, lastSeenMs } = state;
      if (!scored || lastSeenMs < askedMs - limits.reportFreshMs || this.#sources.underWay.has(token)) return false;
      const behindMs = limits.reportBehindMs;
      return lastSeenMs >= askedMs - behindMs || this.#sources.now() >= askedMs + behindMs;
    } catch {
      // The verdict that follows says what is wrong.
      return true;
    }
  }
}
