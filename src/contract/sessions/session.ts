/** A stored session in the form that verdicts need. */

import type { VerifiedBot } from "../bots/verified-bots.js";
import type { TestOutcome } from "../configuration/test-keys.js";
import type { EngineName, LastRequest } from "../evidence/evidence.js";
import type { ChallengeSettings, Clearance } from "../verdicts/challenge.js";
import type { LoggedInPolicy, SignedAgentPolicy } from "../verdicts/verdict.js";

/** The input of a verdict. */
export interface ScoredState {
  scored: boolean;
  /** 1 to 99 or null, by engine. */
  engineScores: Record<EngineName, number | null>;
  /** 0 (not computed) or 1 to 99. */
  score: number;
  /** Strongest first, at most 255. */
  detectionIds: number[];
  verifiedBot: VerifiedBot | null;
  /**
   * The address that proved `verifiedBot`, or the address of a crawler claim that DNS is still checking: an `addressProof`. Absent for other
   * sessions, and in records from before this field.
   */
  addressProof?: string;
  /** Texts of `agentMarkText`, joined by commas, the first seen first; absent for none. */
  agentMarks?: string;
  firstSeenMs: number;
  lastSeenMs: number;
  /** 0 means never. */
  loggedInAtMs: number;
  /** The last challenge that the session passed; `null` means none. */
  clearance: Clearance | null;
  /** When a pass was last refused to the session, ms; absent: never. */
  challengeRefusedAtMs?: number;
  eventCount: number;
  last: LastRequest;
}

/** The state of a session with a first batch at `nowMs` that has not been folded yet. */
export function newScoredState(nowMs: number): ScoredState {
  return {
    scored: false,
    engineScores: { heuristics: null, js_detection: null, behavioral: null },
    score: 0,
    detectionIds: [],
    verifiedBot: null,
    firstSeenMs: nowMs,
    lastSeenMs: nowMs,
    loggedInAtMs: 0,
    clearance: null,
    eventCount: 0,
    last: { ip: "", userAgent: "", path: "", host: "" },
  };
}

/** The settings of a project that decide a verdict. */
export interface BotSettings {
  /** Guard: verified bots are allowed before any rule. */
  allowVerified: boolean;
  /** Guard: when false, requests for static resources are skipped. */
  protectStatic: boolean;
  loggedInPolicy: LoggedInPolicy;
}

/** Whether and how requests of visitors without a scored session are judged. */
export interface RequestScoring {
  enabled: boolean;
  /** A verified signed agent is allowed before rules (while `allowVerified` is true), or rules decide. */
  signedAgents: SignedAgentPolicy;
  /** Patterns of paths whose requests nothing judges, as they were given; if absent, none: projects of before they existed lack it. */
  skipPaths?: readonly string[];
  /** The project's own hosts, for which signatures count; `*.` stands for any name before. None: those that sessions report. */
  hosts?: readonly string[];
  /** Forward-auth hands out session tokens before the first report; absent in settings of before that existed, which means false. */
  issueTokens?: boolean;
}

/** The setting of a project that never set any. */
export const defaultRequestScoring: RequestScoring = { enabled: false, signedAgents: "allow" };

/** The part of a project that verdicts need, without its keys and names. */
export interface ProjectSettings {
  readonly id: number;
  readonly botSettings: BotSettings;
  /** The bot/human boundary T, 1 to 99. */
  readonly likelyBotThreshold: number;
  /** If absent, `defaultRequestScoring`: projects made before request scoring existed lack it. */
  readonly requestScoring?: RequestScoring;
  /** Absent if never set: then the defaults apply. */
  readonly challenge?: ChallengeSettings;
  /** Raised by every change of the settings: part of the verdict cache's key. */
  readonly settingsRevision: number;
  /** What tokens that are handed out before the first report are authenticated by; absent or null: none are. */
  readonly privateKeyHash?: string | null;
  /** Raised by every change of a rule: compiled rules are cached by it. */
  readonly rulesRevision: number;
  /** What every visitor is taken for, where the project was found by a test key. Never stored. */
  readonly testOutcome?: TestOutcome;
}
