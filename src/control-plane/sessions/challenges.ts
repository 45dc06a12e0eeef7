/** verdictd's own challenges: issued without storing anything, and accepted once when solved. The session's record stores the pass. */
import { LRUCache } from "lru-cache";
import type { ChallengeCause } from "../../challenge/challenging-rules.js";
import { bandAtPass, isRefusedBand, networkMark, userAgentHash } from "../../challenge/clearance.js";
import { checkSolution, makePuzzles, type Puzzle, type PuzzleKeys, puzzleKeys } from "../../challenge/puzzle.js";
import { workOf } from "../../challenge/work.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { ScoredState } from "../../contract/sessions/session.js";
import { decodeSessionToken } from "../../contract/sessions/session-token.js";
import { defaultChallengeSettings } from "../../contract/verdicts/challenge.js";
import type { Band } from "../../contract/verdicts/verdict.js";
import { F, unpackFeatures } from "../../engines/session-features.js";

import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { subscriberNetwork } from "../../net/network.js";
import { sessionKey } from "../../store/keys.js";
import { decodeSession, withClearance, withRefusal } from "../../store/session-record.js";
import type { Store } from "../../store/store.js";
import { bandForPass } from "../../verdict/test-verdict.js";

/** The outcome of a challenge, for the counts. `rule` 0 means that no known rule asked for it, or that another challenge of the session counts. */
export type ChallengeEvent = {
  readonly projectId: number;
  readonly rule: number;
  readonly token: string;
  readonly visitor: AskingVisitor;
} & ({ readonly what: "issued" | "failed" } | { readonly what: "passed"; readonly tookMs: number });

/** What challenges need; `onEvent` is called for each challenge that is issued, passed or failed. */
interface ChallengesOptions {
  readonly store: Store;
  /** The rule of a challenge that is issued now. */
  readonly causeOf: (project: Project, token: string, visitor: AskingVisitor, nowMs: number) => ChallengeCause;
  /** The band of the request that was challenged, null where it is not known. */
  readonly challengedBand: (project: Project, token: string) => Band | null;
  /** Called for each session that asks: what it reports from now on is scored whatever the load is. */
  readonly onAsked: (token: string, nowMs: number) => void;
  /** Whether a report of the session is being scored. */
  readonly isAwaited: (token: string) => boolean;
  readonly onEvent: (event: ChallengeEvent) => void;
  readonly now: () => number;
}

/** Who asks, as far as verdicts know him. */
export interface AskingVisitor {
  readonly ip: string;
  readonly userAgent: string;
}

/** Who brings a solution; `requestBand`: that of his request by itself, null where requests are not judged. */
interface SolvingVisitor extends AskingVisitor {
  readonly requestBand: Band | null;
}

/** Puzzles for the visitor's browser, and when their solution is refused at the latest, ms. */
interface IssuedChallenge {
  readonly puzzles: readonly Puzzle[];
  readonly expiresAtMs: number;
}

/** One per HTTP thread. It stores nothing about an issued challenge: the signature carries everything. */
export class Challenges {
  readonly #options: ChallengesOptions;
  /** Of the projects that asked last; by the secret that they are made of. */
  readonly #keys = new LRUCache<string, PuzzleKeys>({ max: limits.credentialMemoMax });
  readonly #making = new Shares();

  constructor(options: ChallengesOptions) {
    this.#options = options;
  }

  /**
   * Issues a challenge for a session of the project. `challengeRefused` for a while after the session was refused; `unavailable` while this thread
   * creates as many as it can at once: half as many for sessions that no verdict has challenged, so that those can't keep the others waiting. Of these
   * a visitor's network (an address, or a /64) has a quarter and a project three quarters.
   */
  async issue(
    project: Project,
    token: string,
    state: ScoredState,
    visitor: AskingVisitor,
  ): Promise<IssuedChallenge | Refusal> {
    const { now, onEvent, causeOf, onAsked } = this.#options;
    const { difficulty } = project.challenge ?? defaultChallengeSettings;
    const nowMs = now();
    const refused = refusedStill(state.challengeRefusedAtMs, nowMs);
    if (refused !== null) return refused;
    const expiresAt = Math.floor((nowMs + limits.challengeMs) / 1000);
    const { rule, countedAtMs, isCounted } = causeOf(project, token, visitor, nowMs);
    const places = limits.challengesMadeAtOnceMax / (rule === 0 ? 2 : 1);
    const network = subscriberNetwork(visitor.ip);
    if (!this.#making.take(project.id, network, places)) return crowded;
    onAsked(token, nowMs);
    const work = workOf(difficulty, bandForPass(project, state), state.score, project.likelyBotThreshold);
    try {
      const data = { session: token, issued_at_ms: nowMs, rule, counted_at_ms: countedAtMs };
      const puzzles = await makePuzzles(this.#keysOf(project), work, data, expiresAt);
      onEvent({ projectId: project.id, rule: isCounted ? rule : 0, token, visitor, what: "issued" });
      return { puzzles, expiresAtMs: expiresAt * 1000 };
    } finally {
      this.#making.leave(project.id, network);
    }
  }

  /** Why the session may not pass now; null if it may try. */
  refused({ challengeRefusedAtMs }: ScoredState): Refusal | null {
    return refusedStill(challengeRefusedAtMs, this.#options.now());
  }

  /**
   * Clears the challenge's session for this visitor; returns the time of the pass, ms. `invalidPayload` for an invalid solution or another session's,
   * `challengeUsed` for one that was accepted before, `unknownSession` for a session that was deleted meanwhile, `challengeRefused` for a session that
   * looks automated once its reports were scored, and for one that reported nothing to decide by. Reports that take too long don't refuse.
   */
  async solve(project: Project, token: string, solution: string, visitor: SolvingVisitor): Promise<number | Refusal> {
    const { store, onEvent, now } = this.#options;
    const nowMs = now();
    const told = { projectId: project.id, token, visitor };
    const checked = checkSolution(this.#keysOf(project), solution, nowMs);
    if (typeof checked === "string") {
      onEvent({ ...told, rule: 0, what: "failed" });
      return refuse("invalidPayload", faults[checked]);
    }
    const { data, nonce, expiresAt } = checked.parameters;
    const { rule } = data;
    if (data.session !== token) {
      onEvent({ ...told, rule, what: "failed" });
      return refuse("invalidPayload", "solution: the challenge was made for another session");
    }
    const id = decodeSessionToken(token);
    if (id === null) return goneSession;
    const isComplete = await this.#reportsScored(token);
    const decision = new PassDecision(
      project,
      visitor,
      isComplete,
      this.#options.challengedBand(project, token),
      now(),
    );
    const mark = { nonce, expiresAtMs: expiresAt * 1000 };
    const outcome = await store.rows.change(sessionKey(project.id, id), (record) => decision.of(record), mark);
    const { refusal, passedBeforeMs, atMs } = decision;
    if (outcome === "used") {
      onEvent({ ...told, rule, what: "failed" });
      return refuse("challengeUsed", "this solution was used already; ask for another challenge");
    }
    if (refusal !== null) {
      onEvent({ ...told, rule, what: "failed" });
      return refusal;
    }
    if (outcome === "gone") return goneSession;
    // Of the challenges that a session asked for beside the one that counts, its first pass counts, whichever it is of.
    const countedRule = passedBeforeMs < data.counted_at_ms ? rule : 0;
    const tookMs = Math.max(0, nowMs - data.issued_at_ms);
    onEvent({ ...told, rule: countedRule, what: "passed", tookMs });
    return atMs;
  }

  /** Waits for the session's reports that are being scored; returns false if that takes too long. */
  async #reportsScored(token: string): Promise<boolean> {
    const { isAwaited } = this.#options;
    const untilMs = performance.now() + limits.challengeReportMs;
    while (isAwaited(token)) {
      if (performance.now() >= untilMs) return false;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    return true;
  }

  #keysOf({ privateKeyHash }: Project): PuzzleKeys {
    // Known to the store alone; with the private key it changes, and challenges under way with it.
    const secret = privateKeyHash ?? "";
    let keys = this.#keys.get(secret);
    if (keys === undefined) {
      keys = puzzleKeys(secret);
      this.#keys.set(secret, keys);
    }
    return keys;
  }
}

/** Who has how many of the places where challenges are made. */
class Shares {
  #all = 0;
  readonly #byProject = new Map<number, number>();
  readonly #byNetwork = new Map<string, number>();

  /** False: there is no place, or the project or the network has its share of them. */
  take(project: number, network: string, places: number): boolean {
    const ofProject = this.#byProject.get(project) ?? 0;
    const ofNetwork = this.#byNetwork.get(network) ?? 0;
    if (this.#all >= places || ofProject >= (3 * places) / 4 || ofNetwork >= places / 4) return false;
    this.#all++;
    this.#byProject.set(project, ofProject + 1);
    this.#byNetwork.set(network, ofNetwork + 1);
    return true;
  }

  leave(project: number, network: string): void {
    this.#all--;
    lower(this.#byProject, project);
    lower(this.#byNetwork, network);
  }
}

function lower<Key>(counts: Map<Key, number>, key: Key): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

const lookEveryMs = 10;

/** Decides what becomes of the session that has brought a solution; on a cluster maybe several times. */
class PassDecision {
  refusal: Refusal | null = null;
  /** When the session last passed; 0 for never. */
  passedBeforeMs = 0;
  readonly atMs: number;
  readonly #project: Project;
  readonly #visitor: SolvingVisitor;
  readonly #isComplete: boolean;
  readonly #challengedBand: Band | null;

  /** `isComplete`: everything that the session has reported is scored. */
  constructor(
    project: Project,
    visitor: SolvingVisitor,
    isComplete: boolean,
    challengedBand: Band | null,
    atMs: number,
  ) {
    this.#project = project;
    this.#visitor = visitor;
    this.#isComplete = isComplete;
    this.#challengedBand = challengedBand;
    this.atMs = atMs;
  }

  /** Returns the record with the pass or the refusal; null if the session stays as it is, and may use the solution again. */
  of(record: Buffer): Buffer | null {
    this.refusal = null;
    const session = decodeSession(record);
    if (session === null) return null;
    const { state, features } = session;
    this.passedBeforeMs = state.clearance?.atMs ?? 0;
    this.refusal = refusedStill(state.challengeRefusedAtMs, this.atMs);
    if (this.refusal !== null) return null;
    const band = bandForPass(this.#project, state);
    if (isRefusedBand(band)) {
      this.refusal = refusal(refusedMs);
      return withRefusal(record, this.atMs);
    }
    if (this.#isComplete && !hasReportedEnvironment(features)) {
      this.refusal = refuse(
        "challengeRefused",
        "the session has not reported its environment (an `env` event); try again",
      );
      return null;
    }
    const { ip, userAgent, requestBand } = this.#visitor;
    const hash = userAgentHash(userAgent);
    const mark = networkMark(ip, hash);
    return withClearance(record, {
      atMs: this.atMs,
      band: bandAtPass([band, requestBand, this.#challengedBand].filter((each) => each !== null)),
      userAgentHash: hash,
      networks: mark === null ? [] : [mark],
    });
  }
}

const refusedMs = limits.challengeRefusedMs;

/** A refusal, and after how many ms the session may try again. */
function refusal(ms: number): Refusal {
  const seconds = Math.ceil(ms / 1000);
  return refuse("challengeRefused", `the session looks automated; it may try again in ${seconds} s`);
}

/** Null once the session may try again. A clock that was set back does not prolong it. */
function refusedStill(refusedAtMs: number | undefined, nowMs: number): Refusal | null {
  const sinceMs = nowMs - (refusedAtMs ?? 0);
  return sinceMs >= 0 && sinceMs < refusedMs ? refusal(refusedMs - sinceMs) : null;
}

function hasReportedEnvironment(packed: Buffer): boolean {
  const features = unpackFeatures(packed, 0, packed.length);
  return features === null || features.numbers[F.environmentReported] === 1;
}

const crowded = refuse("unavailable", "too many challenges at once; try again");
const goneSession = refuse("unknownSession", "this project has no such session");

const faults = {
  malformed: "solution must be base64 of a JSON list of eight {challenge, solution}",
  forged: "solution: the challenge was not made for this project",
  mixed: "solution: the puzzles must be those of one challenge, each once, in their order",
  wrong: "solution: the challenge is not solved",
  expired: "solution: the challenge has expired",
} as const;
