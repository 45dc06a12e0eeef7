/** Marks of sessions, "this was a person" or "this was a bot": the operator's own measure of what verdictd gets wrong. */
import type { Project } from "../../contract/configuration/entities.js";
import type { MarkName, SessionMark } from "../../contract/sessions/marks.js";
import type { ScoredState } from "../../contract/sessions/session.js";
import { decodeSessionToken, encodeSessionToken, tokenBytes } from "../../contract/sessions/session-token.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import type { Slices } from "../../runtime/long-work.js";
import type { Store } from "../../store/store.js";
import { bandOfSession } from "../../verdict/bands.js";
import { decodeCursor, encodeCursor, type LogPage } from "../logs/cursor.js";
import type { Sessions } from "./sessions.js";

/** Counts of marks by their meaning: persons in a bot band are false positives, bots in the human band are missed. */
export interface MarkCounts {
  persons: number;
  falsePositives: number;
  bots: number;
  missedBots: number;
  readonly byDetection: Map<number, { persons: number; bots: number }>;
}

/** Marks of sessions of a project; at most `limits.marksPerProjectMax` each. */
export class Marks {
  readonly #store: Store;
  readonly #sessions: Sessions;
  readonly #now: () => number;

  constructor(store: Store, sessions: Sessions, now: () => number) {
    this.#store = store;
    this.#sessions = sessions;
    this.#now = now;
  }

  find(projectId: number, token: string): Promise<SessionMark | null> {
    return this.#store.recorded.marks.find(projectId, token);
  }

  /** Marks a session, or changes its mark. `notFound` for no session of the project, `conflict` when it has too many marks. */
  async set(project: Project, token: string, as: MarkName, userId: number): Promise<SessionMark | Refusal> {
    await this.#sessions.load(project.id, token, "certain");
    const state = this.#sessions.scoredState(project.id, token);
    if (state === null) return refuse("notFound", "the project has no such session");
    const mark: SessionMark = {
      projectId: project.id,
      sessionToken: token,
      as,
      markedAt: new Date(this.#now()).toISOString(),
      userId,
      ...stateOf(state, project),
    };
    const outcome = await this.#store.recorded.marks.put(mark, limits.marksPerProjectMax);
    if (outcome === "gone") return refuse("notFound", "the project has no such session");
    if (outcome === "put") return mark;
    return refuse("conflict", `a project has at most ${limits.marksPerProjectMax} marks: remove some`);
  }

  /** Returns false if there is none. */
  async remove(projectId: number, token: string): Promise<boolean> {
    return this.#store.recorded.marks.remove(projectId, token);
  }

  /** Returns the project's marks by first contact of their sessions, the latest first. `invalidPayload` for an invalid cursor. */
  async page(projectId: number, limit: number, cursor: string | null): Promise<LogPage<SessionMark> | Refusal> {
    const after = cursor === null ? null : decodeCursor("m", cursor, tokenBytes);
    if (cursor !== null && after === null) return refuse("invalidPayload", "cursor is not valid for this list");
    const { marks } = this.#store.recorded;
    // Tokens as text do not lie in the order of their bytes: a project's marks are few enough to sort.
    const ordered = (await marks.tokens(projectId))
      .map((token) => decodeSessionToken(token)!)
      .sort((one, other) => Buffer.compare(other, one))
      .filter((token) => after === null || Buffer.compare(token, after) < 0);
    const shown = ordered.slice(0, limit);
    const found = await Promise.all(shown.map((token) => marks.find(projectId, encodeSessionToken(token))));
    const rows = found.filter((mark) => mark !== null);
    return { rows, nextCursor: ordered.length > limit ? encodeCursor("m", shown.at(-1)!) : null };
  }

  /** Returns null if the client has left meanwhile. */
  async counts(projectId: number, slices: Slices): Promise<MarkCounts | null> {
    const counts: MarkCounts = { persons: 0, falsePositives: 0, bots: 0, missedBots: 0, byDetection: new Map() };
    for (const value of await this.#store.recorded.marks.all(projectId)) {
      if (slices.isOver && !(await slices.next())) return null;
      const isPerson = value.as === "person";
      if (isPerson) {
        counts.persons++;
        if (isBotBand(value.band)) counts.falsePositives++;
      } else {
        counts.bots++;
        if (value.band === "likely_human") counts.missedBots++;
      }
      for (const id of value.detectionIds) {
        const of = counts.byDetection.get(id) ?? { persons: 0, bots: 0 };
        of[isPerson ? "persons" : "bots"]++;
        counts.byDetection.set(id, of);
      }
    }
    return counts;
  }
}

function stateOf(
  state: ScoredState,
  { likelyBotThreshold }: Project,
): Pick<SessionMark, "band" | "score" | "detectionIds"> {
  const band = state.verifiedBot === null ? bandOfSession(state, likelyBotThreshold) : "verified";
  return { band, score: state.scored ? state.score : 0, detectionIds: state.detectionIds };
}

function isBotBand(band: SessionMark["band"]): boolean {
  return band === "definite" || band === "confident_automated" || band === "likely_automated";
}
