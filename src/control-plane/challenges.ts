/** verdictd's own challenges: issued without storing anything, and accepted once when solved. The session's record stores the pass. */
import type { ChallengeCause } from "../challenge/challenging-rules.js";
import { userAgentHash } from "../challenge/clearance.js";
import { checkSolution, makePuzzle, type Puzzle, type PuzzleKeys, puzzleKeys } from "../challenge/puzzle.js";
import { workOf } from "../challenge/work.js";
import { defaultChallengeSettings } from "../contract/challenge.js";
import type { Project } from "../contract/entities.js";
import type { ScoredState } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { sessionKey } from "../store/keys.js";
import { decodeScoredState, withClearance } from "../store/session-record.js";
import type { Store } from "../store/store.js";
import { bandOfSession } from "../verdict/bands.js";

/** The outcome of a challenge, for the counts. `rule` 0 means that no known rule asked for it, or that another challenge of the session counts. */
export type ChallengeEvent = { readonly projectId: number; readonly rule: number } & (
  | { readonly what: "issued" | "failed" }
  | { readonly what: "passed"; readonly tookMs: number }
);

/** What challenges need; `onEvent` is called for each challenge that is issued, passed or failed. */
export interface ChallengesOptions {
  readonly store: Store;
  /** The rule of a challenge that is issued now. */
  readonly causeOf: (project: Project, token: string, nowMs: number) => ChallengeCause;
  readonly onEvent: (event: ChallengeEvent) => void;
  readonly now: () => number;
}

/** A puzzle for the visitor's browser, and when its solution is refused at the latest, ms. */
export interface IssuedChallenge {
  readonly puzzle: Puzzle;
  readonly expiresAtMs: number;
}

/** One per HTTP thread. It stores nothing about an issued challenge: the signature carries everything. */
export class Challenges {
  readonly #options: ChallengesOptions;
  /** Of the projects that asked last; by the secret that they are made of. */
  readonly #keys = new Map<string, PuzzleKeys>();
  #making = 0;

  constructor(options: ChallengesOptions) {
    this.#options = options;
  }

  /** Issues a challenge for a session of the project. `unavailable` while this thread creates as many as it can at once. */
  async issue(project: Project, token: string, state: ScoredState): Promise<IssuedChallenge | Refusal> {
    if (this.#making >= limits.challengesMadeAtOnceMax)
      return refuse("unavailable", "too many challenges at once; try again");
    const { now, onEvent, causeOf } = this.#options;
    const { difficulty } = project.challenge ?? defaultChallengeSettings;
    const nowMs = now();
    const expiresAt = Math.floor((nowMs + limits.challengeMs) / 1000);
    const { rule, countedAtMs, isCounted } = causeOf(project, token, nowMs);
    const work = workOf(
      difficulty,
      bandOfSession(state, project.likelyBotThreshold),
      state.score,
      project.likelyBotThreshold,
    );
    this.#making++;
    try {
      const data = { session: token, issued_at_ms: nowMs, rule, counted_at_ms: countedAtMs };
      const puzzle = await makePuzzle(this.#keysOf(project), work, data, expiresAt);
      onEvent({ projectId: project.id, rule: isCounted ? rule : 0, what: "issued" });
      return { puzzle, expiresAtMs: expiresAt * 1000 };
    } finally {
      this.#making--;
    }
  }

  /**
   * Clears the challenge's session for this user agent; returns the time of the pass, ms. `invalidPayload` for an invalid solution or another session's,
   * `challengeUsed` for one that was accepted before, `unknownSession` for a session that was deleted meanwhile.
   */
  async solve(project: Project, token: string, solution: string, userAgent: string): Promise<number | Refusal> {
    const { store, onEvent, now } = this.#options;
    const nowMs = now();
    const checked = checkSolution(this.#keysOf(project), solution, nowMs);
    if (typeof checked === "string") {
      onEvent({ projectId: project.id, rule: 0, what: "failed" });
      return refuse("invalidPayload", faults[checked]);
    }
    const { data, nonce, expiresAt } = checked.parameters;
    const { rule } = data;
    if (data.session !== token) {
      onEvent({ projectId: project.id, rule, what: "failed" });
      return refuse("invalidPayload", "solution: the challenge was made for another session");
    }
    const id = decodeSessionToken(token);
    if (id === null) return goneSession;
    const key = sessionKey(project.id, id);
    /** When the session last passed; 0 for never. */
    let passedBeforeMs = 0;
    const pass = (record: Buffer): Buffer | null => {
      const verdict = decodeScoredState(record);
      if (verdict === null) return null;
      passedBeforeMs = verdict.clearance?.atMs ?? 0;
      const band = bandOfSession(verdict, project.likelyBotThreshold);
      return withClearance(record, { atMs: nowMs, band, userAgentHash: userAgentHash(userAgent) });
    };
    const outcome = await store.rows.change(key, pass, { nonce, expiresAtMs: expiresAt * 1000 });
    if (outcome === "gone") return goneSession;
    if (outcome === "used") {
      onEvent({ projectId: project.id, rule, what: "failed" });
      return refuse("challengeUsed", "this solution was used already; ask for another challenge");
    }
    // Of the challenges that a session asked for beside the one that counts, its first pass counts, whichever it is of.
    const countedRule = passedBeforeMs < data.counted_at_ms ? rule : 0;
    const tookMs = Math.max(0, nowMs - data.issued_at_ms);
    onEvent({ projectId: project.id, rule: countedRule, what: "passed", tookMs });
    return nowMs;
  }

  #keysOf({ privateKeyHash }: Project): PuzzleKeys {
    // Known to the store alone; with the private key it changes, and challenges under way with it.
    const secret = privateKeyHash ?? "";
    let keys = this.#keys.get(secret);
    if (keys === undefined) {
      if (this.#keys.size >= limits.credentialMemoMax) this.#keys.clear();
      keys = puzzleKeys(secret);
      this.#keys.set(secret, keys);
    }
    return keys;
  }
}

const goneSession = refuse("unknownSession", "this project has no such session");

const faults = {
  malformed: "solution must be base64 of JSON {challenge, solution}",
  forged: "solution: the challenge was not made for this project",
  wrong: "solution: the challenge is not solved",
  expired: "solution: the challenge has expired",
} as const;
