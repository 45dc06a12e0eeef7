/**
 * What scoring sees and says, shared by ingest, engines, store, rules and verdict. Scoring is pure:
 * (features folded from events, facts of the request) -> engine results; time and counts arrive here as evidence.
 */

/** The engines in the order that answers and records list them. */
export const engineNames = ["heuristics", "js_detection", "behavioral"] as const;
/** An engine by the name that records, metrics and the API use. */
export type EngineName = (typeof engineNames)[number];

/** The score of what nothing speaks against and little for. */
export const neutralScore = 60;

/**
 * Counts that one session alone can't know, kept by the store with bounds and expiry, read inside the write transaction.
 * All are per project, and count this session too.
 */
export interface CrossSessionCounts {
  /** Sessions first seen from this address in the last hour or so. */
  readonly sessionsFromIp: number;
  /** Sessions that sent a batch of this very shape (types, order, geometry; not ids or times) in the last hour or so. */
  readonly sessionsWithShape: number;
  /** Of the pointer-path shingles of this batch, how many another session has shown before. */
  readonly replayedShingles: number;
  /** Of the hashes over turns of the path, how many another session has shown before. */
  readonly replayedTurns: number;
  /** Sessions that reported this very environment from this network in the last hour or so. */
  readonly sessionsWithEnvironment: number;
  /** What the start ticket of this batch turned out to be; null: it holds none. */
  readonly startTicket: TicketState | null;
}

/** States of a start ticket that came back: the later, the worse. */
export const ticketStates = ["fresh", "late", "elsewhere", "reused", "forged"] as const;
/** What a start ticket that came back turned out to be, worked out when its batch is scored. */
export type TicketState = (typeof ticketStates)[number];

/** What the store remembers of a session's last request: the fallback of the verdict's request context. "" is unknown. */
export interface LastRequest {
  readonly ip: string;
  readonly userAgent: string;
  readonly path: string;
  readonly host: string;
}

/** A detection that fired, with what it adds to its engine and the values that made it fire. */
export interface FiredDetection {
  readonly id: number;
  /** Bot-evidence weight this detection added to its engine; 0 for experimental ones. */
  readonly contribution: number;
}

/** Outcome of one engine: a score of 1 to 99 (the lower, the stronger the evidence of a bot), or null when it abstains. */
export interface EngineResult {
  readonly score: number | null;
  readonly fired: readonly FiredDetection[];
}

/** The outcome of all three engines on one session. */
export type EngineResults = Readonly<Record<EngineName, EngineResult>>;
