/**
 * The form of a detection: one record says what it is, how much it weighs, what it reads, when it fires and where the idea
 * comes from. Everything else (runner, public catalogue, documentation, tests) is derived from the list of such records.
 */
import type { EngineName } from "../contract/evidence.js";
import type { EvidenceName, SessionEvidence } from "../engines/session-evidence.js";

export type DetectionState = "experimental" | "scoring" | "retired";
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
export type Strength = keyof typeof strengths;

const severities: Record<Strength, Severity> = {
  decisive: "critical",
  strong: "high",
  moderate: "medium",
  notable: "medium",
  weak: "low",
  hint: "low",
  none: "info",
};

/** The values a predicate sees: those it lists in `reads`, all of them observed. */
export type Read<Name extends EvidenceName> = { readonly [Each in Name]: SessionEvidence[Each] };

export interface Detection<Name extends EvidenceName = EvidenceName> {
  /** Six digits by family, never reused. */
  readonly id: number;
  readonly slug: string;
  readonly engine: EngineName;
  readonly state: DetectionState;
  /** Plain English, for the operator: what was seen. */
  readonly meaning: string;
  readonly strength: Strength;
  /** Detections with the same cause see one fact twice: only the strongest counts. */
  readonly cause: string;
  /** Evidence it needs. When one is not observed, the detection is skipped. */
  readonly reads: readonly Name[];
  /** Pure; never called with a missing value. */
  when(evidence: Read<Name>): boolean;
  /** Where the idea or the threshold comes from. */
  readonly source: string;
  readonly fires: Read<Name>;
  readonly staysQuiet: Read<Name>;
}

/** Checks that `when` reads only what `reads` lists, then forgets the names, so that all entries fit one list. */
export function detection<const Name extends EvidenceName>(entry: Detection<Name>): Detection {
  return entry as unknown as Detection;
}

export function severityOf(entry: Pick<Detection, "strength">): Severity {
  return severities[entry.strength];
}
