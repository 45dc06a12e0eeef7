/** What the check of one row may ask and count while a store is walked. */
import type { SignedAgentKey, TableName } from "./keys.js";

/** What other modules know of stored values; each says what is wrong, or null. */
export interface IntegrityChecks {
  /** Under what the tables of tokens and keys hold a secret. */
  readonly hashSecret: (secret: string) => string;
  readonly ruleSource: (source: string) => string | null;
  readonly features: (packed: Buffer) => string | null;
  readonly verifiedBots: (catalogue: unknown) => string | null;
  readonly declaredBots: (catalogue: unknown) => string | null;
  readonly ipList: (record: unknown) => string | null;
  readonly signedAgents: (value: unknown, key: SignedAgentKey) => string | null;
}

/** A key of any table. */
export type RowKey = string | number | (string | number)[] | Buffer;

/** The walk as the check of a row sees it; all of it reads one snapshot. */
export interface IntegrityWalk {
  readonly checks: IntegrityChecks;
  get(table: TableName, key: RowKey): unknown;
  /** A field of the record at `key`; undefined when there is none. */
  field(table: TableName, key: RowKey, name: string): unknown;
  /** The fault where the table has no such record, else null. */
  missing(table: TableName, id: number): string | null;
  countUsage(accountId: number, month: string, events: number): void;
  countTraffic(projectId: number, hour: number, events: number): void;
  countSession(projectId: number, firstSeenMs: number, events: number): void;
}
