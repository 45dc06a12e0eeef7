/** Challenges of verdictd's own: issued without storing anything, and counted once when they are solved. The session's record keeps the pass. */
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

/** What became of a challenge, for the counts; `rule` 0: none is known that asked for it, or another one of the session counts for it. */
export type ChallengeEvent = { readonly projectId: number; readonly rule: number } & (
  | { readonly what: "issued" | "failed" }
  | { readonly what: "passed"; readonly tookMs: number }
);

/** What challenges need; `onEvent` is told of each one issued, passed and failed. */
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

/** One an HTTP thread. Keeps nothing of a challenge that is out but what its signature carries. */
export class Challenges {
  readonly #options: ChallengesOptions;
  /** Of the projects that asked last; by the secret that they are made of. */
  readonly #keys = new Map<string, PuzzleKeys>();
  #making = 0;

  constructor(options: ChallengesOptions) {
    this.#options = options;
  }

  /** A challenge for a session of the project. `unavailable` while as many are being made as this thread makes at once. */
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
   * Clears the session that the challenge was made for, for this user agent; gives the time of the pass, ms. `invalidPayload` for what is no
   * solution or another session's, `challengeUsed` for one that has counted, `unknownSession` for a session that is gone meanwhile.
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
    /** When the session passed before; 0: never. */
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
