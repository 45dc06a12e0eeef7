/**
 * The form of a detection: one record says what it is, how much it weighs, what it reads, when it fires and where the idea
 * comes from. Everything else (runner, public catalogue, documentation, tests) is derived from the list of such records.
 */

import type { EngineName } from "../contract/evidence/evidence.js";
import type { RequestEvidence } from "../contract/evidence/request-evidence.js";
import type { SessionEvidence } from "../contract/evidence/session-evidence.js";

/** Whether it counts. experimental: it fires and adds nothing to a score; retired: it is not run any more, and keeps its id. */
export type DetectionState = "experimental" | "scoring" | "retired";
/** How the API names a strength. */
export type Severity = "info" | "low" | "medium" | "high" | "critical";

/**
 * Strengths as log-odds of automation added to an engine that starts at the score 60, and what one alone comes to:
 *
 * - decisive: 2. Automation that says so itself, or that no person's browser can produce.
 * - strong: 12. Fires on less than one person in 300.
 * - moderate: 27. Fires on less than one person in 100.
 * - notable: 31. Rare among people but possible for one: never a bot band alone, with a second one 12.
 * - weak: 48. Corroborates what is stronger; without it, weak facts of any number come to no more than a notable one.
 * - hint: 53. The same, less.
 * - none: 60. Said for the record.
 */
export const strengths = {
  decisive: 4.3,
  strong: 2.4,
  moderate: 1.4,
  notable: 1.2,
  weak: 0.5,
  hint: 0.3,
  none: 0,
} as const;
/** A row of `strengths`: how much an entry weighs is chosen from these and never written as a number. */
type Strength = keyof typeof strengths;

const severities: Record<Strength, Severity> = {
  decisive: "critical",
  strong: "high",
  moderate: "medium",
  notable: "medium",
  weak: "low",
  hint: "low",
  none: "info",
};

/**
 * Evidence that one thing people use produces by design, with many causes at once:
 *
 * - aid: clicks and keys that a program makes for a person, or a page for itself: screen readers, voice and switch control, dwell clicks,
 *   password managers, text expanders, scanners. Counts once for all unless a driver left a trace of its own.
 * - evenness: paths of number pads, sticks and smoothed pointers. Joins `aid`, where input came clean of any driver's dispatch.
 * - stripping: what proxies and privacy tools take from requests. Counts once while the page reports, and one kind of header is lacking
 *   beside those that begin with Sec-. Of a single request it never comes to more than a strong fact, whatever is lacking.
 * - switching: what an agent switcher leaves in requests, which still come from the browser that it is. Of a single request it counts once where
 *   all but the name is Chromium's.
 */
export type EvidenceGroup = "aid" | "evenness" | "stripping" | "switching";

/** What a detection is about: a session of the SDK, or one request of a visitor, whether a session stands behind it or not. */
type Subject = "session" | "request";

/** All that there is to read, of sessions and of requests. What both have under one name means the same. */
type AnyEvidence = SessionEvidence & RequestEvidence;
/** What an entry may list in `reads`. */
export type EvidenceName = keyof AnyEvidence;
/** Evidence of either subject. What was not observed is undefined or absent. */
export type Observed = { readonly [Name in EvidenceName]?: AnyEvidence[Name] | undefined };

/** The values a predicate sees: those it lists in `reads`, all of them observed. */
export type Read<Name extends EvidenceName> = { readonly [Each in Name]: AnyEvidence[Each] };

/** One entry of the catalogue. Made by `detection`, `requestDetection` or `sharedDetection`, which check the names that it reads, or by `retiredDetection`. */
export interface Detection<Name extends EvidenceName = EvidenceName> {
  /** Six digits by family, never reused; the first says the engine. */
  readonly id: number;
  readonly slug: string;
  /** That of the family. */
  readonly engine: EngineName;
  /** Given by the function that makes the entry. */
  readonly subjects: readonly Subject[];
  /** Default scoring. */
  readonly state: DetectionState;
  /** Plain English, for the operator: what was seen. */
  readonly meaning: string;
  readonly strength: Strength;
  /** Detections with the same cause see one fact twice: only the strongest counts. */
  readonly cause: string;
  /** See there; such detections still share their causes with others. */
  readonly group?: EvidenceGroup;
  /** No aid and no page leaves it: beside it, what aids produce counts cause by cause. */
  readonly isDriverTrace?: true;
  /** It counts what others did, who may be strangers: it is left out unless the visitor's own doing speaks for automation. */
  readonly isOthersDoing?: true;
  /** Evidence it needs. When one is not observed, the detection is skipped. */
  readonly reads: readonly Name[];
  /** Pure; never called with a missing value. */
  when(evidence: Read<Name>): boolean;
  /** Of a conclusion from several facts: the slugs of the detections that show those which decided it, for whoever reads it. Pure. */
  decidedBy?(evidence: Read<Name>): string[];
  /** Where the idea or the threshold comes from. */
  readonly source: string;
  readonly fires: Read<Name>;
  readonly staysQuiet: Read<Name>;
}

/** What an entry says itself: the rest is that of its family and of the function that makes it. */
type Entry<Name extends EvidenceName> = Omit<Detection<Name>, "subjects" | "engine" | "state"> & {
  readonly state?: DetectionState;
};

/** The engine by the first digit of an id; 4 are claims to be a bot that somebody vouches for. */
const engineOfFamily: Readonly<Record<number, EngineName>> = {
  1: "heuristics",
  2: "js_detection",
  3: "behavioral",
  4: "heuristics",
};

/**
 * An entry about sessions. Checks that `when` reads only what `reads` lists, and `reads` only what there is of sessions; then forgets the
 * names, so that all entries fit one list.
 */
export function detection<const Name extends keyof SessionEvidence>(entry: Entry<Name>): Detection {
  return madeOf(entry, ["session"]);
}

/** The same about requests. */
export function requestDetection<const Name extends keyof RequestEvidence>(entry: Entry<Name>): Detection {
  return madeOf(entry, ["request"]);
}

/** The same about both: it reads what sessions and requests have in common. */
export function sharedDetection<const Name extends keyof SessionEvidence & keyof RequestEvidence>(
  entry: Entry<Name>,
): Detection {
  return madeOf(entry, ["session", "request"]);
}

/** One of sessions that is not run any more: verdicts that are stored name it. */
export function retiredDetection(
  entry: Pick<Detection, "id" | "slug" | "meaning" | "strength" | "cause" | "source">,
): Detection {
  const unread = { reads: [], when: () => false, fires: {}, staysQuiet: {} };
  return madeOf<never>({ ...entry, ...unread, state: "retired" }, ["session"]);
}

function madeOf<Name extends EvidenceName>(entry: Entry<Name>, subjects: readonly Subject[]): Detection {
  const engine = engineOfFamily[Math.floor(entry.id / 100_000)];
  if (engine === undefined) throw new Error(`no family of detections has the id ${entry.id}`);
  return { state: "scoring", ...entry, engine, subjects } as unknown as Detection;
}

/**
 * The severity that the API shows of an entry: decisive is critical, strong high, moderate and notable medium, weak and hint low, none
 * info.
 */
export function severityOf(entry: Pick<Detection, "strength">): Severity {
  return severities[entry.strength];
}
