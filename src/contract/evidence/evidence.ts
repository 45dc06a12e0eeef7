/**
 * The input and output of scoring, shared by ingest, engines, store, rules and verdict. Scoring is pure: (features folded from events, facts of the
 * request) -> engine results; time and counts are part of the evidence.
 */

/** The engines in their order in answers and records. */
export const engineNames = ["heuristics", "js_detection", "behavioral"] as const;
/** An engine by its name in records, metrics and the API. */
export type EngineName = (typeof engineNames)[number];

/** The score when no evidence counts against the visitor and little counts for it. */
export const neutralScore = 60;

/**
 * Counts over several sessions, which the store keeps with bounds and expiry, read inside the write transaction. All are per project, and include
 * this session.
 */
export interface CrossSessionCounts {
  /** Sessions first seen from this address in the last hour or so. */
  readonly sessionsFromIp: number;
  /** Sessions that sent a batch of this exact shape (types, order, geometry; not ids or times) in the last hour or so. */
  readonly sessionsWithShape: number;
  /** How many of this batch's pointer-path shingles another session has shown before. */
  readonly replayedShingles: number;
  /** How many of the hashes over turns of the path another session has shown before. */
  readonly replayedTurns: number;
  /** Sessions that reported this exact environment from this network in the last hour or so. */
  readonly sessionsWithEnvironment: number;
  /** The state of this batch's start ticket; `null` means that it has none. */
  readonly startTicket: TicketState | null;
}

/** States of a returned start ticket, from best to worst. */
export const ticketStates = ["fresh", "late", "elsewhere", "reused", "forged"] as const;
/** The state of a returned start ticket, determined when its batch is scored. */
export type TicketState = (typeof ticketStates)[number];

/** The store's memory of a session's last request: the fallback of the verdict's request context. "" means unknown. */
export interface LastRequest {
  readonly ip: string;
  readonly userAgent: string;
  readonly path: string;
  readonly host: string;
}

/** A detection that fired, with its contribution to its engine and the values that triggered it. */
export interface FiredDetection {
  readonly id: number;
  /** Bot-evidence weight this detection added to its engine; 0 for experimental ones. */
  readonly contribution: number;
}

/** Outcome of one engine: a score of 1 to 99 (the lower, the stronger the evidence of a bot), or null when it abstains. */
interface EngineResult {
  readonly score: number | null;
  readonly fired: readonly FiredDetection[];
}

/** The outcome of all three engines on one session. */
export type EngineResults = Readonly<Record<EngineName, EngineResult>>;
