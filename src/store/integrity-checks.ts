/** What the check of one row may read and count during the walk over a store. */
import type { SignedAgentKey } from "./keys.js";

/** Checks of stored values by other modules; each returns what is wrong, or null. */
export interface IntegrityChecks {
  /** Returns the form in which the tables of tokens and keys store a secret. */
  readonly hashSecret: (secret: string) => string;
  readonly ruleSource: (source: string) => string | null;
  readonly features: (packed: Buffer) => string | null;
  readonly verifiedBots: (catalogue: unknown) => string | null;
  readonly declaredBots: (catalogue: unknown) => string | null;
  readonly agentMarks: (catalogue: unknown) => string | null;
  readonly retiredAgentMarks: (marks: unknown) => string | null;
  readonly ipList: (record: unknown) => string | null;
  readonly signedAgents: (value: unknown, key: SignedAgentKey) => string | null;
}

/** A key of any table. */
export type RowKey = string | number | (string | number)[] | Buffer;

/** The walk, for the check of a row; all reads use one snapshot. `table` is the name of one in code; another one throws. */
export interface IntegrityWalk {
  readonly checks: IntegrityChecks;
  /** Of this build. */
  readonly schemaVersion: number;
  get(table: string, key: RowKey): unknown;
  /** Returns a field of the record at `key`; undefined if there is none. */
  field(table: string, key: RowKey, name: string): unknown;
  /** Returns the fault if the table has no such record, else null. */
  missing(table: string, id: number): string | null;
  countUsage(accountId: number, month: string, events: number): void;
  countTraffic(projectId: number, hour: number, events: number): void;
  countSession(projectId: number, firstSeenMs: number, events: number): void;
}
