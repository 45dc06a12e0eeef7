/** The words of the live measurement: goals, cases, and what one visit came to. */
import type { Band, Verdict } from "../../src/contract/verdicts/verdict.js";
import type { Display } from "./display.js";
import type { Random } from "./randomness.js";
import type { ShownDetection } from "./service.js";
import type { SiteVisit } from "./site.js";

/** What a case is held against: the least share of visits that must end in one of the bands. */
export interface Goal {
  readonly title: string;
  readonly bands: readonly Band[];
  readonly shareMin: number;
  /** Most of the goal's rows that may show another band than the first; absent: any number. */
  readonly otherBandShareMax?: number;
}

const proven: readonly Band[] = ["definite", "confident_automated"];
const anyBot: readonly Band[] = [...proven, "likely_automated"];

/** The goals of the project, hardest evidence first. */
export const goals = {
  unmodified: { title: "unmodified automation", bands: proven, shareMin: 1 },
  hardened: { title: "hardened automation, straight steps or script clicks", bands: anyBot, shareMin: 0.95 },
  humanized: { title: "hardened automation, ghost-cursor or Bezier paths", bands: anyBot, shareMin: 0.6 },
  replayed: { title: "a recorded person's pointer replayed by a driver", bands: anyBot, shareMin: 0.95 },
  ownPaths: {
    title: "a program with paths of its own by the operating system's input, after a minute",
    bands: anyBot,
    shareMin: 0.5,
  },
  cleared: { title: "hardened automation that passed the challenge before it acted", bands: anyBot, shareMin: 0.95 },
  person: { title: "a person's recorded input in a real window", bands: ["likely_human"], shareMin: 1 },
  aided: {
    title: "a person with an aid, an extension or a proxy, or on a page that acts by itself",
    bands: ["likely_human", "likely_automated"],
    shareMin: 1,
    otherBandShareMax: 0.1,
  },
} as const satisfies Record<string, Goal>;

export type GoalName = keyof typeof goals;

/** What a visit is carried out with. */
export interface CrossSessionCounts {
  readonly visit: SiteVisit;
  readonly random: Random;
  /** Number of this visit within its case, from 0. */
  readonly run: number;
  /** The virtual screen; null for cases that want none. */
  readonly display: Display | null;
  /** The verdict on the visit's session for a request to a challenged address, as its browser makes it. */
  readonly verdictOnChallenged: () => Promise<Verdict>;
}

/** One row of the measurement: a tool in a mode, behaving in a manner. */
export interface LiveCase {
  readonly goal: GoalName;
  readonly tool: string;
  readonly behavior: string;
  readonly needsDisplay: boolean;
  /** Why it can't run here; null when it can. */
  readonly missing: () => string | null;
  /** Most visits that can be made; absent: any number. */
  readonly runsMax?: () => number;
  /** Makes the visit and closes everything it opened. */
  readonly carryOut: (crossSession: CrossSessionCounts) => Promise<void>;
}

/** What one visit came to. */
export type Outcome =
  | { readonly verdict: Verdict; readonly detections: readonly ShownDetection[] | null }
  | { readonly failure: string };
