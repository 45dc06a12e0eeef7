/** What the check of one row may read and count during the walk over a store. */
import type { SignedAgentKey, TableName } from "./keys.js";

/** Checks of stored values by other modules; each returns what is wrong, or null. */
export interface IntegrityChecks {
  /** Returns the form in which the tables of tokens and keys store a secret. */
  readonly hashSecret: (secret: string) => string;
  readonly ruleSource: (source: string) => string | null;
  readonly features: (packed: Buffer) => string | null;
  readonly verifiedBots: (catalogue: unknown) => string | null;
  readonly declaredBots: (catalogue: unknown) => string | null;
  readonly agentMarks: (catalogue: unknown) => string | null;
  readonly ipList: (record: unknown) => string | null;
  readonly signedAgents: (value: unknown, key: SignedAgentKey) => string | null;
}

/** A key of any table. */
export type RowKey = string | number | (string | number)[] | Buffer;

/** The walk, for the check of a row; all reads use one snapshot. */
export interface IntegrityWalk {
  readonly checks: IntegrityChecks;
  get(table: TableName, key: RowKey): unknown;
  /** Returns a field of the record at `key`; undefined if there is none. */
  field(table: TableName, key: RowKey, name: string): unknown;
  /** Returns the fault if the table has no such record, else null. */
  missing(table: TableName, id: number): string | null;
  countUsage(accountId: number, month: string, events: number): void;
  countTraffic(projectId: number, hour: number, events: number): void;
  countSession(projectId: number, firstSeenMs: number, events: number): void;
}
